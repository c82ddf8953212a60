/** `npm run manual -w packages/tollgate`: writes the generated parts of the manual. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { withCatalogue } from "../src/observe/catalogue-table.ts";
import { settingsManual } from "../src/settings/manual.ts";

const docs = join(import.meta.dirname, "..", "..", "..", "docs");

writeFileSync(join(docs, "settings.md"), settingsManual());

const observability = join(docs, "observability.md");
writeFileSync(observability, withCatalogue(readFileSync(observability, "utf8")));
