/**
 * Builds the dashboard's page: one file without references to others. The result is committed, like the code that is
 * generated from protocol files: Tollgate runs from its sources without a build.
 */
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";

const here = import.meta.dirname;

/** The folder of the built page. */
export const generated: string = fileURLToPath(new URL("../src/dashboard/gen", import.meta.url));

/** Writes the built page into a folder. */
export function generate(folder: string): void {
  const script = bundled("main.tsx");
  const style = bundled("style.css");
  const html = readFileSync(join(here, "page.html"), "utf8")
    // Functions, because a text as a replacement gives `$&` a meaning.
    .replace("/*STYLE*/", () => style)
    .replace("/*SCRIPT*/", () => script)
    .replace("<!--LICENSE-->", () => `<!--\nThis page contains Preact.\n\n${license()}\n-->`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, "page.ts"),
    `// Built by \`npm run generate\` from packages/tollgate/dashboard-page.
export const SCRIPT_HASH = "${hashOf(script)}";
export const STYLE_HASH = "${hashOf(style)}";
export const HTML: string = ${JSON.stringify(html)};
`,
  );
}

/** The license of the library in the page. Its terms require it in every copy. */
function license(): string {
  const package_ = fileURLToPath(import.meta.resolve("preact/package.json"));
  return readFileSync(join(package_, "..", "LICENSE"), "utf8").trim();
}

function bundled(entry: string): string {
  const { outputFiles } = buildSync({
    entryPoints: [join(here, entry)],
    absWorkingDir: here,
    bundle: true,
    minify: true,
    format: "esm",
    target: ["chrome111", "firefox114", "safari16.4"],
    charset: "utf8",
    jsx: "automatic",
    jsxImportSource: "preact",
    legalComments: "none",
    write: false,
    logLevel: "error",
  });
  const text = outputFiles[0]!.text.trim();
  if (/<\/(?:script|style)/i.test(text)) throw new Error(`${entry}: the built text would end its element`);
  return text;
}

/** The hash in the notation of the Content-Security-Policy. */
function hashOf(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}
