/** `npm run manual -w packages/grpc-wire`: writes the options of docs/grpc-wire.md from the types' own documentation. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const marks = ["<!-- options: begin -->", "<!-- options: end -->"] as const;
const root = join(import.meta.dirname, "..", "..", "..");

/** The manual's file. */
export const manualPath: string = join(root, "docs", "grpc-wire.md");

export interface Option {
  readonly name: string;
  /** The documented default; empty without one. */
  readonly defaultText: string;
  readonly meaning: string;
}

/** The documented members of an interface of `src/types.ts`. */
export function optionsOf(interfaceName: string): Option[] {
  const source = readFileSync(join(import.meta.dirname, "..", "src", "types.ts"), "utf8");
  const body = new RegExp(`export interface ${interfaceName} \\{\\n(.*?)\\n\\}`, "s").exec(source)?.[1];
  if (body === undefined) throw new Error(`src/types.ts has no interface ${interfaceName}`);
  return [...body.matchAll(/\/\*\*(.*?)\*\/\s+(\w+)\??:/gs)].map(([, comment, name]) => {
    const text = comment!
      .replaceAll(/\n\s*\* ?/g, " ")
      .replaceAll(/\s+/g, " ")
      .trim();
    const [meaning, defaultText = ""] = text.split(/ ?Default: /);
    return { name: name!, defaultText: defaultText.replace(/\.$/, ""), meaning: meaning! };
  });
}

const tables = [
  ["ServerOptions", "The server's own", ""],
  ["LimitOptions", "`limits`: bounds on what a peer can make the server hold or do", "limits."],
  ["ConnectionOptions", "`connection`: a connection's life; milliseconds, 0 means never", "connection."],
  ["TlsOptions", "`tls`: certificates and their checks", "tls."],
  ["DrainOptions", "What `drain` takes", ""],
] as const;

function tableOf([interfaceName, title, prefix]: (typeof tables)[number]): string {
  const rows = optionsOf(interfaceName).map(
    ({ name, defaultText, meaning }) => `| \`${prefix}${name}\` | ${defaultText} | ${meaning} |`,
  );
  return [`### ${title}`, "", "| Option | Default | Meaning |", "|---|---|---|", ...rows].join("\n");
}

/** The manual with its tables of options written anew. */
export function withOptions(manual: string): string {
  const [begin, end] = marks.map((mark) => manual.indexOf(mark));
  if (begin! < 0 || end! < begin!) throw new Error(`the manual has no ${marks.join(" and ")}`);
  const written = tables.map(tableOf).join("\n\n");
  return `${manual.slice(0, begin)}${marks[0]}\n\n${written}\n\n${manual.slice(end!)}`;
}

if (import.meta.main) writeFileSync(manualPath, withOptions(readFileSync(manualPath, "utf8")));
