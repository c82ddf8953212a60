/** Packs the published packages as `npm publish` would. */
import { execFile } from "node:child_process";
import { cp, mkdir, readdir, readFile, symlink } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const repository = join(import.meta.dirname, "..");

/** Each package needs only earlier packages of this list. */
export const published = ["grpc-wire", "waymark", "tollgate", "create-waymark"] as const;

/** The copy has none of these folders: no packed file comes from there. */
const LEFT_OUT = new Set(["node_modules", "test", "dist", "chaos", "fuzz", "conformance", "image"]);

export interface Packed {
  readonly name: (typeof published)[number];
  /** Path of the tarball. */
  readonly tarball: string;
  /** Bytes of the tarball. */
  readonly size: number;
  /** Bytes of its files. */
  readonly unpackedSize: number;
  readonly files: number;
}

/** The output of `npm pack --json` for a package. */
interface Report {
  readonly filename: string;
  readonly size: number;
  readonly unpackedSize: number;
  readonly entryCount: number;
}

/**
 * Runs `npm pack` on copies in an empty folder, because packing rewrites package.json for a moment.
 * @throws {Error} if packing fails, or leaves package.json changed
 */
export async function packAll(folder: string): Promise<Packed[]> {
  const COPIED = [
    "package.json",
    "tsconfig.json",
    "LICENSE",
    "CHANGELOG.md",
    "tools/pack.ts",
    "tools/licenses.ts",
  ];
  for (const file of [...COPIED, "tools/bundle-plugins.ts"])
    await cp(join(repository, file), join(folder, file));
  await mkdir(join(folder, "node_modules", "@tollway"), { recursive: true });
  for (const name of await readdir(join(repository, "node_modules"))) {
    if (name === "@tollway" || name === ".package-lock.json") continue;
    await symlink(join(repository, "node_modules", name), join(folder, "node_modules", name));
  }
  const packed: Packed[] = [];
  for (const name of published) packed.push(await pack(name, folder));
  return packed;
}

async function pack(name: Packed["name"], folder: string): Promise<Packed> {
  const copy = join(folder, "packages", name);
  await cp(join(repository, "packages", name), copy, {
    recursive: true,
    filter: (from) => !LEFT_OUT.has(from.slice(from.lastIndexOf("/") + 1)),
  });
  await symlink(copy, join(folder, "node_modules", "@tollway", name));
  const manifest = join(copy, "package.json");
  const before = await readFile(manifest, "utf8");
  const { stdout } = await run("npm", ["pack", "--json", "--silent", "--pack-destination", folder], {
    cwd: copy,
    maxBuffer: 16 * 1024 * 1024,
  });
  if ((await readFile(manifest, "utf8")) !== before)
    throw new Error(`${name}: postpack does not restore package.json`);
  // An array, or an object whose members are packages, depending on npm's version.
  const report = Object.values(JSON.parse(stdout) as Record<string, Report>)[0]!;
  const { filename, size, unpackedSize, entryCount } = report;
  return { name, tarball: join(folder, filename), size, unpackedSize, files: entryCount };
}
