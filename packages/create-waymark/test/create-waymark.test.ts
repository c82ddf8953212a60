/** Creates projects with the packed packages, and runs what their pages and scripts say. */
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, readFileSync, symlinkSync, unlinkSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { after, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { userEnvironment } from "../../../tools/user-environment.ts";
import { command, installPacked, temporaryFolder } from "../../waymark/test/support/packed.ts";

const REPOSITORY = fileURLToPath(new URL("../../..", import.meta.url));
const README = readFileSync(new URL("../README.md", import.meta.url), "utf8");

const installed = await installPacked("waymark", "create-waymark");

function run(args: readonly string[], cwd: string, environment: Record<string, string> = {}) {
  const bin = join(installed, "node_modules", ".bin", "create-waymark");
  const env = { ...userEnvironment(), npm_config_user_agent: "", ...environment };
  return spawnSync(bin, args, { cwd, env, encoding: "utf8" });
}

/** Runs a script of package.json as npm does. */
async function script(folder: string, name: string): Promise<string> {
  const { scripts } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const path = [join(folder, "node_modules", ".bin"), process.env.PATH].join(delimiter);
  return command(folder, "sh", "-c", `PATH="${path}"; ${scripts[name]}`);
}

for (const language of ["typescript", "javascript"]) {
  const extension = language === "typescript" ? "ts" : "js";
  const parent = temporaryFolder("created");
  const folder = join(parent, "my-api");
  describe(`a project in ${language}`, () => {
    test("it is created", () => {
      const { status, stdout, stderr } = run(["my-api", `--${language}`], parent);
      assert.equal(status, 0, stderr);
      assert.match(
        stdout,
        /^Created my-api:\n[\s\S]+\nNext:\n {2}cd my-api\n {2}npm install\n {2}npm run dev\n$/,
      );
      symlinkSync(join(installed, "node_modules"), join(folder, "node_modules"));
    });

    test("its tests pass, and its controllers load without TypeScript", async () => {
      assert.match(await script(folder, "test"), /pass 2\n[\s\S]*fail 0\n/);
    });

    test("every script that its page names exists, and the others run", async () => {
      const { scripts } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
      const readme = readFileSync(join(folder, "README.md"), "utf8");
      for (const [, name = ""] of readme.matchAll(/npm (?:run )?(\w+)`/g)) assert.ok(name in scripts, name);
      assert.match(scripts.dev, new RegExp(`^waymark --app=app\\.${extension} --watch$`));
      link(folder, "typescript", "@types/node", "undici-types", "esbuild", "@esbuild");
      await script(folder, "check");
      await script(folder, "build");
      await script(folder, "openapi");
      const { info } = JSON.parse(readFileSync(join(folder, "openapi.json"), "utf8"));
      assert.equal(info.title, "my-api");
    });

    test("the file of its image serves without its packages", async () => {
      const image = temporaryFolder("image");
      const dockerfile = readFileSync(join(folder, "Dockerfile"), "utf8");
      const [, from, to] = /^COPY --from=build \/app\/(\S+) (\S+)$/m.exec(dockerfile)!;
      assert.match(dockerfile, new RegExp(`^CMD \\["node", "${to}"\\]$`, "m"));
      cpSync(join(folder, from!), join(image, "server.mjs"));
      const readme = readFileSync(join(folder, "README.md"), "utf8");
      const [, lines] = /```sh\n([\s\S]+?)```/.exec(readme)!;
      const server = await startFile(image, { ...environmentOf(dockerfile), HOST: "127.0.0.1", PORT: "0" });
      const text = lines!.replaceAll("http://localhost:8000", server.url).replaceAll("curl ", "curl -sS ");
      const note = '{"id":1,"title":"Buy milk"}';
      assert.equal(await command(image, "sh", "-c", text), note + note);
      const log = await server.stop();
      assert.match(log, /"method":"GET","path":"\/notes\/1"/);
    });
  });
}

/** Adds packages of the repository to a project, as `npm install` with development dependencies would. */
function link(folder: string, ...names: readonly string[]): void {
  const modules = join(folder, "node_modules");
  unlinkSync(modules);
  cpSync(join(installed, "node_modules"), modules, { recursive: true, verbatimSymlinks: true });
  for (const name of names) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(REPOSITORY, "node_modules", name), join(modules, name));
  }
  symlinkSync(join(REPOSITORY, "node_modules", "typescript", "bin", "tsc"), join(modules, ".bin", "tsc"));
}

/** The environment of an image. */
function environmentOf(dockerfile: string): Record<string, string> {
  const lines = dockerfile.matchAll(/^ENV (\w+)=(\S+)$/gm);
  return Object.fromEntries([...lines].map(([, name, value]) => [name!, value!]));
}

/** Starts the built file until it prints its address. `stop` resolves with what it printed. */
async function startFile(folder: string, environment: Record<string, string>) {
  const child = spawn(process.execPath, ["server.mjs"], {
    cwd: folder,
    env: { ...userEnvironment(), ...environment },
    stdio: ["ignore", "pipe", "inherit"],
  });
  after(() => child.kill("SIGKILL"));
  let printed = "";
  const url = await new Promise<string>((resolve, reject) => {
    child.once("exit", () => reject(new Error(`the file does not start: ${printed}`)));
    child.stdout.on("data", (text: Buffer) => {
      printed += text.toString();
      const found = /http:\S+/.exec(printed)?.[0];
      if (found !== undefined) resolve(found);
    });
  });
  const stop = async () => {
    const closed = once(child, "close");
    child.kill("SIGTERM");
    assert.deepEqual(await closed, [0, null]);
    return printed;
  };
  return { url, stop };
}

test("the steps of the README are those that the command prints, for each package manager", () => {
  const [, steps] = /```sh\nnpm create @tollway\/waymark my-api\n([\s\S]+?)```/.exec(README)!;
  for (const [agent, manager] of [
    ["npm/12.0.0 node/v26.10.0 linux x64", "npm"],
    ["pnpm/12.21.0 npm/? node/v26.10.0 linux x64", "pnpm"],
    ["somethingelse/1.0.0", "npm"],
  ] as const) {
    const { stdout } = run(["my-api"], temporaryFolder("steps"), { npm_config_user_agent: agent });
    const printed = stdout.slice(stdout.indexOf("Next:\n") + "Next:\n".length).replaceAll(/^ {2}/gm, "");
    assert.equal(printed.replaceAll(manager, "npm"), steps);
  }
});

const WRONG: readonly (readonly [args: readonly string[], reason: RegExp])[] = [
  [[], /^create-waymark: name the folder of the new project\nusage: /],
  [["a", "b"], /"b" is an unexpected argument/],
  [["a", "--python"], /Unknown option '--python'/],
  [["a", "--typescript", "--javascript"], /exclude each other/],
  [["A"], /does not accept "A" as a package name/],
];
test("a wrong command line is one message and status 2", () => {
  const folder = temporaryFolder("wrong");
  for (const [args, reason] of WRONG) {
    const { status, stderr } = run(args, folder);
    assert.equal(status, 2, args.join(" "));
    assert.match(stderr, reason);
  }
  assert.match(run(["--help"], folder).stdout, /^usage: npm create @tollway\/waymark FOLDER/);
  assert.match(run(["--version"], folder).stdout, /^\d+\.\d+\.\d+\n$/);
});
