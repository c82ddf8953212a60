/** The tables of folders in docs/architecture.md say the same as tools/boundaries.json. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";

type Imports = Readonly<Record<string, readonly string[]>>;

const root = new URL("../", import.meta.url);
const text = readFileSync(new URL("docs/architecture.md", root), "utf8");
const boundaries = JSON.parse(readFileSync(new URL("tools/boundaries.json", root), "utf8")) as Readonly<
  Record<string, Imports>
>;

/** The rows of a package's table: the folders, and what they may import. A file counts as a folder. */
function tableOf(name: string): Imports {
  const chapter = text.slice(text.indexOf(`\n## ${name}\n`) + 1).split("\n## ")[0]!;
  const rows = [...chapter.matchAll(/^\| (`[^|]+) \| [^|]+ \| ([^|]+) \|$/gm)];
  return Object.fromEntries(
    rows.flatMap(([, folders, imports]) =>
      [...new Set([...folders!.matchAll(/`([^`]+?)(?:\/|\.ts)`/g)].map(([, folder]) => folder!))].map(
        (folder) => [folder, imports === "–" ? [] : imports!.split(", ").sort()],
      ),
    ),
  );
}

describe("docs/architecture.md", () => {
  for (const [name, imports] of [
    ["Tollgate", boundaries.tollgate!],
    ["grpc-wire", boundaries["grpc-wire"]!],
    ["Waymark", boundaries.waymark!],
  ] as const)
    it(`lists the folders of ${name} and their imports`, () => {
      const expected = Object.entries(imports).map(([folder, names]) => [folder, [...names].sort()]);
      assert.deepEqual(sorted(Object.entries(tableOf(name))), sorted(expected));
    });
});

function sorted(rows: readonly (readonly unknown[])[]): readonly (readonly unknown[])[] {
  return [...rows].sort(([a], [b]) => String(a).localeCompare(String(b)));
}
