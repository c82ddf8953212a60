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
  readonly failure_mode_deny?: boolean;
  readonly timeout?: string;
}

const recipes = pages.flatMap((page) =>
  [...readFileSync(join(root, page), "utf8").matchAll(/^```yaml(?: file=\S+)?\n([\s\S]*?)^```$/gm)]
    .map(([, text]) => ({ page, text: text! }))
    .filter(({ text }) => text.includes(FILTER)),
);

/** The filters of a part of Envoy's configuration, wherever they are in it. */
function filtersOf(value: unknown): Filter[] {
  if (typeof value !== "object" || value === null) return [];
  if ("@type" in value && String(value["@type"]).endsWith(FILTER)) return [value as Filter];
  return Object.values(value).flatMap(filtersOf);
}

test("each recipe for Envoy's filter states what happens if Tollgate does not answer", () => {
  const found = recipes.flatMap(({ page, text }) =>
    filtersOf(load(text)).map((filter) => ({ page, filter })),
  );
  assert.deepEqual(found.map(({ page }) => page).sort(), [
    "docs/envoy.md",
    "docs/istio.md",
    "packages/tollgate/README.md",
  ]);
  for (const { page, filter } of found) {
    assert.equal(filter.failure_mode_deny, true, page);
    assert.match(filter.timeout ?? "", /^[\d.]+s$/, page);
  }
});

test("docs/envoy.md starts Tollgate as the tutorial does, with the domain of its filter", () => {
  const start = /^RUNTIME_ROOT=.* npx tollgate$/m;
  const read = (page: string) => readFileSync(join(root, page), "utf8");
  assert.equal(start.exec(read("docs/envoy.md"))?.[0], start.exec(read("docs/getting-started.md"))![0]);
  const { domain } = load(read("deploy/envoy/rules/minimal.yaml")) as { domain: string };
  assert.match(read("deploy/envoy/minimal.yaml"), new RegExp(`^ +domain: ${domain}$`, "m"));
});

// Envoy resolves "localhost" to ::1 first, and Tollgate's default is 0.0.0.0.
test("no recipe for Envoy has the address localhost", () => {
  const files = globSync("deploy/**/*.yaml", { cwd: root });
  for (const file of [...files, ...pages])
    assert.doesNotMatch(readFileSync(join(root, file), "utf8"), /address: \{ address: localhost/, file);
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
