/**
 * Copies `docs/` for the site. The pages stay plain Markdown that GitHub shows as well. Only the copy has the changes that
 * the generator and the readers of the site need.
 */
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { hasTabs, withTabs } from "./tabs.ts";

export const repository = join(import.meta.dirname, "..");
export const docs = join(repository, "docs");

/** The repository on the web, for links to files outside `docs/`. */
const WEB = "https://github.com/tollway/tollway";

/** Languages of fenced code that the highlighter does not know. */
const LANGUAGES: Readonly<Record<string, string>> = { console: "shellsession", promql: "text" };

/** Words after the language that tell the tests how to run a block. */
const TEST_MARKS = /^(?:service|retry|each|elsewhere|repeat=\d+|exit=\d+)$/;

/** Copies all pages and pictures to `target`. */
export function copyContent(target: string): void {
  rmSync(target, { recursive: true, force: true });
  for (const file of globSync("**/*.{md,svg,png,webp}", { cwd: docs })) copyFile(file, target);
}

/** Copies one file of `docs/`. */
export function copyFile(file: string, target: string): void {
  const to = join(target, file.replace(/(^|\/)README\.md$/, "$1index.md"));
  mkdirSync(dirname(to), { recursive: true });
  if (!file.endsWith(".md")) {
    cpSync(join(docs, file), to);
    return;
  }
  const text = readFileSync(join(docs, file), "utf8");
  // Only MDX has components.
  writeFileSync(hasTabs(text) ? `${to}x` : to, pageForSite(file, text));
}

/**
 * The page as the generator reads it.
 * @param page its path below `docs/`
 */
export function pageForSite(page: string, text: string): string {
  return withTabs(text)
    .split(/^(```[\s\S]*?^```$)/m)
    .map((part) => (part.startsWith("```") ? blockForSite(part) : proseForSite(page, part)))
    .join("");
}

/** Shows the file name of a block as its title. Removes the marks for the tests. */
function blockForSite(block: string): string {
  return block.replace(/^```(\w+)(.*)$/m, (_, language: string, rest: string) => {
    const words = rest.split(" ").filter((word) => word !== "" && !TEST_MARKS.test(word));
    const title = words.map((word) => word.replace(/^file=/, ""))[0];
    return `\`\`\`${LANGUAGES[language] ?? language}${title === undefined ? "" : ` title="${title}"`}`;
  });
}

function proseForSite(page: string, text: string): string {
  return text
    .replaceAll(/<!--[\s\S]*?-->\n?/g, "")
    .replaceAll(
      /(!?)\[((?:[^\]\\]|\\.)*)\]\(([^)\s]+)\)/g,
      (_, image: string, label: string, link: string) => {
        return `${image}[${label}](${image === "" ? linkForSite(page, link) : pictureForSite(link)})`;
      },
    )
    .replaceAll(
      /^(\[[^\]]+\]: +)(\S+)$/gm,
      (_, label: string, link: string) => label + linkForSite(page, link),
    );
}

/** The generator takes a path without `./` for the name of a package. */
function pictureForSite(link: string): string {
  return /^(?:[a-z]+:|\/|\.)/.test(link) ? link : `./${link}`;
}

function linkForSite(page: string, link: string): string {
  if (/^(?:[a-z]+:|#|\/)/.test(link)) return link;
  const [path = "", anchor] = link.split("#");
  const file = resolve(docs, dirname(page), decodeURI(path));
  const hash = anchor === undefined ? "" : `#${anchor}`;
  if (!relative(docs, file).startsWith("..") && file.endsWith(".md"))
    return path.replace(/(^|\/)README\.md$/, "$1index.md").replace(/^(?!\.)/, "./") + hash;
  const kind = statSync(file).isDirectory() ? "tree" : "blob";
  return `${WEB}/${kind}/main/${relative(repository, file)}${hash}`;
}
