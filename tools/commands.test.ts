/** Every `npm run` command on a page exists: its script, its workspace, and the benchmark that it names. */
import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { published } from "./pack-all.ts";

const root = join(import.meta.dirname, "..");
const pages = globSync("{,docs/**/,packages/*/**/,examples/**/}*.md", {
  cwd: root,
  exclude: (path) => /(?:^|\/)(?:node_modules|dist)(?:\/|$)/.test(path),
}).sort();

interface Command {
  readonly script: string;
  readonly workspace: string | undefined;
  /** The first argument after `--`. */
  readonly argument: string | undefined;
}

function commandsOf(text: string): Command[] {
  const command =
    /npm (?:run (?:--silent )?(?<script>[a-z][\w:-]*)|(?<short>start|test))\b(?: -w (?<workspace>[\w/.-]+))?(?: -- (?<argument>[a-z][\w-]*))?/g;
  return [...text.matchAll(command)].map(({ groups }) => ({
    script: (groups!.script ?? groups!.short)!,
    workspace: groups!.workspace,
    argument: groups!.argument,
  }));
}

function faultOf({ script, workspace, argument }: Command): string | undefined {
  const file = join(workspace ?? "", "package.json");
  if (!existsSync(join(root, file))) return `there is no ${file}`;
  const { scripts = {} } = JSON.parse(readFileSync(join(root, file), "utf8")) as {
    scripts?: Readonly<Record<string, string>>;
  };
  if (!(script in scripts)) return `${file} has no script "${script}"`;
  if (script === "bench" && argument !== undefined && !existsSync(join(root, "bench", argument, "main.ts")))
    return `there is no benchmark "${argument}"`;
  return undefined;
}

test("a script, a workspace or a benchmark that does not exist is found", () => {
  const text =
    "`npm run nothing`, `npm run routes -w examples/none`, `npm run bench -- none`, `npm run bench -- rules`";
  assert.deepEqual(commandsOf(text).map(faultOf), [
    'package.json has no script "nothing"',
    "there is no examples/none/package.json",
    'there is no benchmark "none"',
    undefined,
  ]);
});

/** The project in which the commands of a page are typed, if it is not the repository. */
const PROJECTS: Readonly<Record<string, string>> = {
  "packages/create-waymark/README.md": "packages/create-waymark/template/typescript",
  "docs/waymark/tutorial.md": "packages/create-waymark/template/typescript",
  "docs/waymark/javascript.md": "packages/create-waymark/template/javascript",
};

for (const page of pages) {
  const commands = commandsOf(readFileSync(join(root, page), "utf8"));
  if (commands.length > 0)
    test(`npm commands of ${page}`, () => {
      const own = PROJECTS[page];
      for (const command of commands)
        assert.equal(
          faultOf(own ? { ...command, workspace: own } : command),
          undefined,
          JSON.stringify(command),
        );
    });
}

/** The test that runs the commands of a page. */
const typedBy: readonly (readonly [pages: RegExp, test: string])[] = [
  [
    /^(?:docs\/waymark\/.*|packages\/waymark\/README|examples\/.*)\.md$/,
    "packages/waymark/test/manual.test.ts",
  ],
  [/^packages\/create-waymark\/README\.md$/, "packages/create-waymark/test/create-waymark.test.ts"],
  [/^packages\/waymark\/python\/README\.md$/, "packages/waymark/test/python-docs.test.ts"],
  [/^README\.md$/, "packages/tollgate/test/packed.test.ts"],
  [
    /^docs\/(?:getting-started|limits|observability|dashboard|configuration-sources)\.md$/,
    "packages/tollgate/test/packed.test.ts",
  ],
  [
    /^docs\/(?:testing-limits|diff-and-replay|top-keys|decision-log|troubleshooting)\.md$/,
    "packages/tollgate/test/command-pages.test.ts",
  ],
  [/^packages\/tollgate\/README\.md$/, "packages/tollgate/test/packed.test.ts"],
  [/^docs\/operating-counters\.md$/, "packages/tollgate/test/operating-docs.test.ts"],
  [/^docs\/token-budgets\.md$/, "packages/tollgate/test/token-budgets-docs.test.ts"],
  [/^docs\/rules\.md$/, "packages/tollgate/test/rules/docs.test.ts"],
  [/^docs\/grpc-wire\.md$/, "packages/grpc-wire/test/manual.test.ts"],
  [/^packages\/grpc-wire\/README\.md$/, "packages/grpc-wire/test/readme.test.ts"],
  // Its commands are those of CI and of this suite.
  [/^CONTRIBUTING\.md$/, "tools/commands.test.ts"],
];

for (const page of pages) {
  const text = readFileSync(join(root, page), "utf8");
  if (!/^```(?:sh|bash|shell|console)\b/m.test(text)) continue;
  test(`a test types the commands of ${page}`, () => {
    const [, file] = typedBy.find(([pattern]) => pattern.test(page)) ?? assert.fail(`no test types ${page}`);
    const source = readFileSync(join(root, file), "utf8");
    const folder = page.split("/").slice(0, -1).join("/");
    assert.ok(
      [page, page.split("/").at(-1)!, `${folder}/*.md`].some((name) => source.includes(name)) ||
        source.includes("examples/*/README.md"),
      `${file} does not read ${page}`,
    );
  });
}

test("docs/install.md packs each published package, and names the files that npm writes", () => {
  const page = readFileSync(join(root, "docs/install.md"), "utf8");
  const packed = [...page.matchAll(/ -w packages\/([\w-]+)/g)].map(([, name]) => name);
  assert.deepEqual(packed, [...published]);
  const files = [...page.matchAll(/\.\.\/tollway-([a-z-]+)-([\d.]+)\.tgz/g)];
  assert.equal(files.length, 2);
  for (const [, name, version] of files) {
    const manifest = readFileSync(join(root, "packages", name!, "package.json"), "utf8");
    assert.equal(version, (JSON.parse(manifest) as { version: string }).version, name!);
  }
});

// Remove this test, the sentence and docs/install.md when the packages are published.
test("a page that installs a package says that the registry does not have it yet", () => {
  for (const page of pages) {
    const text = readFileSync(join(root, page), "utf8");
    if (!/npm install @tollway\//.test(text)) continue;
    assert.match(text.replace(/\s+/g, " "), /not on the npm registry yet/, page);
  }
});
