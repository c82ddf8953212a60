#!/usr/bin/env node
// Old syntax on purpose: an old Node must get as far as saying that it is too old.
var major = Number(process.versions.node.split(".")[0]);
if (major < 24) {
  console.error(
    `tollgate needs Node 24 or later; this is Node ${process.versions.node} (${process.execPath})`,
  );
  process.exit(1);
}
// What was compiled once is kept: the second start takes a third of the first one's time.
var module = await import("node:module");
module.enableCompileCache();
// Published packages hold JavaScript; in the repository Node runs the TypeScript sources as they are.
var fs = await import("node:fs");
var built = new URL("../dist/commands/main.js", import.meta.url);
var source = new URL("../src/commands/main.ts", import.meta.url);
var entry = await import(fs.existsSync(source) ? source.href : built.href);
process.exitCode = await entry.main(process.argv.slice(2));
