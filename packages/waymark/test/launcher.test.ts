import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, test } from "node:test";
import { scaled } from "../../../tools/time-scale.ts";
import { CONTROLLERS, checkFirstMinute } from "./support/first-minute.ts";
import { freePort } from "./support/free-port.ts";
import { Project } from "./support/project.ts";

const ANY = "--host=127.0.0.1:0";

test("the first minute, under a package.json of CommonJS", async () => {
  const project = new Project({ "controllers.ts": CONTROLLERS });
  const serving = await project.start(["--prefix=controllers", ANY]);
  await checkFirstMinute(serving.url);
  assert.deepEqual(
    serving
      .stdout()
      .split("\n")
      .slice(1)
      .map((line) => line.split(/ {2,}/)),
    [
      ["GET", "/", "controllers.ts:4"],
      ["POST", "/ ? name: string", "controllers.ts:5"],
      ["GET", "/foo/<id: number> ? verbose?: boolean", "controllers.ts:9"],
      [""],
    ],
  );
  assert.equal(await serving.stop(), 0);
});

test("the prefix comes from the option, then the environment, then is controllers", async () => {
  const file = (name: string) => `import { Controller } from "@tollway/waymark";
export class Default extends Controller { GET() { return "${name}"; } }`;
  const project = new Project({
    "controllers.ts": file("controllers"),
    "app/api.ts": file("app.api"),
    "other/controllers/index.ts": file("other"),
  });
  const rows: [string[], Record<string, string>, string][] = [
    [[], {}, "controllers"],
    [[], { FRAMEWORK_PREFIX: "app.api" }, "app.api"],
    [["--prefix=app.api"], { FRAMEWORK_PREFIX: "controllers" }, "app.api"],
    [["--dir=other"], {}, "other"],
    [[], { FRAMEWORK_PREFIX: "app.api,controllers" }, "app.api"],
  ];
  for (const [args, environment, expected] of rows) {
    const serving = await project.start([...args, ANY, "--quiet"], environment);
    assert.equal(await (await fetch(serving.url)).json(), expected, JSON.stringify([args, environment]));
    assert.equal(serving.stdout().split("\n").length, 2, "--quiet prints the address alone");
    await serving.stop();
  }
});

test("an error at the start is one line with the place, and exit status 1", async () => {
  const head = 'import { Controller } from "@tollway/waymark";\n';
  const rows: [Record<string, string>, RegExp][] = [
    [
      {},
      /the module "controllers" does not exist: looked for controllers\.\{ts,mts,js,mjs\} and controllers\//,
    ],
    [{ "controllers.ts": "export const = 1;" }, /controllers\.ts:1:14: /],
    [{ "controllers.ts": "export enum Colour { Red }" }, /controllers\.ts:1:8: .*enum/],
    [
      {
        "controllers.ts": `${head}export class A extends Controller { constructor(private x: number) { super(); } }`,
      },
      /controllers\.ts:2:\d+: /,
    ],
    [
      { "controllers.ts": `${head}@dec\nexport class A extends Controller {}` },
      /controllers\.ts:2:1: .*decorator/i,
    ],
    [{ "controllers.ts": 'import "./helper.ts";', "helper.ts": "enum X {}\n" }, /helper\.ts:1:1: .*enum/],
    [{ "controllers.ts": 'import "./nowhere.ts";' }, /controllers\.ts.*Cannot find module .*nowhere\.ts/],
    [{ "controllers.ts": 'throw new Error("no database");' }, /controllers\.ts:1:7: no database/],
    [
      { "controllers.ts": `${head}export class A extends Controller {\n  GET = () => 1;\n}` },
      /controllers\.ts:3:3: .*GET/,
    ],
    [
      { "controllers.ts": `${head}export class A extends Controller {\n  get GET() { return 1; }\n}` },
      /controllers\.ts:3:3: .*GET/,
    ],
    [
      {
        "controllers.ts": `${head}export class A extends Controller {\n  GET(a: Map<string, string>) { return a; }\n}`,
      },
      /controllers\.ts:3:10: /,
    ],
    [
      { "controllers.ts": "", "controllers/index.ts": "" },
      /controllers\.ts and .*index\.ts provide the same module/,
    ],
  ];
  for (const [files, message] of rows) {
    const { status, stdout, stderr } = await new Project(files).run([ANY]);
    assert.match(stderr, message);
    assert.equal(status, 1, stderr);
    assert.equal(stdout, "");
    assert.doesNotMatch(stderr, /\n\s+at /, "no stack");
  }
});

