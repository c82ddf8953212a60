/**
 * `npm run generate`: writes the code that is generated from protocol files. It is committed, so that only a change
 * of a protocol file needs buf, which this command installs.
 *
 *   npm run generate                             writes it
 *   npm run generate -- --check                  fails if the committed code differs from buf's output
 *   npm run generate -- --check --if-available   prints the reason and succeeds if buf cannot be installed
 */
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { parseArgs } from "node:util";
import * as conformance from "../packages/grpc-wire/conformance/generate.ts";
import * as grpcWire from "../packages/grpc-wire/proto/generate.ts";
import * as tollgate from "../packages/tollgate/proto/generate.ts";
import { installBuf } from "./buf.ts";

interface Generator {
  readonly generated: string;
  generate(folder: string): void;
}
const generators: readonly Generator[] = [tollgate, grpcWire, conformance];

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
  },
});
const reason = installBuf();
if (reason !== undefined) {
  console.error(`the generated code was not ${values.check ? "checked" : "written"}: ${reason}`);
  process.exit(values["if-available"] ? 0 : 1);
}
if (values.check) {
  const files = generators.flatMap(differences);
  for (const file of files) console.error(`${file} differs from its protocol files: npm run generate`);
  process.exit(files.length === 0 ? 0 : 1);
}
for (const { generated, generate } of generators) generate(generated);
