import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { load } from "js-yaml";

const root = join(import.meta.dirname, "../../..");
const pages = globSync(["*.md", "docs/**/*.md", "packages/*/README.md", "examples/**/*.md"], {
  cwd: root,
  exclude: (path) => path.includes("node_modules"),
});
const FILTER = "envoy.extensions.filters.http.ratelimit.v3.RateLimit";

interface Filter {
  readonly typed_config: { readonly failure_mode_deny?: boolean; readonly timeout?: string };
}

const recipes = pages.flatMap((page) =>
  [...readFileSync(join(root, page), "utf8").matchAll(/^```yaml\n([\s\S]*?)^```$/gm)]
    .map(([, text]) => ({ page, text: text! }))
    .filter(({ text }) => text.includes(FILTER)),
);

test("each recipe for Envoy's filter states what happens if Tollgate does not answer", () => {
  assert.deepEqual([...new Set(recipes.map(({ page }) => page))].sort(), [
    "docs/envoy.md",
    "packages/tollgate/README.md",
  ]);
  for (const { page, text } of recipes) {
    const { http_filters } = load(text) as { http_filters: readonly Filter[] };
    const { typed_config } = http_filters[0]!;
    assert.equal(typed_config.failure_mode_deny, true, page);
    assert.match(typed_config.timeout ?? "", /^[\d.]+s$/, page);
  }
});

for (const page of [
  "docs/envoy.md",
  "docs/getting-started.md",
  "docs/configuration-sources.md",
  "docs/stores.md",
  "packages/tollgate/README.md",
])
  test(`${page} explains failure_mode_deny beside its description of failures`, () => {
    const text = readFileSync(join(root, page), "utf8");
    assert.match(text, /`failure_mode_deny/);
    assert.match(text, /lets\s+the\s+request\s+pass/);
  });
