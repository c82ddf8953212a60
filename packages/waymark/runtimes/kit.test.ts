/** The parts of the kit on each runtime, as source and as a bundle. */
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { command, installPacked } from "../test/support/packed.ts";
import { deploymentsOf } from "./deployments.ts";
import { asker, kitCases } from "./kit/cases.ts";
import { linkBundler, MODULES, waymark } from "./packed.ts";

const folder = await installPacked("waymark");
linkBundler(folder);
for (const name of ["jose", "@opentelemetry/api"]) {
  const link = join(folder, "node_modules", name);
  mkdirSync(dirname(link), { recursive: true });
  symlinkSync(join(MODULES, name), link);
}
cpSync(fileURLToPath(new URL("kit", import.meta.url)), folder, {
  recursive: true,
  filter: (path) => !path.endsWith("cases.ts"),
});
mkdirSync(join(folder, "public"));
writeFileSync(join(folder, "public", "hello.txt"), "hello world\n");
await command(folder, "npm", "pkg", "set", "type=module");
await waymark(folder, "build", "--prefix=controllers", "--prefix=disk");

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await setTimeout(10);
}

const deployments = deploymentsOf({ folder, app: "app-disk.ts", workerApp: "app.ts" });
for (const { name, runtime, serve } of deployments)
  test(name, async (context) => {
    const { url, printed, stop } = await serve();
    const cases = kitCases({
      ask: asker(url),
      printed,
      // A worker has Brotli where it has the modules of Node.
      hasBrotli: !name.endsWith("oldest date"),
      hasFiles: runtime !== "workerd",
      isSecure: runtime === "lambda",
      until,
    });
    for (const [each, run] of cases) await context.test(each, run);
    await stop();
  });
