#!/usr/bin/env node
// Old syntax on purpose: a Node that is too old must get as far as saying so.
import { existsSync } from "node:fs";
import * as module from "node:module";

var needed = 24;
var major = Number(process.versions.node.split(".")[0]);
if (major < needed) {
  console.error(`waymark needs Node ${needed} or later; this is ${process.version}`);
  process.exit(1);
}
if (module.enableCompileCache) module.enableCompileCache();
// In the repository, Node runs the sources. A published package contains only the built files.
var source = new URL("../src/launcher/main.ts", import.meta.url);
var entry = existsSync(source) ? source : new URL("../dist/launcher/main.js", import.meta.url);
import(entry.href)
  .then((launcher) => launcher.main(process.argv.slice(2)))
  .then(
    (status) => {
      // Handles that a controller left open must not keep a stopped server alive.
      process.exit(status);
    },
    (error) => {
      console.error(error);
      process.exit(1);
    },
  );
