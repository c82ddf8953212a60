/** The manual shows files of `deploy/` as they are. UPDATE=1 copies them into the pages. */
import assert from "node:assert/strict";
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const dashboards = "packages/tollgate/dashboards";
const root = join(import.meta.dirname, "../../..");
const BLOCK = /^(```\w+ file=(deploy\/\S+)\n)[\s\S]*?^```$/gm;

const pages = globSync("docs/*.md", { cwd: root })
  .map((page) => ({ page, text: readFileSync(join(root, page), "utf8") }))
  .filter(({ text }) => text.match(BLOCK) !== null);

test("pages show files of deploy/", () => {
  const names = pages.map(({ page }) => page);
  for (const page of ["docs/istio.md", "docs/envoy-gateway.md", "docs/grafana.md"])
    assert.ok(names.includes(page), page);
});

for (const { page, text } of pages)
  test(`${page} shows the files of deploy/ as they are`, () => {
    const right = text.replaceAll(BLOCK, (_, head: string, file: string) => {
      return `${head}${readFileSync(join(root, file), "utf8").trimEnd()}\n\`\`\``;
    });
    if (process.env.UPDATE) writeFileSync(join(root, page), right);
    else assert.equal(text, right);
  });

test("docs/grafana.md explains each alert, and names panels that the dashboard has", () => {
  const page = readFileSync(join(root, "docs/grafana.md"), "utf8");
  const alerts = readFileSync(join(root, dashboards, "alerts.yaml"), "utf8").matchAll(/- alert: (\w+)/g);
  const rows = page.split("\n").filter((line) => line.startsWith("| `Tollgate"));
  const explained = rows.flatMap((row) => row.split(" | ")[0]!.match(/Tollgate\w+/g) ?? []);
  assert.deepEqual(explained.sort(), [...alerts].map(([, name]) => name).sort());
  const { panels } = JSON.parse(readFileSync(join(root, dashboards, "tollgate.json"), "utf8")) as {
    panels: { title: string }[];
  };
  const titles = panels.map(({ title }) => title);
  const questions = page.slice(page.indexOf("| Question | Panel |"), page.indexOf("## The alerts"));
  const named = [...questions.matchAll(/\*([^*]+)\*/g)].map(([, title]) => title!);
  assert.ok(named.length >= 10);
  for (const title of named) assert.ok(titles.includes(title), title);
});
