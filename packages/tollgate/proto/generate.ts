/**
 * `npm run generate -w packages/tollgate`: TypeScript from the protocol files of this folder, with buf and
 * protoc-gen-es, offline. What it writes is committed, so that neither a user nor a developer needs to run it;
 * `test/proto/generated.test.ts` keeps the two equal.
 */
import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";

const require = createRequire(import.meta.url);

/**
 * Generates into a folder, which is emptied first.
 * @throws {Error} with buf's own message where a protocol file is wrong
 */
export function generate(folder: string): void {
  const template = {
    version: "v2",
    clean: true,
    plugins: [
      {
        local: [process.execPath, require.resolve("@bufbuild/protoc-gen-es/bin/protoc-gen-es")],
        out: folder,
        opt: ["target=ts", "import_extension=ts", "erasable_syntax=true"],
      },
    ],
  };
  const buf = require.resolve("@bufbuild/buf/bin/buf");
  execFileSync(process.execPath, [buf, "generate", "--template", JSON.stringify(template)], {
    cwd: import.meta.dirname,
    stdio: "pipe",
  });
}

if (import.meta.main) generate(join(import.meta.dirname, "..", "src", "protocol", "gen"));
