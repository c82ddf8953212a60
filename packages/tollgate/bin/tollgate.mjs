#!/usr/bin/env node
// Uses old syntax, so that old versions of Node can run the check and print the message.
var major = Number(process.versions.node.split(".")[0]);
if (major < 24) {
  console.error(
    `tollgate needs Node 24 or later; this is Node ${process.versions.node} (${process.execPath})`,
  );
  process.exit(1);
}
// V8 inlines more calls into one function. A call of a gateway takes 3 to 4 % less CPU.
// The cache of compiled code depends on flags, so they come first.
var v8 = await import("node:v8");
v8.setFlagsFromString("--max-inlined-bytecode-size-cumulative=2500");
// Caches compiled code. The second start takes a third of the time of the first.
var module = await import("node:module");
module.enableCompileCache();
// Published packages contain JavaScript. In the repository, Node runs the TypeScript sources.
var fs = await import("node:fs");
var built = new URL("../dist/commands/main.js", import.meta.url);
var source = new URL("../src/commands/main.ts", import.meta.url);
var entry = await import(fs.existsSync(source) ? source.href : built.href);
process.exitCode = await entry.main(process.argv.slice(2));
