import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { discover, type FoundModule } from "./discover.ts";
import type { StartError } from "./start-error.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "waymark-discover-")));
after(() => rmSync(folder, { recursive: true }));
let count = 0;

/** Creates a temporary folder with these empty files. A name that ends in a slash is a folder. */
function tree(...paths: string[]): string {
  const root = join(folder, String(count++));
  for (const path of paths) {
    const full = join(root, path);
    mkdirSync(path.endsWith("/") ? full : dirname(full), { recursive: true });
    if (!path.endsWith("/")) writeFileSync(full, "");
  }
  return root;
}

function shape(found: FoundModule, root: string): unknown {
  const children = Object.fromEntries(
    [...found.children].map(([segment, child]) => [segment, shape(child, root)]),
  );
  const file = found.file?.slice(root.length + 1) ?? null;
  return Object.keys(children).length === 0 ? file : [file, children];
}

test("finds the modules of a prefix", () => {
  const rows: [string, string[], unknown][] = [
    ["controllers", ["controllers.ts"], "controllers.ts"],
    ["controllers", ["controllers.mjs"], "controllers.mjs"],
    ["controllers", ["controllers/index.js"], "controllers/index.js"],
    ["app.controllers", ["app/controllers.ts"], "app/controllers.ts"],
    ["c", ["c.ts", "c/users.ts"], ["c.ts", { users: "c/users.ts" }]],
    ["c", ["c/b.ts", "c/a.ts"], [null, { a: "c/a.ts", b: "c/b.ts" }]],
    [
      "c",
      ["c/users.ts", "c/users/roles.ts"],
      [null, { users: ["c/users.ts", { roles: "c/users/roles.ts" }] }],
    ],
    ["c", ["c/user_list.ts"], [null, { "user-list": "c/user_list.ts" }]],
    ["c", ["c/empty/"], [null, { empty: null }]],
    [
      "c",
      ["c/a.ts", "c/_b.ts", "c/.c.ts", "c/d.d.ts", "c/e.test.ts", "c/f.spec.mjs", "c/g.txt", "c/h.d.cts"],
      [null, { a: "c/a.ts" }],
    ],
    ["c", ["c/a.ts", "c/node_modules/x/index.js", "c/_x/y.ts"], [null, { a: "c/a.ts" }]],
    ["c", ["c/a.ts", "c/_x.tsx", "c/_x.cts", "c/x.test.tsx", "c/x.spec.cjs"], [null, { a: "c/a.ts" }]],
  ];
  for (const [prefix, files, expected] of rows) {
    const root = tree(...files);
    assert.deepEqual(shape(discover(prefix, root), root), expected, files.join(" "));
  }
});

test("rejects ambiguous, missing and invalid prefixes by name", () => {
  const rows: [string, string[], string, RegExp][] = [
    ["c", ["c.ts", "c.js"], "AMBIGUOUS_MODULE", /c\.ts and .*c\.js/],
    ["c", ["c.ts", "c/index.ts"], "AMBIGUOUS_MODULE", /c\.ts and .*index\.ts/],
    ["c", ["c/a.ts", "c/a.mjs"], "AMBIGUOUS_MODULE", /a\.mjs and .*a\.ts/],
    ["c", ["c/a.ts", "c/a/index.ts"], "AMBIGUOUS_MODULE", /keep one/],
    ["c", ["c/a-b.ts", "c/a_b.ts"], "AMBIGUOUS_MODULE", /the same path, "a-b"/],
    [
      "c",
      ["c/a.tsx"],
      "UNSUPPORTED_MODULE",
      /c\/a\.tsx: Node does not run \.tsx.*rename it to a\.ts,.*_a\.tsx/,
    ],
    ["c", ["c/a.jsx"], "UNSUPPORTED_MODULE", /c\/a\.jsx: Node does not run \.jsx.*rename it to a\.js,/],
    [
      "c",
      ["c/a.cts"],
      "UNSUPPORTED_MODULE",
      /c\/a\.cts: controllers are ES modules.*rename it to a\.ts,.*_a\.cts/,
    ],
    ["c", ["c/a.cjs"], "UNSUPPORTED_MODULE", /c\/a\.cjs: controllers are ES modules.*rename it to a\.mjs,/],
    ["c", ["c/index.tsx", "c/a.ts"], "UNSUPPORTED_MODULE", /c\/index\.tsx/],
    ["c", ["c/b/c/index.cts"], "UNSUPPORTED_MODULE", /index\.cts/],
    ["c", ["c.tsx"], "UNSUPPORTED_MODULE", /c\.tsx: .*rename it to c\.ts,/],
    ["c", ["c.cts", "c/a.ts"], "UNSUPPORTED_MODULE", /c\.cts/],
    ["c", ["d.ts"], "PREFIX_NOT_FOUND", /the module "c" does not exist/],
    ["./c", ["c.ts"], "INVALID_PREFIX", /not a dotted module path/],
    ["..c", ["c.ts"], "INVALID_PREFIX", /not a dotted module path/],
    ["c.ts/x", ["c.ts"], "INVALID_PREFIX", /not a dotted module path/],
    ["", ["c.ts"], "INVALID_PREFIX", /not a dotted module path/],
  ];
  for (const [prefix, files, code, message] of rows) {
    const root = tree(...files);
    assert.throws(
      () => discover(prefix, root),
      (error: StartError) => {
        assert.equal(error.code, code, error.message);
        assert.match(error.message, message);
        return true;
      },
    );
  }
});

test("a link into its own folder prevents startup", () => {
  const root = tree("c/a.ts");
  symlinkSync(join(root, "c"), join(root, "c", "loop"));
  assert.throws(() => discover("c", root), { code: "AMBIGUOUS_MODULE" });
});
