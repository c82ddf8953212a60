import assert from "node:assert/strict";
import { once } from "node:events";
import {
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { Application, Controller } from "@tollway/waymark";
import { file, folder, type StaticOptions } from "@tollway/waymark/kit/files";
import fc from "fast-check";
import { startServer } from "../server.ts";
import { rangeOf } from "./ranges.ts";
import { ask } from "./support.fixture.ts";

const TEXT = "0123456789";
const MODIFIED = "Sun, 06 Nov 1994 08:49:37 GMT";
const work = realpathSync(mkdtempSync(join(tmpdir(), "waymark-files-")));
const root = join(work, "public");
after(() => rmSync(work, { recursive: true, force: true }));

mkdirSync(join(root, "sub", "bare"), { recursive: true });
mkdirSync(join(work, "public-secret"));
for (const [name, text] of Object.entries({
  "public/a.txt": TEXT,
  "public/empty.css": "",
  "public/index.html": "<p>home",
  "public/sub/index.html": "<p>sub",
  "public/sub/deep é.json": "{}",
  "public/.env": "SECRET",
  "public/__proto__": "odd",
  "public/x.constructor": "odd",
  "secret.txt": "SECRET",
  "public-secret/s.txt": "SECRET",
}))
  writeFileSync(join(work, name), text);
utimesSync(join(root, "a.txt"), new Date(MODIFIED), new Date(MODIFIED));
symlinkSync(join(work, "secret.txt"), join(root, "link.txt"));
symlinkSync(work, join(root, "up"));
symlinkSync(join(root, "a.txt"), join(root, "inner.txt"));
symlinkSync("loop", join(root, "loop"));

function applicationOf(options?: StaticOptions): Application {
  const assets = folder(root, options);
  class Assets extends Controller {
    GET(...path: string[]) {
      return assets(this, path);
    }
  }
  class Report extends Controller {
    GET(name = "report.txt") {
      return file(this, join(root, "a.txt"), {
        download: name,
        type: "text/csv",
        cache: { private: true, maxAge: 5 },
      });
    }
    POST() {
      return file(this, join(root, "missing"));
    }
    PUT() {
      return file(this, root);
    }
  }
  return new Application({ controllers: { Assets, Report }, log: () => undefined });
}

test("files have their types, lengths, dates and tags", async () => {
  const application = applicationOf();
  const rows: [string, string, string][] = [
    ["/assets/a.txt", "text/plain; charset=utf-8", TEXT],
    ["/assets/inner.txt", "text/plain; charset=utf-8", TEXT],
    ["/assets/empty.css", "text/css; charset=utf-8", ""],
    ["/assets/sub/deep%20%C3%A9.json", "application/json; charset=utf-8", "{}"],
    ["/assets/__proto__", "application/octet-stream", "odd"],
    ["/assets/x.constructor", "application/octet-stream", "odd"],
    ["/assets/", "text/html; charset=utf-8", "<p>home"],
    ["/assets/sub/", "text/html; charset=utf-8", "<p>sub"],
  ];
  for (const [path, type, text] of rows) {
    const response = await ask(application, path);
    const { headers } = response;
    assert.deepEqual(
      [response.status, headers.get("content-type"), await response.text()],
      [200, type, text],
      path,
    );
    assert.equal(headers.get("content-length"), String(text.length));
    assert.match(headers.get("etag")!, /^"[a-z0-9]+-[a-z0-9]+"$/);
    assert.equal(headers.get("x-content-type-options"), "nosniff");
    assert.equal(headers.get("cache-control"), "no-cache");
    const head = await ask(application, path, { method: "HEAD" });
    assert.deepEqual([head.status, head.headers.get("content-length")], [200, String(text.length)]);
  }
  assert.equal((await ask(application, "/assets/a.txt")).headers.get("last-modified"), MODIFIED);
});

test("no path leads out of the folder", async () => {
  const application = applicationOf();
  for (const path of [
    "%2e%2e/secret.txt",
    "..%2fsecret.txt",
    "%2e%2e%2fsecret.txt",
    "sub/%2e%2e/%2e%2e/secret.txt",
    "..%5csecret.txt",
    "%2fetc%2fpasswd",
    "a.txt%00.png",
    "%00",
    "link.txt",
    "up/secret.txt",
    "up/public-secret/s.txt",
    "..%2fpublic-secret/s.txt",
    "loop",
    ".env",
    "%2eenv",
    "a.txt/b",
    "x".repeat(300),
    "missing",
    "sub/bare/",
    "sub/bare",
  ]) {
    const response = await ask(application, `/assets/${path}`);
    const text = await response.text();
    assert.equal(response.status, 404, path);
    assert.ok(!text.includes("SECRET") && !text.includes(work), path);
  }
});

test("raw sockets: dots in the path do not leave the folder", async () => {
  const running = await startServer(applicationOf(), { host: "127.0.0.1", port: 0 });
  for (const target of [
    "/assets/../../secret.txt",
    "/assets/..",
    "/assets/%2e%2e/%2e%2e/secret.txt",
    "//assets/../secret.txt",
  ]) {
    const socket = connect(running.port, "127.0.0.1");
    socket.end(`GET ${target} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`);
    let text = "";
    for await (const piece of socket) text += piece;
    assert.match(text, /^HTTP\/1\.1 404/, target);
  }
  await running.stop();
});

test("ranges: one part, or the whole file", async () => {
  const application = applicationOf();
  const tag = (await ask(application, "/assets/a.txt")).headers.get("etag")!;
  const rows: [Record<string, string>, number, string | null, string?][] = [
    [{ range: "bytes=0-0" }, 206, "bytes 0-0/10", "0"],
    [{ range: "bytes=2-4" }, 206, "bytes 2-4/10", "234"],
    [{ range: "bytes=7-" }, 206, "bytes 7-9/10", "789"],
    [{ range: "bytes=-2" }, 206, "bytes 8-9/10", "89"],
    [{ range: "bytes=-100" }, 206, "bytes 0-9/10", TEXT],
    [{ range: "bytes=5-100" }, 206, "bytes 5-9/10", "56789"],
    [{ range: "BYTES=1-1" }, 206, "bytes 1-1/10", "1"],
    [{ range: "bytes=10-" }, 416, "bytes */10"],
    [{ range: "bytes=99999-100000" }, 416, "bytes */10"],
    [{ range: "bytes=-0" }, 416, "bytes */10"],
    [{ range: "bytes=4-2" }, 200, null, TEXT],
    [{ range: "bytes=-" }, 200, null, TEXT],
    [{ range: "bytes=a-b" }, 200, null, TEXT],
    [{ range: "bytes=0-1,3-4" }, 200, null, TEXT],
    [{ range: `bytes=${Array(1000).fill("0-").join(",")}` }, 200, null, TEXT],
    [{ range: "bytes=99999999999999999999-" }, 200, null, TEXT],
    [{ range: "lines=0-1" }, 200, null, TEXT],
    [{ range: "bytes=2-4", "if-range": tag }, 206, "bytes 2-4/10", "234"],
    [{ range: "bytes=2-4", "if-range": MODIFIED }, 206, "bytes 2-4/10", "234"],
    [{ range: "bytes=2-4", "if-range": `W/${tag}` }, 200, null, TEXT],
    [{ range: "bytes=2-4", "if-range": '"other"' }, 200, null, TEXT],
    [{ range: "bytes=2-4", "if-range": "Sun, 06 Nov 1994 08:49:38 GMT" }, 200, null, TEXT],
    [{ range: "bytes=2-4", "if-none-match": tag }, 304, null, ""],
    [{ "if-none-match": tag }, 304, null, ""],
    [{ "if-none-match": '"other"', "if-modified-since": MODIFIED }, 200, null, TEXT],
    [{ "if-modified-since": MODIFIED }, 304, null, ""],
    [{ "if-modified-since": "Sun, 06 Nov 1994 08:49:36 GMT" }, 200, null, TEXT],
  ];
  for (const [headers, status, range, text] of rows) {
    const response = await ask(application, "/assets/a.txt", { headers });
    assert.deepEqual(
      [response.status, response.headers.get("content-range")],
      [status, range],
      JSON.stringify(headers),
    );
    const body = await response.text();
    if (text === undefined) continue;
    assert.equal(body, text);
    if (status !== 304) assert.equal(response.headers.get("content-length"), String(text.length));
  }
  const head = await ask(application, "/assets/a.txt", { method: "HEAD", headers: { range: "bytes=0-1" } });
  assert.deepEqual([head.status, head.headers.get("content-length")], [200, "10"]);
});

test("a range is within the file, and contains the requested bytes", () => {
  fc.assert(
    fc.property(
      fc.nat(200),
      fc.nat(250),
      fc.nat(250),
      fc.constantFrom("full", "open", "suffix"),
      (size, a, b, form) => {
        const header = { full: `bytes=${a}-${b}`, open: `bytes=${a}-`, suffix: `bytes=-${a}` }[form];
        const range = rangeOf(header, size);
        if (range === undefined) return assert.ok(form === "full" && b < a);
        if (range === "unsatisfiable")
          return assert.ok(form === "suffix" ? a === 0 || size === 0 : a >= size);
        assert.ok(0 <= range.start && range.start <= range.end && range.end < size);
        if (form !== "suffix") assert.equal(range.start, a);
        else assert.equal(range.end - range.start + 1, Math.min(a, size));
      },
    ),
  );
});

test("a folder gets its slash, and options change what is served", async () => {
  const moved = await ask(applicationOf(), "/assets/sub?x=1", { redirect: "manual" });
  assert.equal(moved.status, 400, "the query is not an argument of the method");
  const redirect = await ask(applicationOf(), "/assets/sub");
  assert.deepEqual([redirect.status, redirect.headers.get("location")], [308, "/assets/sub/"]);
  const rows: [StaticOptions, string, number, string?][] = [
    [{ index: false }, "/assets/sub/", 404],
    [{ index: false }, "/assets/sub", 404],
    [{ index: "a.txt" }, "/assets/", 200, TEXT],
    [{ dotFiles: true }, "/assets/.env", 200, "SECRET"],
    [{ dotFiles: true }, "/assets/..%2fsecret.txt", 404],
    [{ fallback: "index.html" }, "/assets/some/route", 200, "<p>home"],
    [{ fallback: "index.html" }, "/assets/..%2fsecret.txt", 200, "<p>home"],
  ];
  for (const [options, path, status, text] of rows) {
    const response = await ask(applicationOf(options), path);
    assert.equal(response.status, status, path);
    if (text !== undefined) assert.equal(await response.text(), text);
  }
  const typed = await ask(
    applicationOf({ types: { ".txt": "text/x-own" }, cache: { maxAge: 9 } }),
    "/assets/a.txt",
  );
  assert.deepEqual(
    [typed.headers.get("content-type"), typed.headers.get("cache-control")],
    ["text/x-own", "max-age=9"],
  );
});

test("one file: a type, a name to save it, and a 404 without a path of the disk", async () => {
  const application = applicationOf();
  const { headers } = await ask(application, "/report");
  assert.equal(headers.get("content-type"), "text/csv");
  assert.equal(headers.get("cache-control"), "private, max-age=5");
  assert.equal(
    headers.get("content-disposition"),
    "attachment; filename=\"report.txt\"; filename*=UTF-8''report.txt",
  );
  const hostile = await ask(application, `/report/${encodeURIComponent('a"\r\nset-cookie: x=é')}`);
  assert.equal(
    hostile.headers.get("content-disposition"),
    "attachment; filename=\"a___set-cookie_ x__\"; filename*=UTF-8''a%22%0D%0Aset-cookie%3A%20x%3D%C3%A9",
  );
  for (const method of ["POST", "PUT"]) {
    const response = await ask(application, "/report", { method });
    assert.equal(response.status, 404);
    assert.ok(!(await response.text()).includes(work));
  }
});

test("a client that leaves closes the file", async () => {
  const large = join(root, "large.bin");
  writeFileSync(large, Buffer.alloc(20_000_000));
  const running = await startServer(applicationOf(), { host: "127.0.0.1", port: 0 });
  const socket = connect(running.port, "127.0.0.1");
  socket.write("GET /assets/large.bin HTTP/1.1\r\nhost: x\r\n\r\n");
  await once(socket, "data");
  socket.destroy();
  await running.stop();
  const { readdirSync, readlinkSync } = await import("node:fs");
  const isOpen = () =>
    readdirSync("/proc/self/fd").some((fd) => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`) === large;
      } catch {
        return false;
      }
    });
  while (isOpen()) await new Promise((resolve) => setImmediate(resolve));
});

test("a folder that does not exist is an error of each request, and serves once it exists", async () => {
  const late = join(work, "late");
  const assets = folder(late);
  class Late extends Controller {
    GET(...path: string[]) {
      return assets(this, path);
    }
  }
  const errors: unknown[] = [];
  const application = new Application({ controllers: { Late }, log: (error) => errors.push(error) });
  for (const count of [1, 2]) {
    assert.equal((await ask(application, "/late/a.txt")).status, 500);
    assert.equal(errors.length, count);
  }
  mkdirSync(late);
  writeFileSync(join(late, "a.txt"), TEXT);
  assert.equal((await ask(application, "/late/a.txt")).status, 200);
});
