/**
 * `npm run bundle`: writes Tollgate as modules that need no `node_modules`, with a launcher, the example configuration
 * and the licenses of its parts. A thread keeps the text of every module that it loads: as one file, the bundle took 10 MB
 * more in each thread.
 *
 *   npm run bundle                 into `dist/`
 *   npm run bundle -- FOLDER       into FOLDER
 */
import {
  chmodSync,
  copyFileSync,
  cpSync,
  globSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type Plugin } from "esbuild";
import { checkRequires, NODE_BUNDLE } from "../../../tools/bundle-plugins.ts";
import { licensesOf } from "../../../tools/licenses.ts";

const tollgate = fileURLToPath(new URL("..", import.meta.url));
const root = join(tollgate, "..", "..");

/** Writes the bundle into a folder, which it creates. */
export async function bundle(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const modules = join(folder, "modules");
  rmSync(modules, { recursive: true, force: true });
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: { tollgate: join(tollgate, "image", "entry.ts") },
    outdir: modules,
    outExtension: { ".js": ".mjs" },
    splitting: true,
    ...NODE_BUNDLE,
    plugins: [bundledInstallation, ...NODE_BUNDLE.plugins],
  });
  for (const name of globSync("*.mjs", { cwd: modules }))
    checkRequires(readFileSync(join(modules, name), "utf8"));
  writeFileSync(join(folder, "LICENSES.txt"), licensesOf(Object.keys(metafile.inputs), root));
  copyFileSync(join(root, "LICENSE"), join(folder, "LICENSE"));
  cpSync(join(tollgate, "examples"), join(folder, "examples"), { recursive: true });
  const launcher = join(folder, "launcher.mjs");
  copyFileSync(new URL("./launcher.mjs", import.meta.url), launcher);
  chmodSync(launcher, 0o755);
}

const bundledInstallation: Plugin = {
  name: "installation",
  setup({ onResolve }) {
    onResolve({ filter: /\/installation\.ts$/ }, ({ kind }) =>
      kind === "entry-point" ? undefined : { path: join(tollgate, "image", "installation.ts") },
    );
  },
};

if (import.meta.main) {
  const folder = resolve(process.argv[2] ?? join(root, "dist"));
  await bundle(folder);
  console.log(`wrote ${relative(process.cwd(), folder)}/launcher.mjs, which runs Tollgate`);
}
