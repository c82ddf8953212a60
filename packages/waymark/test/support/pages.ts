/** Parses the manual's code blocks for tests. */

/**
 * A fenced block. `ts controllers.ts` is a file, `ts file=examples/...` quotes a file of the repository, `ts run` is a
 * program, and `console` contains commands with their output.
 */
export interface Block {
  readonly line: number;
  readonly language: string;
  /** The text after the language: a file's name, or `run`. */
  readonly info: string;
  readonly text: string;
}

export function blocksOf(markdown: string): Block[] {
  const blocks: Block[] = [];
  let open: { line: number; language: string; info: string; lines: string[] } | undefined;
  for (const [at, line] of markdown.split("\n").entries()) {
    const fence = /^```(\S*) ?(.*)$/.exec(line);
    if (open !== undefined && line === "```") {
      blocks.push({ ...open, text: `${open.lines.join("\n")}\n` });
      open = undefined;
    } else if (open !== undefined) open.lines.push(line);
    else if (fence !== null) open = { line: at + 1, language: fence[1]!, info: fence[2]!, lines: [] };
  }
  return blocks;
}

/** One command of a console block with its output. `...` matches anything. */
export interface Command {
  readonly line: number;
  readonly text: string;
  readonly output: readonly string[];
}

export function commandsOf({ text, line }: Block): Command[] {
  const commands: { line: number; text: string; output: string[] }[] = [];
  for (const [at, each] of text.trimEnd().split("\n").entries()) {
    const last = commands.at(-1);
    if (each.startsWith("$ ")) commands.push({ line: line + at + 1, text: each.slice(2), output: [] });
    else if (last?.text.endsWith("\\")) last.text = `${last.text.slice(0, -1)}${each.trim()}`;
    else last?.output.push(each);
  }
  return commands;
}

/** True if the source contains the lines of a quote, without their common indentation. */
export function quotes(source: string, quote: string): boolean {
  return ["", "  ", "    ", "      "].some((indent) => {
    const indented = quote.replaceAll(/^(?=.)/gm, indent);
    return `\n${source}`.includes(`\n${indented}`);
  });
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

/** True if the output matches the page. Ignores line ends and trailing spaces. */
export function prints(printed: string, expected: readonly string[]): boolean {
  const lines = printed
    .trimEnd()
    .split("\n")
    .map((line) => line.trimEnd());
  const pattern = expected
    .map((line) => line.trimEnd())
    .map((line) => (line === "..." ? "(?:.*\\n)*?" : `${line.split("...").map(escaped).join(".*")}\\n`))
    .join("");
  return new RegExp(`^${pattern}$`).test(
    lines[0] === "" && lines.length === 1 ? "" : `${lines.join("\n")}\n`,
  );
}
