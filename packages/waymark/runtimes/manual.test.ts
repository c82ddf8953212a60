/** Runs the commands of the manual's pages for other runtimes, on the runtime that each names. */
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { installPacked } from "../test/support/packed.ts";
import { blocksOf } from "../test/support/pages.ts";
import { linkBundler } from "./packed.ts";
import { PageCommands } from "./page-commands.ts";

/** The pages, with the heading from which on the test types the commands. It writes the files above, too. */
const PAGES: readonly [page: string, heading: string][] = [
  ["deployment.md", "# Deployment"],
  ["own-server.md", "### Bun, Deno and workers"],
];

for (const [page, heading] of PAGES) {
  const text = readFileSync(new URL(`../../../docs/waymark/${page}`, import.meta.url), "utf8");
  const begin = text.slice(0, text.indexOf(`${heading}\n`)).split("\n").length;
  describe(page, async () => {
    const folder = await installPacked("waymark");
    linkBundler(folder);
    const commands = new PageCommands(folder);
    for (const block of blocksOf(text)) {
      if (block.language !== "console") {
        if (block.info !== "") test(`${block.info}, line ${block.line}`, () => commands.write(block));
      } else if (block.line > begin)
        test(`${block.info || "every runtime"}, line ${block.line}`, async () => {
          await (await commands.run(block))?.stop();
        });
    }
  });
}
