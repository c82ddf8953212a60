/**
 * `npm run boundaries`: imports run one way. Each folder of a package may import only the folders listed for it in
 * `tools/boundaries.json`. Packages import each other only through their public entries. No files and no folders of a package
 * import each other in a circle, except those in `tools/circles.json`. Code for every runtime loads no module of
 * Node. Prints every fault, exit 1.
 */
import { globSync, readFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { findCircles } from "./circles.ts";

/** Folder -> the folders that it may import; `docs/architecture.md` says why. A file directly in `src` counts as one. */
const allowed: Record<string, Record<string, readonly string[]>> = readJson("./boundaries.json");
/** Circles that still exist. This list may only shrink. */
const known: Record<string, Record<"files" | "folders", readonly (readonly string[])[]>> = readJson(
  "./circles.json",
);

/** The entries of a package that run without the modules of Node, and everything that they load. */
const portable: Record<string, readonly string[]> = {
  waymark: ["web.ts", "client.ts", "kit.ts", "worker.ts", "bun.ts", "deno.ts"],
};

/** `typeof import("x")` and `import("x").Type`. */
const typeImport = /typeof import\("[^"]+"\)|import\("[^"]+"\)\.[A-Z]/g;
const importPattern = /(?:^|\n)\s*(?:import|export)\s[^;]*?from\s+"([^"]+)"|import\("([^"]+)"\)/g;
const faults: string[] = [];

for (const [name, boundaries] of Object.entries(allowed)) {
  const root = join("packages", name, "src");
  const files = new Map<string, Set<string>>();
  const folders = new Map<string, Set<string>>();
  for (const file of globSync(`${root}/**/*.ts`)) {
    if (file.endsWith(".test.ts")) continue;
    const path = relative(root, file);
    const from = folderOf(path);
    const may = boundaries[from];
    if (may === undefined) {
      faults.push(`${file}: the folder "${from}" is not in tools/boundaries.json`);
      continue;
    }
    for (const match of readFileSync(file, "utf8").matchAll(importPattern)) {
      const target = match[1] ?? match[2] ?? "";
      if (!target.startsWith(".")) continue;
      const imported = relative(root, join(dirname(file), target));
      const to = folderOf(imported);
      if (to === "..") faults.push(`${file}: imports ${target}, which is outside the package's src`);
      else if (to !== from && !may.includes(to))
        faults.push(`${file}: "${from}" may not import "${to}" (${target})`);
      connect(files, path, imported);
      if (placeOf(path) !== placeOf(imported)) connect(folders, placeOf(path), placeOf(imported));
    }
  }
  for (const entry of portable[name] ?? []) checkPortable(root, entry);
  checkCircles(`packages/${name}: files`, findCircles(files), known[name]?.files ?? []);
  checkCircles(`packages/${name}: folders`, findCircles(folders), known[name]?.folders ?? []);
}
for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exit(1);

function readJson<T>(path: string): T {
  return JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8"));
}

function folderOf(path: string): string {
  const [first = path] = path.split(sep);
  return first.replace(/\.ts$/, "");
}

/** The folder of a file. A file directly in `src` counts as a folder of its own. */
function placeOf(path: string): string {
  const folder = dirname(path);
  return folder === "." ? path : folder;
}

function connect(graph: Map<string, Set<string>>, from: string, to: string): void {
  const targets = graph.get(from);
  if (targets === undefined) graph.set(from, new Set([to]));
  else targets.add(to);
}

/** Follows the imports that are left after types are erased. */
function checkPortable(root: string, entry: string): void {
  const seen = new Set([entry]);
  for (const path of seen) {
    const text = readFileSync(join(root, path), "utf8").replaceAll(typeImport, "");
    for (const match of text.matchAll(importPattern)) {
      const target = match[1] ?? match[2] ?? "";
      if (/^\s*(?:import|export)\s+type\s/.test(match[0])) continue;
      if (target.startsWith("node:"))
        faults.push(
          `${join(root, path)}: ${entry} loads it on every runtime, so it may not import ${target}`,
        );
      else if (target.startsWith(".")) seen.add(relative(root, join(root, dirname(path), target)));
    }
  }
}

/** Every circle must be within a known one, and every known one must still exist in full. */
function checkCircles(
  where: string,
  circles: readonly (readonly string[])[],
  listed: readonly (readonly string[])[],
): void {
  const isWithin = (inner: readonly string[], outer: readonly string[]): boolean =>
    inner.every((member) => outer.includes(member));
  for (const circle of circles)
    if (!listed.some((group) => isWithin(circle, group)))
      faults.push(`${where} import each other in a circle: ${circle.join(", ")}`);
  for (const group of listed)
    if (!circles.some((circle) => circle.length === group.length && isWithin(group, circle)))
      faults.push(
        `${where}: tools/circles.json lists more than is left of a circle. Remove the rest: ${group.join(", ")}`,
      );
}