test("a port in use is one clear line with a page of the manual, and exit status 1", async () => {
  const taken = createServer().listen(0, "127.0.0.1");
  after(() => taken.close());
  await once(taken, "listening");
  const { port } = taken.address() as AddressInfo;
  const project = new Project({ "controllers.ts": CONTROLLERS });
  for (const workers of [[], ["--workers=2"]]) {
    const { status, stderr } = await project.run([`--host=127.0.0.1:${port}`, ...workers]);
    assert.match(
      stderr,
      new RegExp(
        `^waymark: 127.0.0.1:${port} is already in use.*\ndocs: https://\\S+/waymark/serving\\.md\n$`,
      ),
    );
    assert.equal(status, 1);
  }
});

test("--app serves the user's application, with its start and stop", async () => {
  const project = new Project({
    "controllers.ts": CONTROLLERS,
    "app.ts": `import { Application } from "@tollway/waymark";
export const application = new Application({
  onStart() { console.log("started"); },
  async onStop() { await new Promise((resolve) => setTimeout(resolve, 5)); console.log("stopped"); },
  after(response) { response.headers.set("x-app", "mine"); },
});`,
  });
  for (const [args, environment] of [
    [["--app=app.ts"], {}],
    [[], { WAYMARK_APP: "app.ts" }],
  ] as const) {
    const serving = await project.start([...args, ANY], environment);
    assert.equal((await fetch(serving.url)).headers.get("x-app"), "mine");
    assert.match(serving.stdout(), /^started\nWaymark serves/);
    assert.equal(await serving.stop(), 0);
    assert.match(serving.stdout(), /stopped\n$/);
  }
  const { status, stderr } = await project.run(["--app=controllers.ts"]);
  assert.equal(status, 1);
  assert.match(stderr, /does not export an Application/);
});

test("after SIGTERM, answers in progress finish, new connections fail, and the status is 0", async () => {
  const project = new Project({
    "controllers.ts": `import { Controller } from "@tollway/waymark";
let release: () => void;
export class Slow extends Controller {
  async GET() { console.log("begun"); await new Promise<void>((resolve) => { release = resolve; }); return "whole"; }
}
process.on("SIGTERM", () => setTimeout(() => release(), 50));`,
  });
  const serving = await project.start([ANY]);
  const answer = fetch(`${serving.url}/slow`);
  await serving.printed(/begun/);
  const stopped = serving.stop();
  assert.equal(await (await answer).json(), "whole");
  assert.equal(await stopped, 0);
  await assert.rejects(fetch(serving.url));
});

test("--workers serves with several processes and replaces one that ends", async () => {
  const project = new Project({
    "controllers.ts": `import { Controller } from "@tollway/waymark";
export class Default extends Controller { GET() { return process.pid; } DELETE() { setTimeout(() => process.exit(3), 10); } }`,
  });
  const serving = await project.start([ANY, "--workers=2"]);
  const seen = new Set<number>();
  const ask = async () =>
    (await (await fetch(serving.url, { headers: { connection: "close" } })).json()) as number;
  for (let tries = 0; seen.size < 2 && tries < 100; tries++) seen.add(await ask());
  assert.equal(seen.size, 2);
  assert.equal((serving.stdout().match(/Waymark serves/g) ?? []).length, 1);
  await fetch(serving.url, { method: "DELETE" });
  await serving.printed(/worker \d+ ended \(3\)/);
  for (const end = Date.now() + scaled(10_000); seen.size < 3 && Date.now() < end; )
    seen.add(await ask().catch(() => [...seen][0]!));
  assert.equal(seen.size, 3);
  assert.equal(await serving.stop(), 0);
});

