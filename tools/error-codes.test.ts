/** Compares docs/errors.md with the sources: both contain each code once. */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { errorClasses } from "./error-codes.ts";

const root = join(import.meta.dirname, "..");
const page = readFileSync(join(root, "docs", "errors.md"), "utf8");

const packages = [
  ["Waymark", "waymark"],
  ["Tollgate", "tollgate"],
  ["grpc-wire", "grpc-wire"],
] as const;

/** Classes whose errors never leave the module that catches them, or that have the code of their parent. */
const internal: readonly string[] = ["Refusal", "SourceError", "OversizedMessage"];

/** The rows below a heading: `Class CODE`, meaning, remedy. */
function rowsOf(heading: string): { id: string; meaning: string; remedy: string }[] {
  const section = page.split(/^## /m).find((text) => text.startsWith(`${heading}\n`));
  assert.ok(section !== undefined, `docs/errors.md has no section ${heading}`);
  const rows = section.matchAll(/^\| `(\w+)` \| (?:<a id="\w+"><\/a>)?`(\w+)` \| ([^|]+) \| ([^|]+) \|$/gm);
  return [...rows].map(([, name, code, meaning = "", remedy = ""]) => ({
    id: `${name} ${code}`,
    meaning,
    remedy,
  }));
}

for (const [heading, folder] of packages)
  describe(`error codes of ${heading}`, () => {
    const source = join(root, "packages", folder, "src");
    const classes = errorClasses(source);
    const rows = rowsOf(heading);

    test("every error class has a code", () => {
      const without = classes.filter(({ name, codes }) => codes === undefined && !internal.includes(name));
      assert.deepEqual(
        without.map(({ file, name }) => `${file}: ${name}`),
        [],
      );
    });

    test("docs/errors.md lists each code of the sources once, and no other codes", () => {
      const found = classes.flatMap(({ name, codes = [] }) => codes.map((code) => `${name} ${code}`));
      assert.ok(found.length > 0);
      assert.deepEqual(rows.map(({ id }) => id).sort(), found.sort());
    });

    test("each code has an anchor", () => {
      for (const code of new Set(rows.map(({ id }) => id.split(" ")[1]!)))
        assert.equal(page.split(`<a id="${code}"></a>\`${code}\``).length, 2, code);
    });

    test("each row has a meaning and a remedy", () => {
      for (const { id, meaning, remedy } of rows) {
        assert.match(meaning, /^\S.*\.$/, id);
        assert.match(remedy, /^\S.*[.]$/, id);
      }
    });

    test("the sources use each code besides its declaration", () => {
      const files = globSync("**/*.ts", { cwd: source }).filter((file) => !file.endsWith(".test.ts"));
      const text = files.map((file) => readFileSync(join(source, file), "utf8")).join("\n");
      for (const { name, codes = [] } of classes) {
        const many = codes.length > 1;
        for (const code of codes)
          assert.ok(
            text.split(many ? `"${code}"` : `new ${name}(`).length > (many ? 2 : 1),
            `${name} ${code}`,
          );
      }
    });
  });
