import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { EventEmitter } from "node:events";
import {
  appendFileSync,
  chmodSync,
  watch as fsWatch,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { test as nodeTest, type TestContext } from "node:test";
import { scaled } from "../../../../tools/time-scale.ts";
import { COMPILER_THREAD } from "../../src/installation.ts";
import { FileSource, type FileSourceOptions } from "../../src/sources/files.ts";
import { RuleCompiler } from "../../src/sources/rule-compiler.ts";
import { domain, Folder, publish } from "./folder.ts";
import { memoryLog, Recorder } from "./recorder.ts";

interface Stage {
  readonly folder: Folder;
  readonly recorder: Recorder;
  readonly lines: readonly string[];
  /** Starts a source over `current/sub/config` in the folder. */
  start(options?: Partial<FileSourceOptions>): FileSource;
}

/** Defines a test with its own folder and sources, which it removes at the end. */
function test(name: string, body: (stage: Stage, context: TestContext) => Promise<void>): void {
  nodeTest(name, { timeout: scaled(20_000) }, async (context) => {
    using folder = new Folder();
    const recorder = new Recorder();
    const { log, lines } = memoryLog();
    const sources: FileSource[] = [];
    const start = (options: Partial<FileSourceOptions> = {}): FileSource => {
      const source = new FileSource(
        {
          root: folder.at("current"),
          subdirectory: "sub",
          appDirectory: "config",
          ignoreDotFiles: false,
          watchRoot: true,
          mergeDomains: false,
          compiler: new RuleCompiler(COMPILER_THREAD),
          log,
          settle: 10,
          ...options,
        },
        recorder,
      );
      sources.push(source);
      source.start();
      return source;
    };
    try {
      await body({ folder, recorder, lines, start }, context);
    } finally {
      for (const source of sources) await source.stop();
    }
  });
}

const CONFIG = "current/sub/config";

/** Waits until no file operation is pending for many turns of the event loop. A pending close is not visible. */
async function idle(): Promise<void> {
  for (let turns = 0; turns < 1000; turns++) {
    await new Promise(setImmediate);
    if (process.getActiveResourcesInfo().includes("FSReqPromise")) turns = 0;
  }
}

test("only *.yaml files directly inside the directory are read", async ({ folder, recorder, start }) => {
  folder.write({
    [`${CONFIG}/b.yaml`]: domain("b"),
    [`${CONFIG}/a.yaml`]: domain("a"),
    [`${CONFIG}/.dot.yaml`]: domain("dot"),
    [`${CONFIG}/README.md`]: "not read",
    [`${CONFIG}/.a.yaml.swp`]: "not read",
    [`${CONFIG}/nested/d.yaml`]: "not read",
    [`${CONFIG}/folder.yaml/e.yaml`]: "not read",
  });
  start();
  assert.deepEqual(await recorder.next(), {
    ...recorder.all[0],
    domains: ["a", "b", "dot"],
    diagnostics: [],
  });
});

test("RUNTIME_IGNOREDOTFILES ignores files whose names begin with a dot", async ({
  folder,
  recorder,
  start,
}) => {
  folder.write({ [`${CONFIG}/a.yaml`]: domain("a"), [`${CONFIG}/.dot.yaml`]: domain("dot") });
  start({ ignoreDotFiles: true });
  assert.deepEqual((await recorder.next()).domains, ["a"]);
});

test("without a subdirectory, the configuration is in RUNTIME_ROOT/RUNTIME_APPDIRECTORY", async ({
  folder,
  recorder,
  start,
}) => {
  folder.write({ "current/config/a.yaml": domain("a") });
  start({ subdirectory: "", root: `${folder.at("current")}/` });
  assert.deepEqual((await recorder.next()).domains, ["a"]);
});

for (const watchRoot of [true, false]) {
  const mode = `with RUNTIME_WATCH_ROOT=${watchRoot}`;

  test(`${mode}, replacing the RUNTIME_ROOT link reloads`, async ({ folder, recorder, start }) => {
    folder.write({ "v1/sub/config/a.yaml": domain("one"), "v2/sub/config/a.yaml": domain("two") });
    folder.link("current", "v1");
    start({ watchRoot, root: `${folder.at("current")}/` });
    assert.deepEqual((await recorder.next()).domains, ["one"]);
    folder.swap("current", "v2");
    assert.deepEqual((await recorder.next()).domains, ["two"]);
    // Removes and creates the link, so that it does not exist for a moment.
    unlinkSync(folder.at("current"));
    symlinkSync(folder.at("v1"), folder.at("current"));
    await recorder.domains("one");
    folder.swap("current", folder.at("v2"));
    await recorder.domains("two");
  });

  test(`${mode}, ln -sfn and mv -T reload`, async ({ folder, recorder, start }) => {
    folder.write({ "v1/sub/config/a.yaml": domain("one"), "v2/sub/config/a.yaml": domain("two") });
    const run = (command: string, ...words: string[]) => execFileSync(command, words, { cwd: folder.path });
    run("ln", "-s", "v1", "current");
    start({ watchRoot });
    await recorder.domains("one");
    run("ln", "-sfn", "v2", "current");
    await recorder.domains("two");
    run("ln", "-s", "v1", "current.new");
    run("mv", "-T", "current.new", "current");
    await recorder.domains("one");
  });

  test(`${mode}, replacing any link on the path reloads`, async ({ folder, recorder, start }) => {
    folder.write({
      "x/release/sub/config/a.yaml": domain("x"),
      "y/release/sub/config/a.yaml": domain("y"),
      "y/release/other/config/a.yaml": domain("other"),
      "y/release/other/more/a.yaml": domain("more"),
    });
    folder.link("release", "x");
    folder.link("current", "stable/release");
    folder.link("stable", "release");
    start({ watchRoot });
    await recorder.domains("x");
    folder.swap("release", "y");
    await recorder.domains("y");
    folder.swap("stable", "x");
    await recorder.domains("x");
    folder.swap("stable", "y");
    await recorder.domains("y");
    renameSync(folder.at("y/release/sub"), folder.at("y/release/was"));
    folder.link("y/release/sub", "other");
    await recorder.domains("other");
    renameSync(folder.at("y/release/other/config"), folder.at("y/release/other/gone"));
    folder.link("y/release/other/config", "more");
    await recorder.domains("more");
  });

  test(`${mode}, a ConfigMap mounted as the directory reloads when the kubelet swaps ..data`, async ({
    folder,
    recorder,
    start,
  }) => {
    publish(folder.at(CONFIG), { "a.yaml": domain("one") });
    start({ watchRoot });
    assert.deepEqual((await recorder.next()).domains, ["one"]);
    publish(folder.at(CONFIG), { "a.yaml": domain("two"), "b.yaml": domain("more") });
    await recorder.domains("more", "two");
    publish(folder.at(CONFIG), { "b.yaml": domain("three") });
    await recorder.domains("three");
    publish(folder.at(CONFIG), {});
    await recorder.domains();
    publish(folder.at(CONFIG), { "c.yaml": domain("four") });
    await recorder.domains("four");
  });

  test(`${mode}, a ConfigMap mounted above the directory reloads`, async ({ folder, recorder, start }) => {
    publish(folder.at("current/sub"), { "config/a.yaml": domain("one") });
    start({ watchRoot });
    assert.deepEqual((await recorder.next()).domains, ["one"]);
    publish(folder.at("current/sub"), { "config/a.yaml": domain("two") });
    await recorder.domains("two");
  });

  test(`${mode}, a directory that is removed and created again is still watched`, async ({
    folder,
    recorder,
    start,
  }) => {
    folder.write({ [`${CONFIG}/a.yaml`]: domain("v0") });
    start({ watchRoot });
    await recorder.domains("v0");
    for (let version = 1; version <= 4; version++) {
      const inode = statSync(folder.at(CONFIG)).ino;
      // Many file systems reuse the inode of the old directory.
      for (let tries = 0; tries < 20; tries++) {
        rmSync(folder.at(CONFIG), { recursive: true });
        mkdirSync(folder.at(CONFIG));
        if (statSync(folder.at(CONFIG)).ino === inode) break;
      }
      await recorder.domains();
      // Replacing a link reloads in both modes if the directory is watched.
      folder.write({ [`files/v${version}.yaml`]: domain(`v${version}`) });
      folder.link(`${CONFIG}/a.yaml`, folder.at(`files/v${version}.yaml`));
      await recorder.domains(`v${version}`);
    }
  });

  test(`${mode}, a missing directory is an error, and is loaded once it exists`, async ({
    folder,
    recorder,
    start,
  }) => {
    start({ watchRoot });
    const missing = await recorder.next();
    assert.equal(missing.domains, undefined);
    assert.deepEqual(missing.diagnostics, [
      `${folder.at(CONFIG)}: does not exist: ${folder.at("current")} does not exist; check RUNTIME_ROOT, RUNTIME_SUBDIRECTORY and RUNTIME_APPDIRECTORY`,
    ]);
    folder.write({ "staged/sub/config/a.yaml": domain("a") });
    folder.link("current", "staged");
    await recorder.domains("a");
    renameSync(folder.at("staged/sub"), folder.at("staged/away"));
    assert.match((await recorder.next()).diagnostics.join(), /staged\/sub does not exist/);
    renameSync(folder.at("staged/away"), folder.at("staged/sub"));
    await recorder.domains("a");
  });

  test(`${mode}, a directory is found when its parents are created one by one`, async ({
    folder,
    recorder,
    start,
  }) => {
    start({ watchRoot });
    await recorder.next();
    mkdirSync(folder.at("current"));
    assert.match((await recorder.next()).diagnostics.join(), /current\/sub does not exist/);
    mkdirSync(folder.at("current/sub"));
    assert.match((await recorder.next()).diagnostics.join(), /current\/sub\/config does not exist/);
    mkdirSync(folder.at("current/sub/config"));
    await recorder.domains();
  });
}

test("with RUNTIME_WATCH_ROOT=true, an edit of a file does not reload", async ({ folder, recorder, start }, {
  mock,
}) => {
  folder.write({ [`${CONFIG}/a.yaml`]: domain("a") });
  start();
  await recorder.next();
  // Every relevant change starts a timer for the end of its burst.
  const waits = mock.method(globalThis, "setTimeout");
  await folder.untilWatched(CONFIG, () => writeFileSync(folder.at(CONFIG, "a.yaml"), domain("edited")));
  await folder.untilWatched(CONFIG, () => writeFileSync(folder.at(CONFIG, "b.yaml"), domain("created")));
  await folder.untilWatched(CONFIG, () => unlinkSync(folder.at(CONFIG, "b.yaml")));
  assert.equal(waits.mock.callCount(), 0);
  assert.equal(recorder.left, 0);
});

const edits: [what: string, edit: (folder: Folder) => void, domains: string[]][] = [
  ["a write", (folder) => writeFileSync(folder.at(CONFIG, "a.yaml"), domain("edited")), ["edited"]],
  ["a new file", (folder) => folder.write({ [`${CONFIG}/b.yaml`]: domain("b") }), ["a", "b"]],
  ["a change of mode", (folder) => chmodSync(folder.at(CONFIG, "a.yaml"), 0o640), ["a"]],
  ["removing a file", (folder) => unlinkSync(folder.at(CONFIG, "a.yaml")), []],
  [
    "a rename within the directory",
    (folder) => renameSync(folder.at(CONFIG, "a.yaml"), folder.at(CONFIG, "z.yaml")),
    ["a"],
  ],
  [
    "a rename out of the directory",
    (folder) => renameSync(folder.at(CONFIG, "a.yaml"), folder.at("a.yaml")),
    [],
  ],
  [
    "a rename over the file, as editors save",
    (folder) => {
      folder.write({ "new.yaml": domain("renamed") });
      renameSync(folder.at("new.yaml"), folder.at(CONFIG, "a.yaml"));
    },
    ["renamed"],
  ],
];
for (const [what, edit, domains] of edits)
  test(`with RUNTIME_WATCH_ROOT=false, ${what} reloads`, async ({ folder, recorder, start }) => {
    folder.write({ [`${CONFIG}/a.yaml`]: domain("a") });
    start({ watchRoot: false });
    await recorder.domains("a");
    edit(folder);
    await recorder.domains(...domains);
  });

test("with RUNTIME_WATCH_ROOT=false, an edit of a link's target reloads", async ({
  folder,
  recorder,
  start,
}) => {
  folder.write({ "elsewhere/real.yaml": domain("one") });
  folder.link(`${CONFIG}/a.yaml`, folder.at("elsewhere/real.yaml"));
  start({ watchRoot: false });
  await recorder.domains("one");
  folder.write({ "elsewhere/real.yaml": domain("two") });
  await recorder.domains("two");
});

test("a burst of changes causes one reload", async ({ folder, recorder, start }, { mock }) => {
  folder.write({ [`${CONFIG}/a.yaml`]: domain("a") });
  start({ watchRoot: false, settle: 50 });
  await recorder.domains("a");
  mock.timers.enable({ apis: ["setTimeout"] });
  await folder.untilWatched(CONFIG, () => {
    for (let count = 0; count < 100; count++) folder.write({ [`${CONFIG}/a.yaml`]: domain(`a${count}`) });
    for (let count = 0; count < 20; count++)
      folder.write({ [`${CONFIG}/f${count}.yaml`]: domain(`f${count}`) });
    folder.write({ [`${CONFIG}/z.yaml`]: domain("z") });
  });
  mock.timers.tick(50);
  mock.timers.reset();
  const loaded = await recorder.next();
  assert.equal(loaded.domains?.length, 22);
  await idle();
  assert.equal(recorder.left, 0);
});

test("a burst that does not end is loaded after the maximum time", async ({ folder, recorder, start }) => {
  folder.write({ [`${CONFIG}/a.yaml`]: domain("a") });
  start({ watchRoot: false, settle: 1000, settleAtMost: 100 });
  await recorder.domains("a");
  let count = 0;
  const busy = setInterval(() => folder.write({ [`${CONFIG}/a.yaml`]: domain(`a${++count % 2}`) }), 5);
  // Another thread reads the files. It may find one that is not written yet.
  let loaded = await recorder.next();
  while (loaded.domains === undefined) loaded = await recorder.next();
  clearInterval(busy);
  assert.match(loaded.domains.join(), /^a[01]$/);
});

test("an invalid set is reported with all faults of all files, and the next valid set loads", async ({
  folder,
  recorder,
  start,
}) => {
  folder.write({ [`${CONFIG}/a.yaml`]: domain("a") });
  start({ watchRoot: false });
  await recorder.domains("a");
  folder.write({
    [`${CONFIG}/a.yaml`]: "domain: a\ndescriptors:\n  - key: k\n    rate_limt: {}\n",
    [`${CONFIG}/b.yaml`]: "domain: [",
  });
  const bad = await recorder.next();
  assert.equal(bad.domains, undefined);
  const text = bad.diagnostics.join("\n");
  assert.match(text, /a\.yaml:4:5: .*rate_limt.*rate_limit/);
  assert.match(text, /b\.yaml:1:\d+: /);
  folder.write({ [`${CONFIG}/a.yaml`]: domain("good"), [`${CONFIG}/b.yaml`]: domain("better") });
  await recorder.domains("better", "good");
});

test("two files may define one domain only with MERGE_DOMAIN_CONFIG", async ({ folder, recorder, start }) => {
  folder.write({
    [`${CONFIG}/a.yaml`]: domain("same"),
    [`${CONFIG}/b.yaml`]: domain("same").replace("key: k", "key: l"),
  });
  const source = start();
  assert.match((await recorder.next()).diagnostics.join(), /b\.yaml:1:\d+: .*same.*MERGE_DOMAIN_CONFIG/);
  await source.stop();
  start({ mergeDomains: true });
  assert.deepEqual((await recorder.next()).domains, ["same"]);
});

test("an empty directory loads no domains and gives a warning", async ({ folder, recorder, start }) => {
  folder.write({ [`${CONFIG}/rules.yml`]: domain("a") });
  start();
  const { domains, diagnostics } = await recorder.next();
  assert.deepEqual(domains, []);
  assert.deepEqual(diagnostics, [
    `${folder.at(CONFIG, "rules.yml")}: warning: only *.yaml files are read: rename it to rules.yaml`,
    `${folder.at(CONFIG)}: warning: contains no *.yaml file: no domain is configured`,
  ]);
});

const unreadable: [what: string, make: (path: string) => void, message: RegExp][] = [
  ["a broken link", (path) => symlinkSync("nowhere", path), /b\.yaml: cannot be read: it does not exist/],
  ["a link to itself", (path) => symlinkSync("b.yaml", path), /b\.yaml: cannot be read: ELOOP/],
  ["a pipe", (path) => execFileSync("mkfifo", [path]), /b\.yaml: is not a regular file/],
  [
    "a file above the size limit",
    (path) => {
      writeFileSync(path, "");
      truncateSync(path, 33 * 1024 * 1024);
    },
    /b\.yaml: is larger than 33554432 bytes/,
  ],
];
for (const [what, make, message] of unreadable)
  test(`${what} is an error and is not skipped`, async ({ folder, recorder, start }) => {
    folder.write({ [`${CONFIG}/a.yaml`]: domain("a"), [`${CONFIG}/c.yaml`]: "domain: {" });
    make(folder.at(CONFIG, "b.yaml"));
    start();
    const { domains, diagnostics } = await recorder.next();
    assert.equal(domains, undefined);
    assert.match(diagnostics.join("\n"), message);
    assert.match(diagnostics.join("\n"), /c\.yaml:1:/, "the faults of the other files are also reported");
  });

test("reload loads even without changes", async ({ folder, recorder, start }) => {
  folder.write({ [`${CONFIG}/a.yaml`]: domain("a") });
  const source = start();
  const first = await recorder.domains("a");
  folder.write({ [`${CONFIG}/a.yaml`]: domain("b") });
  source.reload();
  const second = await recorder.domains("b");
  source.reload();
  const third = await recorder.domains("b");
  assert.ok(first.ruleSet!.generation < second.ruleSet!.generation);
  assert.ok(second.ruleSet!.generation < third.ruleSet!.generation);
});

test("reloads requested during a load run as one", async ({ folder, recorder, start }) => {
  folder.write({ [`${CONFIG}/a.yaml`]: domain("a") });
  const source = start();
  for (let count = 0; count < 50; count++) source.reload();
  await recorder.next();
  await recorder.next();
  await idle();
  assert.equal(recorder.left, 0);
});

test("an error in applying rules is logged, and the next change is loaded", async ({
  folder,
  recorder,
  lines,
  start,
}) => {
  const { onRules } = recorder;
  let [fails, failed] = [true, 0];
  recorder.onRules = (...load) => {
    if (fails) {
      failed++;
      throw new Error("cannot apply these rules");
    }
    onRules.apply(recorder, load);
  };
  folder.write({ [`${CONFIG}/a.yaml`]: domain("one") });
  start({ watchRoot: false });
  while (failed === 0) await new Promise(setImmediate);
  fails = false;
  folder.write({ [`${CONFIG}/a.yaml`]: domain("two") });
  await recorder.domains("two");
  assert.match(
    lines.join(""),
    /level=error msg="the configuration could not be applied: .*cannot apply these rules/,
  );
});

test("after stop there are no events and no watches", async ({ folder, recorder, start }) => {
  let open = 0;
  const watch = ((...parameters: Parameters<typeof fsWatch>) => {
    const watcher = fsWatch(...parameters);
    open++;
    watcher.once("close", () => open--);
    return watcher;
  }) as typeof fsWatch;
  folder.write({ "v1/sub/config/a.yaml": domain("a"), "v2/sub/config/a.yaml": domain("b") });
  folder.link("current", "v1");
  const source = start({ watch });
  await recorder.domains("a");
  folder.swap("current", "v2");
  await recorder.domains("b");
  assert.ok(open >= 4, `${open} watches`);
  source.reload();
  await source.stop();
  folder.swap("current", "v1");
  source.reload();
  await idle();
  assert.equal(recorder.left, 0);
  assert.equal(open, 0);
});

test("no load mixes two sets that follow each other quickly", async ({ folder, recorder, start }) => {
  const set = (name: string): Record<string, string> =>
    Object.fromEntries(
      Array.from({ length: 10 }, (_, index) => [`f${index}.yaml`, domain(`${name}${index}`)]),
    );
  publish(folder.at(CONFIG), set("a"));
  const source = start({ settle: 1 });
  await recorder.next();
  for (let count = 0; count < 60; count++) {
    publish(folder.at(CONFIG), set(count % 2 === 0 ? "b" : "a"));
    source.reload();
    await new Promise(setImmediate);
  }
  publish(folder.at(CONFIG), set("last"));
  await recorder.domains(...Object.keys(set("")).map((_, index) => `last${index}`));
  for (const { domains, diagnostics } of recorder.all) {
    if (domains === undefined) {
      // A read that a slow machine cannot finish between two sets.
      assert.match(diagnostics.join(), /^[^,]*: the files changed during each attempt/);
      continue;
    }
    assert.equal(new Set(domains.map((name) => name.replace(/\d+$/, ""))).size, 1, domains.join());
  }
});

test("files that change during each read are not used, and are read again without an event", async ({
  folder,
  recorder,
  start,
}) => {
  const file = folder.at(CONFIG, "a.yaml");
  folder.write({ [`${CONFIG}/a.yaml`]: domain("a"), [`${CONFIG}/b.yaml`]: domain("b") });
  // A watch that reports nothing.
  const watch = (() => Object.assign(new EventEmitter(), { close: () => {} })) as unknown as typeof fsWatch;
  const compiler = new RuleCompiler(COMPILER_THREAD);
  let reads = 0;
  compiler.run = (job) =>
    ++reads <= 10 ? whileGrowing(file, () => compiler.runHere(job)) : compiler.runHere(job);
  const source = start({ compiler, watch, settle: 1, settleAtMost: 1 });
  await recorder.domains("a", "b");
  folder.write({ [`${CONFIG}/a.yaml`]: domain("c") });
  source.reload();
  for (let failures = 0; failures < 2; failures++)
    assert.match(
      (await recorder.next()).diagnostics.join(),
      /: the files changed during each attempt to read them/,
    );
  assert.deepEqual((await recorder.next()).domains, ["b", "c"]);
  assert.equal(reads, 11);
});

/** Appends to a file in each turn of the event loop until `work` ends. */
async function whileGrowing<T>(file: string, work: () => Promise<T>): Promise<T> {
  let next: NodeJS.Immediate;
  const grow = () => {
    appendFileSync(file, "# more\n");
    next = setImmediate(grow);
  };
  grow();
  try {
    return await work();
  } finally {
    clearImmediate(next!);
  }
}

test("without watches, polling finds changes", async ({ folder, recorder, lines, start }) => {
  folder.write({ "v1/sub/config/a.yaml": domain("a"), "v2/sub/config/a.yaml": domain("b") });
  folder.link("current", "v1");
  const watch = (() => {
    throw new Error("ENOSPC: System limit for number of file watchers reached");
  }) as unknown as typeof fsWatch;
  start({ watch, watchRoot: false, pollInterval: 10 });
  await recorder.domains("a");
  folder.swap("current", "v2");
  await recorder.domains("b");
  folder.write({ "v2/sub/config/a.yaml": domain("edited") });
  await recorder.domains("edited");
  rmSync(folder.at("current"));
  await recorder.failure(/current does not exist/);
  // The error is reported once, not at each poll. The next event is the load of the restored directory.
  folder.link("current", "v1");
  assert.deepEqual((await recorder.next()).domains, ["a"]);
  assert.equal(lines.join("").match(/polled for changes: ENOSPC/g)?.length, 1);
});
