/**
 * Builds the page into a module: one text without references to others, so that it is served on every runtime, with or
 * without files. The result is committed: the board starts from its sources without a build.
 */
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { buildSync } from "esbuild";

const here = import.meta.dirname;

/** The folder of the built page. */
export const generated: string = join(here, "..", "gen");

/** Writes the built page into a folder. */
export function generate(folder: string): void {
  const script = bundled("main.ts");
  const style = bundled("style.css");
  const html = readFileSync(join(here, "index.html"), "utf8")
    // Functions, because a text as a replacement gives `$&` a meaning.
    .replace("/*STYLE*/", () => style)
    .replace("/*SCRIPT*/", () => script);
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, "page.ts"),
    `// Built by \`npm run page\` from the folder page.
export const SCRIPT_HASH = "${hashOf(script)}";
export const STYLE_HASH = "${hashOf(style)}";
export const HTML: string = ${JSON.stringify(html)};
`,
  );
}

function bundled(entry: string): string {
  const { outputFiles } = buildSync({
    entryPoints: [join(here, entry)],
    absWorkingDir: here,
    bundle: true,
    minify: true,
    format: "esm",
    target: ["chrome123", "firefox121", "safari17.5"],
    charset: "utf8",
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

if (import.meta.main) generate(generated);
