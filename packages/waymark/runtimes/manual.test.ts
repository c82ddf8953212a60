/** Runs the commands of the manual's page on deployment, on the runtime that each names. */
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { installPacked } from "../test/support/packed.ts";
import { blocksOf } from "../test/support/pages.ts";
import { linkBundler } from "./packed.ts";
import { PageCommands } from "./page-commands.ts";

const PAGE = fileURLToPath(new URL("../../../docs/waymark/deployment.md", import.meta.url));

const folder = await installPacked("waymark");
linkBundler(folder);
const commands = new PageCommands(folder);

for (const block of blocksOf(readFileSync(PAGE, "utf8"))) {
  if (block.language === "console")
    test(`${block.info || "every runtime"}, line ${block.line}`, async () => {
      await (await commands.run(block))?.stop();
    });
  else if (block.info !== "") test(`${block.info}, line ${block.line}`, () => commands.write(block));
}
