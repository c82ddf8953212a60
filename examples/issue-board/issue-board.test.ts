import { test } from "node:test";
import { scenario } from "./scenario.ts";
import { serveBoard } from "./served-board.ts";

for (const [name, run] of scenario({ url: await serveBoard("file") })) test(name, run);
