/**
 * `npm run rooms`: imports run one way. Each room of a package may import only the rooms listed for it;
 * packages see each other only through their public entries. Prints every import that does not, exit 1.
 */
import { globSync, readFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";

/** room -> the rooms that it may import; `docs/architecture.md` says why. A file at the top of `src` is a room. */
const allowed: Record<string, Record<string, readonly string[]>> = JSON.parse(
  readFileSync(new URL("./rooms.json", import.meta.url), "utf8"),
);

const importPattern = /(?:^|\n)\s*(?:import|export)\s[^;]*?from\s+"([^"]+)"|import\("([^"]+)"\)/g;
const faults: string[] = [];

function roomOf(path: string): string {
  const [first] = path.split(sep);
  return first!.replace(/\.ts$/, "");
}

for (const [name, rooms] of Object.entries(allowed)) {
  const root = join("packages", name, "src");
  for (const file of globSync(`${root}/**/*.ts`)) {
    if (file.endsWith(".test.ts")) continue;
    const from = roomOf(relative(root, file));
    const may = rooms[from];
    if (may === undefined) {
      faults.push(`${file}: the room "${from}" is not in tools/rooms.json`);
      continue;
    }
    for (const match of readFileSync(file, "utf8").matchAll(importPattern)) {
      const target = match[1] ?? match[2]!;
      if (!target.startsWith(".")) continue;
      const to = roomOf(relative(root, join(dirname(file), target)));
      if (to === ".." || to === "..")
        faults.push(`${file}: imports ${target}, which is outside the package's src`);
      else if (to !== from && !may.includes(to))
        faults.push(`${file}: "${from}" may not import "${to}" (${target})`);
    }
  }
}
for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exit(1);
