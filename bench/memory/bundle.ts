import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compile } from "../../packages/tollgate/image/assemble.ts";
import { bundle } from "../../packages/tollgate/image/bundle.ts";

/** The embedded store of all measurements of memory. */
export const storeEnv: Readonly<Record<string, string>> = {
  EMBEDDED_STORE_SIZE_IN_BYTES: String(16 * 2 ** 20),
};
/** With the settings of the Dockerfile. */
export const bundleEnv: Readonly<Record<string, string>> = { ...storeEnv, ...imageEnv() };

function imageEnv(): Record<string, string> {
  const dockerfile = readFileSync(new URL("../../Dockerfile", import.meta.url), "utf8");
  const settings = /^ENV (.*)$/m
    .exec(dockerfile)![1]!
    .split(" ")
    .map((setting) => {
      const [name, ...value] = setting.split("=");
      return [name!, value.join("=")];
    });
  return Object.fromEntries(settings.filter(([name]) => name !== "HOME"));
}

/** Makes the image's bundle for as long as `measure` runs. @param measure gets the path of the launcher */
export async function withBundle<T>(measure: (launcher: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "bench-bundle-"));
  try {
    await bundle(folder);
    await compile(folder);
    return await measure(join(folder, "launcher.mjs"));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
