/**
 * `npm run size`: prints the size of each published package, packed and unpacked, of Waymark in a bundle and in a
 * worker, and of everything that `npm ci` installs. Fails if one of the last two is above its limit.
 */
import { spawnSync } from "node:child_process";
import { lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { packAll } from "./pack-all.ts";

const MiB = 1024 ** 2;
const LIMIT = 350 * MiB;
/** Bytes of the example `hello` as a worker, compressed. */
const WORKER_LIMIT = 30_000;
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

/** The example `hello` as `waymark build --target=worker` writes it. */
function buildWorker(folder: string): Buffer {
  const out = join(folder, "worker.mjs");
  const command = join(root, "packages", "waymark", "bin", "waymark.mjs");
  const args = [command, "build", "--prefix=controllers", "--target=worker", `--out=${out}`];
  const cwd = join(root, "examples", "hello");
  const { status, stderr } = spawnSync(process.execPath, args, { cwd, encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
  return readFileSync(out);
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
  for (const { name, size, unpackedSize, files } of await packAll(folder))
    line(`@tollway/${name}`, kilobytes(size), kilobytes(unpackedSize), String(files));
  const bundle = await bundleWaymark();
  line("", "minified", "and gzipped");
  line("waymark in a bundle", kilobytes(bundle.length), kilobytes(gzipSync(bundle).length));
  const worker = buildWorker(folder);
  const compressed = gzipSync(worker, { level: 9 }).length;
  line("hello as a worker", kilobytes(worker.length), kilobytes(compressed));
  if (compressed > WORKER_LIMIT) {
    console.error(`hello as a worker has more than ${kilobytes(WORKER_LIMIT)} compressed`);
    process.exitCode = 1;
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
