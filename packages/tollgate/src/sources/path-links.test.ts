import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { resolvePath } from "./path-links.ts";

const name = fc.constantFrom("a", "b", "c");
const target = fc.oneof(
  fc
    .array(fc.constantFrom("a", "b", "c", "..", "."), { minLength: 1, maxLength: 4 })
    .map((parts) => parts.join("/")),
  fc.array(name, { minLength: 1, maxLength: 3 }).map((parts) => `ROOT/${parts.join("/")}`),
);
const place = fc.array(name, { minLength: 1, maxLength: 3 });
const piece = fc.oneof(
  fc.record({ kind: fc.constant("directory" as const), place }),
  fc.record({ kind: fc.constant("file" as const), place }),
  fc.record({ kind: fc.constant("link" as const), place, target }),
);

test("paths resolve like in the kernel", () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "tollgate-links-")));
  try {
    let count = 0;
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), fc.array(name, { maxLength: 4 }), (pieces, parts) => {
        const folder = join(root, String(count++));
        mkdirSync(folder);
        for (const one of pieces)
          try {
            const at = join(folder, ...one.place);
            if (one.kind === "directory") mkdirSync(at, { recursive: true });
            else if (one.kind === "file") writeFileSync(at, "");
            else symlinkSync(one.target.replace("ROOT", folder), at);
          } catch {
            // The name already exists, or its parent does not.
          }
        const path = join(folder, ...parts);
        let expected: string | undefined;
        try {
          expected = realpathSync.native(path);
        } catch {
          expected = undefined;
        }
        const resolved = resolvePath(path);
        assert.equal(resolved.real, expected);
        assert.equal(resolved.fault === undefined, expected !== undefined);
        const relative = resolvePath(parts.join("/"), folder);
        assert.equal(relative.real, expected);
        for (const entry of resolved.entries)
          assert.equal(realpathSync.native(entry.directory), entry.directory);
      }),
      { numRuns: 300 },
    );
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});
