/**
 * `npm run openapi`: holds the examples to their OpenAPI documents. Two validators read the documents of the bookstore, the
 * issue board and an application with everything else for both versions of OpenAPI, and those of Tollgate's ports.
 * `openapi-typescript` makes types of them that compile. For the bookstore, they make a client that runs, and schemathesis
 * sends requests that fit the document, and requests that do not. Installs the tools into `.suites`.
 *
 *   npm run openapi                     fails if a tool cannot be installed
 *   npm run openapi -- --if-available   prints the reason and goes on without it
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { Validator } from "@seriousme/openapi-schema-validator";
import { adminDocument } from "../packages/tollgate/src/admin/openapi-document.ts";
import { openApiDocument } from "../packages/tollgate/src/listeners/openapi-document.ts";

const TOOLS = {
  "@redocly/openapi-core": "2.64.0",
  "openapi-fetch": "0.17.0",
  "openapi-typescript": "7.13.0",
  // The generator needs the compiler's old interface.
  typescript: "5.9.3",
};
const SCHEMATHESIS = "4.32.5";
const TOKEN = "token";

const root = join(import.meta.dirname, "..");
const suite = join(root, ".suites", "openapi");
const examples = join(root, "examples");
const bookstore = join(examples, "bookstore");
/** The folders of the applications with documents. The last one has what the examples lack. */
const applications = {
  bookstore,
  "issue-board": join(examples, "issue-board"),
  shapes: join(root, "packages", "waymark", "test", "fixtures", "openapi"),
};
const launcher = join(root, "packages", "waymark", "bin", "waymark.mjs");

/** @throws {Error} with the output of the command, if it fails */
function run(command: string, args: readonly string[], cwd = suite): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: "utf8" });
  if (status === 0) return stdout;
  throw new Error(`${[command, ...args].join(" ")}: ${error?.message ?? stdout + stderr}`);
}

/** Installs once: the mark says what is installed. */
function install(mark: string, content: string, commands: () => void): void {
  const path = join(suite, mark);
  if (existsSync(path) && readFileSync(path, "utf8") === content) return;
  commands();
  writeFileSync(path, content);
}

function installNode(): void {
  const manifest = JSON.stringify({ private: true, type: "module", dependencies: TOOLS });
  install("installed.json", manifest, () => {
    writeFileSync(join(suite, "package.json"), manifest);
    run("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock", "--silent"]);
  });
}

function installPython(): void {
  install("installed.txt", SCHEMATHESIS, () => {
    rmSync(join(suite, "venv"), { recursive: true, force: true });
    run("python3", ["-m", "venv", "venv"]);
    run("venv/bin/pip", ["install", "--quiet", `schemathesis==${SCHEMATHESIS}`]);
  });
}

const LINT = `import { readFileSync } from "node:fs";
import { createConfig, lintFromString } from "@redocly/openapi-core";
const config = await createConfig({ extends: ["spec"] });
for (const file of process.argv.slice(2)) {
  const problems = await lintFromString({ source: readFileSync(file, "utf8"), absoluteRef: file, config });
  for (const { ruleId, message, location } of problems) console.error(file, ruleId, message, location[0]?.pointer);
  if (problems.length > 0) process.exitCode = 1;
}
`;

/** Uses what the document says: arguments, a problem with its own members, a union, and what it does not allow. */
const CLIENT = `import assert from "node:assert/strict";
import createClient from "openapi-fetch";
import type { paths } from "./api.d.ts";

const [baseUrl, token] = process.argv.slice(2) as [string, string];
const client = createClient<paths>({ baseUrl, headers: { authorization: \`Bearer \${token}\` } });
const added = await client.POST("/books", { body: { title: "Emma", author: "Jane Austen", year: 1815 } });
const id: number = added.data!.id;
const { data, error } = await client.GET("/books/{id}", { params: { path: { id } } });
assert.ok(data !== undefined && "title" in data, JSON.stringify(error));
const title: string = data.title;
assert.equal(title, "Emma");
const missing = await client.GET("/books/{id}", { params: { path: { id: 999999 } } });
assert.equal(missing.response.status, 404);
// @ts-expect-error the path needs an id
await client.GET("/books/{id}");
// @ts-expect-error a title is a text
await client.POST("/books", { body: { title: 7, author: "x" } });
`;

const TSCONFIG = {
  compilerOptions: {
    module: "nodenext",
    target: "es2024",
    lib: ["es2024", "dom"],
    types: ["node"],
    typeRoots: [join(root, "node_modules", "@types")],
    strict: true,
    exactOptionalPropertyTypes: true,
    allowImportingTsExtensions: true,
    noEmit: true,
    skipLibCheck: false,
  },
};

