/** `npm run manual -w packages/tollgate`: writes the generated parts of the manual. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { withCatalogue } from "../src/observe/catalogue-table.ts";
import { settingsManual } from "../src/settings/manual.ts";
import { withSwitchingTables } from "./switching-table.ts";

const docs = join(import.meta.dirname, "..", "..", "..", "docs");

writeFileSync(join(docs, "settings.md"), settingsManual());

const parts = { "observability.md": withCatalogue, "switching.md": withSwitchingTables };
for (const [page, write] of Object.entries(parts)) {
  const path = join(docs, page);
  writeFileSync(path, write(readFileSync(path, "utf8")));
}
