import assert from "node:assert/strict";
import { test } from "node:test";
import { shownAddress } from "../serve/shown-address.ts";
import { readArguments } from "./arguments.ts";
import { parseHost } from "./listen-address.ts";

test("reads a host and port", () => {
  const rows: [string, string | undefined, number][] = [
    ["localhost:8000", "localhost", 8000],
    ["localhost", "localhost", 8000],
    [":8080", undefined, 8080],
    ["[::1]:9000", "::1", 9000],
    ["[::1]", "::1", 8000],
    ["0.0.0.0:0", "0.0.0.0", 0],
    ["example.com:65535", "example.com", 65535],
  ];
  for (const [text, host, port] of rows) assert.deepEqual(parseHost(text), { host, port }, text);
  for (const text of ["a:b", "::1", "[::1", "a:65536", "a b:1", "http://a:1", "a:1:2"]) {
    assert.throws(() => parseHost(text), { exitStatus: 2 }, text);
  }
  assert.equal(shownAddress("::1", 80), "http://[::1]:80");
  assert.equal(shownAddress(undefined, 80), "http://localhost:80");
});

test("reads the command line", () => {
  const read = readArguments(["--prefix=a,b", "--prefix=c", "--host=:1", "--quiet"], {});
  assert.deepEqual(read.prefix, ["a", "b", "c"]);
  assert.equal(read.command, "serve");
  assert.equal(read.host, ":1");
  assert.equal(read.quiet, true);
  assert.equal(readArguments(["routes", "--check=x"], {}).check, "x");
  assert.equal(readArguments([], {}).interface, "node");
  assert.equal(readArguments(["--interface=asgi"], {}).interface, "asgi");
  assert.equal(readArguments([], { WAYMARK_APP: "app.ts" }).app, "app.ts");
  assert.equal(readArguments(["--prefix=a"], { WAYMARK_APP: "app.ts" }).app, undefined);
});

test("an invalid command line fails with status 2 and the reason", () => {
  const rows: [string[], RegExp][] = [
    [["--nope"], /nope/],
    [["fly"], /^unknown command "fly": the commands are serve, routes, [^\n]+$/],
    [["serve", "now"], /"now" is an unexpected argument/],
    [["--workers=0"], /--workers=0/],
    [["--workers=many"], /--workers=many/],
    [["routes", "--host=:1"], /--host is an option of "waymark serve"/],
    [["--types=x"], /--types and --table need --watch/],
    [["routes", "--table=x"], /--table is an option of "waymark types"/],
    [["--standalone"], /--standalone is an option of "waymark types"/],
    [["--check=x"], /--check is an option of "waymark routes"/],
    [["routes", "--interface=wsgi"], /--interface is an option of "waymark serve"/],
    [["--interface=cgi"], /unknown interface/],
    [["--app=a.ts", "--prefix=b"], /exclude each other/],
  ];
  for (const [args, message] of rows) {
    assert.throws(() => readArguments(args, {}), { exitStatus: 2, message }, args.join(" "));
  }
});
