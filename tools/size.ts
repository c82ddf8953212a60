/**
 * `npm run size`: prints the size of each published package, packed and unpacked, of Waymark in a bundle and in a
 * worker, and of everything that `npm ci` installs. Fails if one of the last two is above its limit.
 */
import { spawnSync } from "node:child_process";
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { packInto } from "./pack-all.ts";

const MiB = 1024 ** 2;
const LIMIT = 350 * MiB;
/** Bytes of a worker, compressed: of the example `hello`, and of one method without arguments. */
const WORKER_LIMITS = { hello: 15_000, smallest: 12_000 } as const;
/** The smallest application. */
const SMALLEST = `import { Controller } from "@tollway/waymark";
export class Default extends Controller { GET() { return "hello"; } }
`;
const root = join(import.meta.dirname, "..");

/** Minified, for an application that starts from a manifest: the reader of signatures is not part of it. */
async function bundleWaymark(): Promise<Buffer> {
  const { outputFiles } = await build({
    entryPoints: [join(root, "packages", "waymark", "src", "index.ts")],
    bundle: true,
    minify: true,
    platform: "node",
    format: "esm",
    external: ["@fastify/*"],
    write: false,
    logLevel: "error",
  });
  return Buffer.from(outputFiles[0]!.contents);
}

/** The controllers of a folder as `waymark build --target=worker` writes them. */
function buildWorker(cwd: string, out: string): Buffer {
  const command = join(root, "packages", "waymark", "bin", "waymark.mjs");
  const args = [command, "build", "--prefix=controllers", "--target=worker", `--out=${out}`];
  const { status, stderr } = spawnSync(process.execPath, args, { cwd, encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
  return readFileSync(out);
}

function smallest(folder: string): string {
  mkdirSync(join(folder, "node_modules", "@tollway"), { recursive: true });
  writeFileSync(join(folder, "controllers.ts"), SMALLEST);
  for (const name of ["@tollway/waymark", "typescript"])
    symlinkSync(join(root, "node_modules", name), join(folder, "node_modules", name));
  return folder;
}

/** Bytes on disk, where a file with several links counts once. */
function sizeOnDisk(folder: string, seen = new Set<number>()): number {
  let size = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    const { blocks, ino, nlink } = lstatSync(path);
    if (nlink > 1 && !entry.isDirectory()) {
      if (seen.has(ino)) continue;
      seen.add(ino);
    }
    size += blocks * 512 + (entry.isDirectory() ? sizeOnDisk(path, seen) : 0);
  }
  return size;
}

function line(name: string, ...figures: string[]): void {
  console.log(name.padEnd(32) + figures.map((figure) => figure.padStart(12)).join(""));
}

const kilobytes = (bytes: number) => `${(bytes / 1000).toFixed(1)} kB`;

const folder = mkdtempSync(join(tmpdir(), "tollway-size-"));
try {
  line("package", "packed", "unpacked", "files");
  for (const { name, size, unpackedSize, files } of await packInto(folder))
    line(`@tollway/${name}`, kilobytes(size), kilobytes(unpackedSize), String(files));
  const bundle = await bundleWaymark();
  line("", "minified", "and gzipped");
  line("waymark in a bundle", kilobytes(bundle.length), kilobytes(gzipSync(bundle).length));
  const out = join(folder, "worker.mjs");
  for (const [name, directory] of [
    ["hello", join(root, "examples", "hello")],
    ["smallest", smallest(join(folder, "smallest"))],
  ] as const) {
    const worker = buildWorker(directory, out);
    const compressed = gzipSync(worker, { level: 9 }).length;
    line(`${name} as a worker`, kilobytes(worker.length), kilobytes(compressed));
    if (compressed > WORKER_LIMITS[name]) {
      console.error(`${name} as a worker has more than ${kilobytes(WORKER_LIMITS[name])} compressed`);
      process.exitCode = 1;
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
const installed = sizeOnDisk(join(root, "node_modules"));
line("npm ci", `${Math.ceil(installed / MiB)} MiB`);
if (installed > LIMIT) {
  console.error(
    `npm ci installs more than ${LIMIT / MiB} MiB: install what only one command needs into a folder of its own`,
  );
  process.exitCode = 1;
}
