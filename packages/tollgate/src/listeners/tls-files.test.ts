import assert from "node:assert/strict";
import fs, {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it, mock } from "node:test";
import { scaled } from "../../../../tools/time-scale.ts";
import { certificates } from "../../test/servers/certificates.ts";
import { createLogger } from "../observe/log.ts";
import { createStatistics, type Registry } from "../observe/registry.ts";
import type { Certificates } from "./server-tls.ts";
import { TlsFiles, type TlsFilesOptions, type TlsPaths } from "./tls-files.ts";

const made = certificates();
const text = (path: string): string => readFileSync(path, "utf8");

let folder: string;
let open: TlsFiles[];
let lines: string[];
let statistics: Registry;
let heard: Certificates[];
let waiting: (() => void)[];
/** Keeps the process alive: the watches and timers under test do not. */
let hold: NodeJS.Timeout;

beforeEach(() => {
  hold = setInterval(() => {}, 1000);
  folder = mkdtempSync(join(tmpdir(), "tollgate-tls-"));
  open = [];
  lines = [];
  heard = [];
  waiting = [];
  statistics = createStatistics();
});
afterEach(() => {
  clearInterval(hold);
  for (const files of open) files.close();
  rmSync(folder, { recursive: true });
});

function wake(): void {
  for (const resolve of waiting.splice(0)) resolve();
}
async function until(test: () => boolean): Promise<void> {
  while (!test()) await new Promise<void>((resolve) => waiting.push(resolve));
}

const log = createLogger({
  writer: {
    dropped: 0,
    write: (line) => {
      lines.push(line);
      wake();
    },
    flush: async () => {},
  },
});

function start(paths: TlsPaths, options: Partial<TlsFilesOptions> = {}): TlsFiles {
  const files = TlsFiles.open({
    paths,
    log,
    statistics,
    timing: { settle: 10, grace: 60, poll: 60_000 },
    onChange: (changed) => heard.push(changed),
    ...options,
  });
  open.push(files);
  return files;
}

/** The server's certificate, key and authority, copied to the test's folder. */
function placed(directory: string = folder): TlsPaths {
  const paths = {
    cert: join(directory, "tls.crt"),
    key: join(directory, "tls.key"),
    clientCa: join(directory, "ca.crt"),
  };
  copyFileSync(made.server, paths.cert);
  copyFileSync(made.serverKey, paths.key);
  copyFileSync(made.ca, paths.clientCa);
  return paths;
}

/** Writes a new file and renames it onto the old one, as editors and agents do. */
function replace(path: string, by: string): void {
  writeFileSync(`${path}.new`, text(by));
  renameSync(`${path}.new`, path);
}

const calls = ["statSync", "readFileSync"] as const;

/** Lets the calls that TlsFiles makes fail for paths under a folder, until {@link restore}. */
function failUnder(folder: string, code: string) {
  const mocks = calls.map((name) => {
    const real = fs[name] as (...args: unknown[]) => unknown;
    const failing = (...args: unknown[]): unknown => {
      if (!String(args[0]).startsWith(folder)) return real(...args);
      throw Object.assign(new Error(`${code}: ${name} '${args[0]}'`), { code });
    };
    return [name, mock.method(fs, name, failing as never)] as const;
  });
  syncBuiltinESMExports();
  return Object.fromEntries(mocks);
}

function restore(): void {
  mock.restoreAll();
  syncBuiltinESMExports();
}

