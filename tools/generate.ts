/**
 * `npm run generate`: writes the code that is generated from protocol files, and the pages of the dashboard and of the issue board. They are committed, so
 * that only a change of a protocol file needs buf, which this command installs.
 *
 *   npm run generate                             writes them
 *   npm run generate -- --check                  fails if the committed files differ from the generators' output
 *   npm run generate -- --check --if-available   checks the pages only, and prints the reason, if buf cannot be installed
 *   npm run generate -- --page                   the pages only
 */
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { parseArgs } from "node:util";
import * as board from "../examples/issue-board/page/build.ts";
import * as conformance from "../packages/grpc-wire/conformance/generate.ts";
import * as grpcWire from "../packages/grpc-wire/proto/generate.ts";
import * as page from "../packages/tollgate/dashboard-page/build.ts";
import * as tollgate from "../packages/tollgate/proto/generate.ts";
import { installBuf } from "./buf.ts";

interface Generator {
  readonly generated: string;
  generate(folder: string): void;
}
/** These need buf. */
const protocols: readonly Generator[] = [tollgate, grpcWire, conformance];

/** @returns paths of files that differ, or that only one side has */
function differences({ generated, generate }: Generator): string[] {
  const folder = mkdtempSync(join(tmpdir(), "generate-"));
  try {
    generate(folder);
    const fresh = contents(folder);
    const committed = contents(generated);
    const files = new Set([...fresh.keys(), ...committed.keys()]);
    return [...files]
      .filter((file) => fresh.get(file) !== committed.get(file))
      .map((file) => relative(process.cwd(), join(generated, file)));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function contents(folder: string): Map<string, string> {
  const files = globSync("**/*.ts", { cwd: folder });
  return new Map(files.map((file) => [file, readFileSync(join(folder, file), "utf8")]));
}

const { values } = parseArgs({
  options: {
    check: { type: "boolean", default: false },
    "if-available": { type: "boolean", default: false },
    page: { type: "boolean", default: false },
  },
});
const reason = values.page ? undefined : installBuf();
const usesBuf = reason === undefined && !values.page;
const pages: readonly Generator[] = [page, board];
const generators = usesBuf ? [...pages, ...protocols] : pages;
if (reason !== undefined) {
  console.error(`the code of the protocol files was not ${values.check ? "checked" : "written"}: ${reason}`);
  if (!values["if-available"]) process.exitCode = 1;
}
if (values.check) {
  const files = generators.flatMap(differences);
  for (const file of files) console.error(`${file} differs from its sources: npm run generate`);
  if (files.length > 0) process.exit(1);
  process.exit();
}
for (const { generated, generate } of generators) generate(generated);
