/**
 * `npm run docs` builds the documentation site into `website/dist` and checks its links. `npm run docs:dev` serves it, and
 * builds a page anew when its file in `docs/` changes. `npm run docs -- --if-available` succeeds, and says why, if npm cannot
 * install the generator.
 */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, statSync, watch } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { copyContent, copyFile, docs } from "./content.ts";
import { products } from "./navigation.ts";
import { entriesOf, writeReference } from "./reference.ts";

const folder = import.meta.dirname;
const content = join(folder, "content");

const { values, positionals } = parseArgs({
  options: { "if-available": { type: "boolean", default: false } },
  allowPositionals: true,
});

/** Installs what `package-lock.json` names, once per version of that file. Returns the reason if npm fails. */
function install(): string | undefined {
  // npm writes this file last.
  const installed = join(folder, "node_modules", ".package-lock.json");
  const locked = join(folder, "package-lock.json");
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(locked).mtimeMs) return undefined;
  const { error, status, stderr } = spawnSync("npm", ["ci", "--ignore-scripts", "--prefix", folder], {
    encoding: "utf8",
  });
  if (error === undefined && status === 0) return undefined;
  return `npm cannot install the packages of website/package.json: ${error?.message ?? stderr.trim().split("\n").at(-1)}`;
}

async function rspress(command: "build" | "dev"): Promise<number> {
  const options = { cwd: folder, stdio: "inherit" } as const;
  const child = spawn(join(folder, "node_modules", ".bin", "rspress"), [command], options);
  const [code] = await once(child, "exit");
  return (code as number | null) ?? 1;
}

const reason = install();
if (reason !== undefined) {
  console.error(values["if-available"] ? `The site was not built: ${reason}` : reason);
  process.exit(values["if-available"] ? 0 : 1);
}
const types = spawnSync("npx", ["tsc", "--noEmit", "-p", folder], {
  cwd: join(folder, ".."),
  stdio: "inherit",
});
if (types.status !== 0) process.exit(types.status ?? 1);
copyContent(content);
writeReference(
  products.flatMap(({ reference }) => (reference === undefined ? [] : entriesOf(reference))),
  content,
);
if (positionals[0] === "dev") {
  watch(docs, { recursive: true }, (_, file) => {
    if (file !== null && /\.(?:md|svg|png|webp)$/.test(file) && existsSync(join(docs, file)))
      copyFile(file, content);
  });
  process.exit(await rspress("dev"));
}
const status = await rspress("build");
if (status !== 0) process.exit(status);
// It needs a package that only the installation above brings.
const { faultsOf } = await import("./check-links.ts");
const faults = faultsOf(join(folder, "dist"));
for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exit(1);
console.log("website/dist: every link and anchor leads somewhere, and no page loads anything from elsewhere");