describe("certificate files", () => {
  it("are loaded at start", () => {
    const { current } = start(placed());
    assert.deepEqual(current, { cert: text(made.server), key: text(made.serverKey), ca: text(made.ca) });
    assert.equal(start({ ...placed(), clientCa: undefined }).current.ca, undefined);
  });

  const bad: readonly [what: string, spoil: (paths: TlsPaths) => void, message: RegExp][] = [
    ["a missing file", ({ key }) => rmSync(key), /cannot read .*tls\.key: ENOENT/],
    [
      "a text file",
      ({ cert }) => writeFileSync(cert, "hello"),
      /tls\.crt does not contain a PEM certificate/,
    ],
    [
      "a broken certificate",
      ({ cert }) => writeFileSync(cert, "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----"),
      /cannot read certificate 1 in .*tls\.crt/,
    ],
    [
      "a broken key",
      ({ key }) => writeFileSync(key, "secret"),
      /tls\.key does not contain a readable private key/,
    ],
    [
      "another's key",
      ({ key }) => copyFileSync(made.clientKey, key),
      /tls\.key is not the key of the first certificate in .*tls\.crt/,
    ],
    [
      "an empty authority file",
      ({ clientCa }) => writeFileSync(clientCa!, ""),
      /ca\.crt does not contain a PEM certificate/,
    ],
  ];
  for (const [what, spoil, message] of bad)
    it(`are refused at start: ${what}`, () => {
      const paths = placed();
      spoil(paths);
      assert.throws(
        () => start(paths),
        (error: Error & { code?: string }) => {
          assert.match(error.message, message);
          assert.doesNotMatch(error.message, /secret/);
          assert.equal(error.code, "BAD_CERTIFICATES");
          return true;
        },
      );
    });

  it("are reloaded after both were replaced, one after the other", async () => {
    const paths = placed();
    const files = start(paths);
    replace(paths.cert, made.client);
    // Half of the pair is new: nothing is reported within the grace period.
    replace(paths.key, made.clientKey);
    await until(() => heard.length > 0 && lines.length > 0);
    assert.deepEqual(heard.at(-1), { cert: text(made.client), key: text(made.clientKey), ca: text(made.ca) });
    assert.deepEqual(files.current, heard.at(-1));
    assert.equal(lines.length, 1);
    assert.match(lines[0]!, /level=warning msg="TLS: reloaded .*tls\.crt and .*tls\.key"/);
    assert.equal(statistics.counter("certs.load_attempts").value, 1);
    assert.equal(statistics.counter("certs.load_failures").value, 0);
  });

  it("are reloaded after a write in place", async () => {
    const paths = placed();
    start(paths);
    writeFileSync(paths.clientCa!, text(made.otherCa));
    await until(() => heard.length > 0);
    assert.equal(heard[0]!.ca, text(made.otherCa));
    assert.equal(heard[0]!.cert, text(made.server));
  });

  it("are reloaded after Kubernetes swaps its link", async () => {
    const versions = [join(folder, "..v1"), join(folder, "..v2")] as const;
    for (const version of versions) mkdirSync(version);
    placed(versions[0]);
    placed(versions[1]);
    copyFileSync(made.client, join(versions[1], "tls.crt"));
    copyFileSync(made.clientKey, join(versions[1], "tls.key"));
    symlinkSync("..v1", join(folder, "..data"));
    for (const name of ["tls.crt", "tls.key", "ca.crt"])
      symlinkSync(join("..data", name), join(folder, name));
    start({ cert: join(folder, "tls.crt"), key: join(folder, "tls.key"), clientCa: join(folder, "ca.crt") });
    symlinkSync("..v2", join(folder, "..data_tmp"));
    renameSync(join(folder, "..data_tmp"), join(folder, "..data"));
    await until(() => heard.length > 0);
    assert.equal(heard[0]!.cert, text(made.client));
  });

  it("are reloaded by the poll after a link further up is swapped, and then watched there", async () => {
    const [one, two] = [join(folder, "one"), join(folder, "two")];
    mkdirSync(one);
    mkdirSync(two);
    placed(one);
    placed(two);
    copyFileSync(made.otherCa, join(two, "ca.crt"));
    const link = join(folder, "current");
    symlinkSync("one", link);
    start(
      { cert: join(link, "tls.crt"), key: join(link, "tls.key"), clientCa: join(link, "ca.crt") },
      { timing: { settle: 10, grace: 60, poll: 20 } },
    );
    symlinkSync("two", `${link}.new`);
    renameSync(`${link}.new`, link);
    await until(() => heard.length > 0 && lines.length > 0);
    assert.equal(heard[0]!.ca, text(made.otherCa));
  });

  it("are reloaded from a directory that was removed and created again", {
    timeout: scaled(20_000),
  }, async () => {
    const directory = join(folder, "pair");
    mkdirSync(directory);
    const paths = placed(directory);
    const files = start(paths);
    const inode = statSync(directory).ino;
    // Many file systems give the new directory the inode of the old one.
    for (let tries = 0; tries < 20; tries++) {
      rmSync(directory, { recursive: true });
      mkdirSync(directory);
      if (statSync(directory).ino === inode) break;
    }
    placed(directory);
    copyFileSync(made.otherCa, paths.clientCa!);
    await until(() => heard.length === 1);
    for (const ca of [made.ca, made.otherCa, made.ca]) {
      copyFileSync(ca, paths.clientCa!);
      await until(() => files.current.ca === text(ca));
    }
  });

  for (const [code, spoil] of [
    ["ELOOP", (directory: string) => symlinkSync(directory, directory)],
    ["ENOTDIR", (directory: string) => writeFileSync(directory, "")],
    ["ENOENT", () => {}],
  ] as const)
    it(`stay in use if their directory cannot be read, with one log line: ${code}`, async () => {
      const directory = join(folder, "pair");
      mkdirSync(directory);
      const paths = placed(directory);
      const files = start(paths, { timing: { settle: 10, grace: 20, poll: 5 } });
      renameSync(directory, `${directory}.away`);
      spoil(directory);
      await until(() => lines.length > 0);
      assert.match(
        lines[0]!,
        new RegExp(`the old certificates stay in use: cannot read .*tls\\.crt: ${code}`),
      );
      assert.equal(files.current.key, text(made.serverKey));
      rmSync(directory, { force: true });
      renameSync(`${directory}.away`, directory);
      copyFileSync(made.otherCa, paths.clientCa!);
      await until(() => heard.length > 0 && lines.length > 1);
      assert.equal(heard[0]!.ca, text(made.otherCa));
      assert.equal(lines.length, 2, lines.join(""));
    });

  // A file system decides these: root may read every file, and a handle gets stale on a network file system.
  for (const code of ["EACCES", "ESTALE"])
    it(`stay in use if their directory cannot be read, with one log line: ${code}`, async () => {
      const paths = placed();
      const files = start(paths, { timing: { settle: 10, grace: 20, poll: 5 } });
      const failing = failUnder(folder, code);
      try {
        await until(() => lines.length > 0);
        assert.match(
          lines[0]!,
          new RegExp(`the old certificates stay in use: cannot read .*tls\\.crt: ${code}`),
        );
        assert.equal(files.current.key, text(made.serverKey));
        for (const [name, { mock }] of Object.entries(failing))
          assert.ok(mock.calls.length > 0, `${name} was not called`);
      } finally {
        restore();
      }
      copyFileSync(made.otherCa, paths.clientCa!);
      await until(() => heard.length > 0 && lines.length > 1);
      assert.equal(heard[0]!.ca, text(made.otherCa));
      assert.equal(lines.length, 2, lines.join(""));
    });

  it("stay in use if the new pair does not match, with one log line, until a good pair arrives", async () => {
    const paths = placed();
    const files = start(paths);
    replace(paths.key, made.clientKey);
    await until(() => lines.length > 0);
    assert.match(
      lines[0]!,
      /level=error msg="TLS: the old certificates stay in use: .*tls\.key is not the key/,
    );
    assert.deepEqual(files.current.key, text(made.serverKey));
    assert.deepEqual(heard, []);
    assert.equal(statistics.counter("certs.load_failures").value, 1);
    replace(paths.cert, made.client);
    await until(() => heard.length > 0 && lines.length > 1);
    assert.equal(files.current.cert, text(made.client));
    assert.equal(lines.length, 2);
  });

  it("stay in use if onChange throws", async () => {
    const paths = placed();
    const files = start(paths, {
      onChange: () => {
        throw new Error("not these");
      },
    });
    replace(paths.clientCa!, made.otherCa);
    await until(() => lines.length > 0);
    assert.match(lines[0]!, /the old certificates stay in use: not these/);
    assert.equal(files.current.ca, text(made.ca));
  });

  it("are not reloaded after a touch", async () => {
    const paths = placed();
    const files = start(paths);
    replace(paths.cert, made.server);
    replace(paths.clientCa!, made.otherCa);
    await until(() => heard.length > 0);
    assert.equal(heard.length, 1);
    assert.equal(files.current.ca, text(made.otherCa));
  });
});
