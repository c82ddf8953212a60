#!/usr/bin/env node
// Old syntax on purpose: a Node that is too old must get as far as saying so.
import { existsSync } from "node:fs";

var needed = 24;
var major = Number(process.versions.node.split(".")[0]);
if (major < needed) {
  console.error(`create-waymark needs Node ${needed} or later; this is ${process.version}`);
  process.exit(1);
}
// In the repository, Node runs the sources. A published package contains only the built files.
var source = new URL("../src/main.ts", import.meta.url);
var entry = existsSync(source) ? source : new URL("../dist/main.js", import.meta.url);
import(entry.href).then((create) => {
  process.exitCode = create.main(process.argv.slice(2), process.env);
});
