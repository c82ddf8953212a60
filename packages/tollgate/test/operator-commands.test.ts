/**
 * The commands of docker, helm and kubectl in the manual, which no test runs: they name files, values, services, ports and
 * variables that exist, and options that these programs have.
 */
import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { load, loadAll } from "js-yaml";
import { rowsOf } from "../src/settings/read-values.ts";
import { table } from "../src/settings/table.ts";

const root = join(import.meta.dirname, "../../..");
const read = (path: string) => readFileSync(join(root, path), "utf8");

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec?: { readonly template?: { readonly spec: { readonly containers: readonly Container[] } } };
}
interface Container {
  readonly name: string;
  readonly ports?: readonly { readonly containerPort: number }[];
}

const deployments = globSync("deploy/{kubernetes,istio,contour}/*.yaml", { cwd: root })
  .flatMap((file) => loadAll(read(file)) as Manifest[])
  .filter(({ kind }) => kind === "Deployment");
const containers = deployments.flatMap(({ spec }) => spec!.template!.spec.containers);
const ports = new Set(
  containers.flatMap(({ ports = [] }) => ports.map(({ containerPort }) => containerPort)),
);
/** Deployments of Envoy Gateway and of Contour. */
const FOREIGN = ["envoy-gateway", "envoy-ratelimit", "contour"];
const values = load(read("deploy/helm/tollgate/values.yaml")) as Readonly<Record<string, unknown>>;
const { services } = load(read("deploy/compose/compose.yaml")) as { services: object };
const variables = new Set(rowsOf(table).flatMap(({ name, aliases }) => [name, ...aliases]));

/** The options of each command, as its documentation lists them. */
const OPTIONS: Readonly<Record<string, readonly string[]>> = {
  "docker build": ["-t"],
  "docker compose": ["-f", "--build", "--detach", "--wait"],
  "docker push": [],
  "docker run": ["-d", "-e", "-p", "-v", "--env-file", "--name", "--network", "--rm"],
  "docker start": [],
  "docker stop": [],
  "helm install": ["--set"],
  "helm rollback": [],
  "helm upgrade": ["--reuse-values", "--set-file"],
  "kubectl apply": ["-f"],
  "kubectl delete": ["-f"],
  "kubectl port-forward": ["-n"],
  "kubectl rollout": ["-n"],
  "kubectl set": [],
};

const pages = globSync("{docs/*.md,deploy/**/README.md}", { cwd: root });
const commands = pages.flatMap((page) =>
  [...read(page).matchAll(/^```text\n([\s\S]*?)^```$/gm)]
    .flatMap(([, block]) => block!.replaceAll(/ *\\\n +/g, " ").split(/\n| && /))
    .filter((line) => /^(?:docker|helm|kubectl) /.test(line))
    .map((line) => ({ page, line, words: line.replaceAll("'", "").split(/ +/) })),
);

/** The words after an option, each time it occurs. */
const after = (words: readonly string[], option: string) =>
  words.filter((_, at) => words[at - 1] === option).map((word) => word.split("=")[0]!);

test("the manual has commands of each program", () => {
  for (const program of ["docker", "helm", "kubectl"])
    assert.ok(commands.filter(({ words }) => words[0] === program).length >= 3, program);
});

for (const { page, line, words } of commands)
  test(`${page}: ${line}`, () => {
    const [program, ...rest] = words;
    const verb = program === "kubectl" && rest[0] === "-n" ? rest[2] : rest[0];
    const known = OPTIONS[`${program} ${verb}`];
    assert.ok(known !== undefined, `${program} ${verb}`);
    for (const option of words.filter((word) => word.startsWith("-")))
      assert.ok(known.includes(option), option);
    for (const file of words.filter((word) => word.startsWith("deploy/")))
      assert.ok(existsSync(join(root, file)), file);
    for (const key of [...after(words, "--set"), ...after(words, "--set-file")]) assertValue(key);
    for (const word of words.filter((each) => each.startsWith("deployment/"))) {
      const names = [...deployments.map(({ metadata }) => metadata.name), ...FOREIGN];
      assert.ok(names.includes(word.slice("deployment/".length)), word);
    }
    if (verb === "port-forward") assert.ok(ports.has(Number(words.at(-1))), "no container has this port");
    if (verb === "set") assertSet(words);
    if (verb === "compose" && /^(?:start|stop)$/.test(words.at(-2)!))
      assert.ok(words.at(-1)! in services, "no such service");
    for (const variable of after(words, "-e")) assert.ok(variables.has(variable), variable);
    for (const mapped of after(words, "-p"))
      assert.match(read("Dockerfile"), new RegExp(`^EXPOSE .*\\b${mapped.split(":").at(-1)}\\b`, "m"));
  });

/** A value of the chart: `image.repository`. Settings and files of rules have free names. */
function assertValue(key: string): void {
  const [first = "", second = ""] = key.split(/(?<!\\)\./);
  assert.ok(first in values, key);
  if (first === "settings") assert.ok(variables.has(second), second);
  else if (first !== "rules") assert.ok(second in (values[first] as object), key);
}

/** `kubectl set image deployment/NAME CONTAINER=IMAGE`, `kubectl set env deployment/NAME VARIABLE=VALUE ...` */
function assertSet([, , what, , ...pairs]: readonly string[]): void {
  const known = what === "image" ? new Set(containers.map(({ name }) => name)) : variables;
  for (const pair of pairs) assert.ok(known.has(pair.split("=")[0]!), pair);
}