test("--watch restarts when a controller, an import of one, or the list of files changes", async () => {
  const project = new Project({
    "controllers/index.ts": `import { Controller } from "@tollway/waymark";
import { word } from "../word.ts";
export class Default extends Controller { GET() { return word; } }`,
    "word.ts": 'export const word = "one";',
  });
  const serving = await project.start([`--host=127.0.0.1:${await freePort()}`, "--watch", "--quiet"]);
  const until = async (path: string, expected: unknown) => {
    for (const end = Date.now() + scaled(8_000); Date.now() < end; ) {
      const answer = await fetch(serving.url + path)
        .then((response) => response.json())
        .catch(() => undefined);
      if (answer === expected) return;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    assert.fail(`${path} never became ${expected}: ${serving.stdout()}${serving.stderr()}`);
  };
  await until("/", "one");
  project.write("word.ts", 'export const word = "two";');
  await until("/", "two");
  project.write("word.ts", "export const word = ;");
  await serving.printed(/waiting for a change/);
  project.write("word.ts", 'export const word = "three";');
  await until("/", "three");
  project.write(
    "controllers/added.ts",
    'import { Controller } from "@tollway/waymark"; export class Default extends Controller { GET() { return "added"; } }',
  );
  await until("/added", "added");
  assert.equal(await serving.stop(), 0);
});

test("waymark routes prints the table, and --check compares it with a reviewed one", async () => {
  const project = new Project({ "controllers.ts": CONTROLLERS });
  const { stdout, status } = await project.run(["routes"]);
  assert.equal(status, 0);
  assert.match(stdout, /^GET {3}\/foo\/<id: number> \? verbose\?: boolean +controllers\.ts:9$/m);
  project.write("routes.txt", `# reviewed\n${stdout}`);
  project.write("controllers.ts", `// a line more\n${CONTROLLERS}`);
  assert.equal((await project.run(["routes", "--check=routes.txt"])).status, 0, "lines may move");
  project.write("controllers.ts", CONTROLLERS.replace("class Foo", "class Bar"));
  const differing = await project.run(["routes", "--check=routes.txt"]);
  assert.equal(differing.status, 1);
  assert.match(differing.stderr, /^- GET {2}\/foo\/<id: number>/m);
  assert.match(differing.stderr, /^\+ GET {2}\/bar\/<id: number>/m);
  assert.equal((await project.run(["routes", "--check=nowhere.txt"])).status, 2);
});

test("--debug shows the error, otherwise only the log has it", async () => {
  const project = new Project({
    "controllers.ts": `import { Controller } from "@tollway/waymark";
export class Default extends Controller { GET() { throw new TypeError("the details"); } }`,
  });
  for (const [args, shown] of [
    [["--debug"], true],
    [[], false],
  ] as const) {
    const serving = await project.start([ANY, ...args]);
    const response = await fetch(serving.url);
    assert.equal(response.status, 500);
    assert.equal((await response.text()).includes("the details"), shown);
    await serving.printed(/GET \/: TypeError: the details/);
    await serving.stop();
  }
});

test("--help and --version", async () => {
  const project = new Project({});
  assert.match((await project.run(["--help"])).stdout, /^usage: waymark/);
  assert.match((await project.run(["--version"])).stdout, /^\d+\.\d+\.\d+\n$/);
  const refused = await project.run(["--nonsense"]);
  assert.equal(refused.status, 2);
  assert.match(refused.stderr, /nonsense/);
});

test("startup prints the classes that are not routed, with the reason", async () => {
  const project = new Project({
    "controllers/index.ts": `import { Controller } from "@tollway/waymark";
export abstract class Shared extends Controller { GET() { return 1; } }
export class BaseController extends Controller { GET() { return 1; } }
export class Hidden extends Controller { static private = true; GET() { return 1; } }
export class Users extends Shared {}
export abstract class NoVerbs extends Controller {}`,
    "controllers/users.ts": CONTROLLERS,
  });
  const { stdout, stderr, status } = await project.run(["routes"]);
  assert.equal(status, 0, stderr);
  assert.doesNotMatch(stdout, /shared|base|hidden/);
  assert.match(stderr, /class Shared is not routed: it is abstract/);
  assert.match(stderr, /class BaseController is not routed: its name ends in "Controller"/);
  assert.match(stderr, /class Hidden is not routed: it has static private = true/);
  assert.match(stderr, /\/users: the module controllers\.users hides the class Users of controllers/);
  assert.doesNotMatch(stderr, /NoVerbs/);
});

test("a server ends when its watching process is killed", async () => {
  const project = new Project({ "controllers.ts": CONTROLLERS });
  const serving = await project.start([ANY, "--watch", "--quiet"]);
  assert.equal((await fetch(serving.url)).status, 200);
  await serving.stop("SIGKILL");
  for (const end = Date.now() + scaled(5_000); Date.now() < end; ) {
    const alive = await fetch(serving.url).then(
      () => true,
      () => false,
    );
    if (!alive) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assert.fail("the server outlives its watcher");
});

test("an error in a source is shown with the lines around it", async () => {
  const project = new Project({
    "controllers.ts": `import { Controller } from "@tollway/waymark";
export class Default extends Controller { GET(it: Set<string>) { return it; } }`,
  });
  const { status, stderr } = await project.run([]);
  assert.equal(status, 1);
  assert.match(
    stderr,
    /^waymark: \S+controllers\.ts:2:51: cannot read .*\n\n {2}1 \| import .*\n> 2 \| export .*\n {4}\| {51}\^\n\ndocs: https:\/\/\S+\/waymark\/types\.md\n$/,
  );
});

test("check compares the signatures with the compiler", async () => {
  const project = new Project({
    "controllers.ts": `import { Controller } from "@tollway/waymark";
import type { Thing } from "./thing.ts";
export class Default extends Controller { POST(thing: Thing) { return thing; } GET(id = 1) { return id; } }`,
    "thing.ts": "export interface Thing { id: number }",
    "tsconfig.json": '{ "include": ["*.ts"] }',
  });
  const agrees = await project.run(["check"]);
  assert.equal(agrees.stdout, "2 methods: the compiler agrees with every signature\n", agrees.stderr);
  assert.equal(agrees.status, 0);
  // No controller imports this file, so the source alone does not show the member.
  project.write(
    "augment.ts",
    'import type {} from "./thing.ts"; declare module "./thing.ts" { interface Thing { added: string } }',
  );
  const differs = await project.run(["check"]);
  assert.match(
    differs.stderr,
    /controllers\.ts:3:55: the compiler reads the type `Thing` differently\. .*import that file/,
  );
  assert.equal(differs.status, 1);
});

test("an abstract class does not hide a class of the same name in another file", async () => {
  const project = new Project({
    "controllers/base.ts": `import { Controller } from "@tollway/waymark";
export abstract class Shared extends Controller { GET() { return 1; } }`,
    "controllers/users.ts": `import { Controller } from "@tollway/waymark";
export class Shared extends Controller { GET() { return 2; } }`,
  });
  const { stdout, stderr } = await project.run(["routes"]);
  assert.match(stdout, /GET {2}\/users\/shared {2}controllers\/users\.ts:2/);
  assert.doesNotMatch(stdout, /base/);
  assert.match(stderr, /base\.ts: class Shared is not routed: it is abstract/);
});

test("a written return type that cannot be read is an error at start, unless projection is off", async () => {
  const project = new Project({
    "controllers.ts": `import { Controller } from "@tollway/waymark";
export class Default extends Controller { GET(): Map<string, string> { return new Map(); } }`,
    "app.mts": `import { Application } from "@tollway/waymark";
export const application = new Application({ projection: false });`,
  });
  const { status, stderr } = await project.run(["routes"]);
  assert.equal(status, 1);
  assert.match(stderr, /controllers\.ts:2:\d+: .*Map<string, string>.* turn `projection` off/);
  assert.equal((await project.run(["routes", "--app=app.mts"])).status, 0);
});
