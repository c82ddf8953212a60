import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse, type DefaultTreeAdapterTypes as Tree } from "parse5";

interface Page {
  /** Values of `href` and `src`. */
  readonly links: readonly string[];
  readonly ids: ReadonlySet<string>;
}

/** Attributes whose value the browser loads, or opens on a click. */
const LINKS = ["href", "src"];

function readPage(file: string): Page {
  const links: string[] = [];
  const ids = new Set<string>();
  const visit = (node: Tree.Node): void => {
    if ("attrs" in node)
      for (const { name, value } of node.attrs) {
        if (name === "id") ids.add(value);
        if (LINKS.includes(name)) links.push(value);
      }
    if ("childNodes" in node) node.childNodes.forEach(visit);
  };
  visit(parse(readFileSync(file, "utf8")));
  return { links, ids };
}

/**
 * Checks a built site: each link to the site itself leads to a file, each anchor to an element, and no page loads anything
 * from elsewhere.
 * @param folder the site's root
 * @returns one line for each fault
 */
export function faultsOf(folder: string): string[] {
  const pages = new Map(
    globSync("**/*.html", { cwd: folder }).map((file) => [file, readPage(join(folder, file))] as const),
  );
  const faults = new Set<string>();
  for (const [file, { links }] of pages)
    for (const link of links) {
      if (/^(?:https?:|mailto:|data:|javascript:void)/.test(link)) continue;
      const fault = faultOf(folder, pages, file, link);
      if (fault !== undefined) faults.add(`${file}: ${link}: ${fault}`);
    }
  for (const [file] of pages)
    for (const address of foreignLoads(join(folder, file)))
      faults.add(`${file} loads ${address} from elsewhere`);
  return [...faults].sort();
}

function faultOf(
  folder: string,
  pages: ReadonlyMap<string, Page>,
  from: string,
  link: string,
): string | undefined {
  const { pathname, hash } = new URL(link, `http://site/${from}`);
  const path = decodeURI(pathname).slice(1);
  const candidates = path === "" || path.endsWith("/") ? [`${path}index.html`] : [path, `${path}.html`];
  const target = candidates.find((candidate) => existsSync(join(folder, candidate)));
  if (target === undefined) return "no such page";
  if (hash === "" || !target.endsWith(".html")) return undefined;
  const id = decodeURIComponent(hash.slice(1));
  return pages.get(target)?.ids.has(id) ? undefined : `no element #${id} in ${target}`;
}

/** Addresses outside the site that the page itself loads: scripts, styles, pictures, fonts. */
function foreignLoads(file: string): string[] {
  const html = readFileSync(file, "utf8");
  const loads = html.matchAll(
    /<(?:script|img|iframe|link|source)\b[^>]*?\b(?:src|href)="((?:https?:)?\/\/[^"]+)"/g,
  );
  return [...loads].map(([, address]) => address!);
}

if (import.meta.main) {
  const faults = faultsOf(join(import.meta.dirname, "dist"));
  for (const fault of faults) console.error(fault);
  process.exit(faults.length === 0 ? 0 : 1);
}
