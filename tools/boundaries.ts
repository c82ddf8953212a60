/**
 * `npm run boundaries`: checks that imports run one way. Each folder of a package may import only the folders listed for
 * it. Packages import only the public entries of each other. Prints every forbidden import and exits with status 1.
 */
import { globSync, readFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";

/** The folders that each folder may import. See `docs/architecture.md`. A file directly in `src` counts as a folder. */
const allowed: Record<string, Record<string, readonly string[]>> = JSON.parse(
  readFileSync(new URL("./boundaries.json", import.meta.url), "utf8"),
);

const importPattern = /(?:^|\n)\s*(?:import|export)\s[^;]*?from\s+"([^"]+)"|import\("([^"]+)"\)/g;
const faults: string[] = [];

function folderOf(path: string): string {
  const [first] = path.split(sep);
  return first!.replace(/\.ts$/, "");
}

for (const [name, folders] of Object.entries(allowed)) {
  const root = join("packages", name, "src");
  for (const file of globSync(`${root}/**/*.ts`)) {
    if (file.endsWith(".test.ts")) continue;
    const from = folderOf(relative(root, file));
    const may = folders[from];
    if (may === undefined) {
      faults.push(`${file}: the folder "${from}" is not in tools/boundaries.json`);
      continue;
    }
    for (const match of readFileSync(file, "utf8").matchAll(importPattern)) {
      const target = match[1] ?? match[2]!;
      if (!target.startsWith(".")) continue;
      const to = folderOf(relative(root, join(dirname(file), target)));
      if (to === ".." || to === "..")
        faults.push(`${file}: imports ${target}, which is outside the package's src`);
      else if (to !== from && !may.includes(to))
        faults.push(`${file}: "${from}" may not import "${to}" (${target})`);
    }
  }
}
for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exit(1);