/** Checks that contradict decided answers are off, each with its reason. */
const SCHEMATHESIS_CONFIG = `
# A verb that no controller has is 501, and a path with too few segments for a verb is 404. The check wants 405.
[checks.unsupported_method]
enabled = false

[phases.coverage]
unexpected-methods = []

# A stream without a first piece has no content type.
[[operations]]
include-path = "/books/export"
[operations.checks.content_type_conformance]
enabled = false

# A form has no null: the empty text means null, and the tool sends the text "null".
[[operations]]
include-method = ["POST", "PUT"]
include-path = ["/books", "/books/{id}"]
[operations.checks.positive_data_acceptance]
enabled = false

# The document does not list the types of images that the method accepts.
[[operations]]
include-method = "PUT"
include-path = "/books/covers/{book}"
[operations.checks.positive_data_acceptance]
enabled = false
`;

/** The documents of the applications, of one version of OpenAPI. */
function makeDocuments(spec: "3.1" | "3.2"): string[] {
  return Object.entries(applications).map(([name, folder]) => {
    const out = join(suite, `${name}-${spec}.json`);
    run(process.execPath, [launcher, "openapi", "--app=app.ts", `--spec=${spec}`, `--out=${out}`], folder);
    return out;
  });
}

/** The documents of Tollgate's ports. */
function writeTollgateDocuments(): string[] {
  return Object.entries({ http: openApiDocument, admin: adminDocument }).map(([name, document]) => {
    const out = join(suite, `tollgate-${name}.json`);
    writeFileSync(out, JSON.stringify(document));
    return out;
  });
}

/** The validator of the package's tests, which needs no installation. */
async function validate(documents: readonly string[]): Promise<void> {
  for (const file of documents) {
    const { valid, errors } = await new Validator().validate(JSON.parse(readFileSync(file, "utf8")));
    if (!valid) throw new Error(`${file}: ${JSON.stringify(errors)}`);
  }
  console.log(`the first validator: no faults in ${documents.length} documents`);
}

function startBookstore(): Promise<{ readonly child: ChildProcess; readonly url: string }> {
  const child = spawn(process.execPath, [launcher, "--app=app.ts", "--host=127.0.0.1:0", "--quiet"], {
    cwd: bookstore,
    env: { ...process.env, BOOKSTORE_DB: ":memory:", BOOKSTORE_TOKEN: TOKEN },
    stdio: ["ignore", "pipe", "inherit"],
  });
  return new Promise((resolve, reject) => {
    child.once("exit", () => reject(new Error("the bookstore does not start")));
    child.stdout.on("data", (text: Buffer) => {
      const url = /http:\S+/.exec(text.toString())?.[0];
      if (url !== undefined) resolve({ child, url });
    });
  });
}

/** @param documents the first one is that of the bookstore, which the client uses */
function checkClient(documents: readonly string[], url: string): void {
  const types = documents.map((document, at) => {
    const out = at === 0 ? "api.d.ts" : `${basename(document, ".json")}.d.ts`;
    run(process.execPath, [join("node_modules", "openapi-typescript", "bin", "cli.js"), document, "-o", out]);
    return out;
  });
  writeFileSync(join(suite, "client.ts"), CLIENT);
  writeFileSync(
    join(suite, "tsconfig.json"),
    JSON.stringify({ ...TSCONFIG, files: ["client.ts", ...types] }),
  );
  run(process.execPath, [join("node_modules", "typescript", "bin", "tsc"), "-p", "."]);
  run(process.execPath, ["client.ts", url, TOKEN]);
}

function checkRequests(url: string): void {
  writeFileSync(join(suite, "schemathesis.toml"), SCHEMATHESIS_CONFIG);
  const options = ["--max-examples=50", "--seed=1", "--no-color", "--warnings=off"];
  const header = ["-H", `Authorization: Bearer ${TOKEN}`];
  const args = ["--config-file", "schemathesis.toml", "run", `${url}/openapi.json`, ...header, ...options];
  const output = run(join(suite, "venv", "bin", "schemathesis"), args);
  console.log(`schemathesis: ${/\d+ generated[^\n]*/.exec(output)?.[0] ?? "passed"}`);
}

const isOptional = process.argv.includes("--if-available");

/** Whether the tools are installed. */
function available(name: string, installTools: () => void): boolean {
  try {
    installTools();
    return true;
  } catch (error) {
    console.error(`without ${name}: ${(error as Error).message.trim().split("\n").at(-1)}`);
    if (!isOptional) process.exit(1);
    return false;
  }
}

mkdirSync(suite, { recursive: true });
const hasNode = available("the packages of npm", installNode);
const hasPython = available("schemathesis", installPython);
const documents = [...makeDocuments("3.1"), ...writeTollgateDocuments()];
const all = [...documents, ...makeDocuments("3.2")];
await validate(all);
const { child, url } = await startBookstore();
try {
  if (hasNode) {
    writeFileSync(join(suite, "lint.mjs"), LINT);
    run(process.execPath, ["lint.mjs", ...all]);
    console.log(`the second validator: no faults in ${all.length} documents`);
    checkClient(documents, url);
    console.log(
      `openapi-typescript: the types of ${documents.length} documents compile, and the client runs`,
    );
  }
  if (hasPython) checkRequests(url);
} finally {
  child.removeAllListeners("exit");
  child.kill("SIGTERM");
}
