/**
 * Packs the published packages as `npm publish` would. Keeps the tarballs in `.suites`, because several tests and checks
 * need them, and packing takes long. A release packs again.
 */
import { execFile } from "node:child_process";
import { copyFile, cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative, sep } from "node:path";
import { promisify } from "node:util";
import { hashOf, keptFolder } from "./kept-folders.ts";
import { userEnvironment } from "./user-environment.ts";

const run = promisify(execFile);
const REPOSITORY = join(import.meta.dirname, "..");
/** The tarballs of the four packages, for a few versions of the sources. */
const KEPT = { root: join(REPOSITORY, ".suites", "packed"), most: 24 };

/** Each package needs only earlier packages of this list. */
export const published = ["grpc-wire", "waymark", "tollgate", "create-waymark"] as const;
export type Published = (typeof published)[number];

/** No packed file comes from these folders of a package. */
const LEFT_OUT = new Set(["node_modules", "test", "dist", "chaos", "fuzz", "conformance", "image"]);
/** Paths outside the packages that the packer reads, except `node_modules`. */
const SHARED = [
  "package.json",
  "tsconfig.json",
  "LICENSE",
  "CHANGELOG.md",
  "tools/pack.ts",
  "tools/licenses.ts",
  "tools/bundle-plugins.ts",
];

export interface Packed {
  readonly name: Published;
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
 * Puts the tarballs of packages into a folder.
 * @throws {Error} if packing fails, or leaves package.json changed
 */
export async function packInto(folder: string, names: readonly Published[] = published): Promise<Packed[]> {
  const packed: Packed[] = [];
  for (const name of names) {
    const kept = await keptTarball(name);
    const report = JSON.parse(await readFile(join(kept, "report.json"), "utf8")) as Report;
    const { filename, size, unpackedSize, entryCount } = report;
    const tarball = join(folder, filename);
    await copyFile(join(kept, filename), tarball);
    packed.push({ name, tarball, size, unpackedSize, files: entryCount });
  }
  return packed;
}

/** A folder with the tarball of a package and npm's report of it. */
async function keptTarball(name: Published): Promise<string> {
  const key = await keyOf(name);
  return keptFolder(KEPT, `${name}-${key}`, async (empty) => {
    await pack(name, empty);
    if ((await keyOf(name)) !== key) throw new Error(`${name}: its sources changed while npm packed it`);
  });
}

/** A hash of everything that the tarball of a package depends on. */
async function keyOf(name: Published): Promise<string> {
  const packages = [...(await dependenciesOf(name)), name];
  const files = await Promise.all(packages.map(filesOf));
  return hashOf(REPOSITORY, [...SHARED, "package-lock.json", ...files.flat()], [process.version]);
}

/** The packages of this repository that a package needs. */
async function dependenciesOf(name: Published): Promise<Published[]> {
  const manifest = await readFile(join(REPOSITORY, "packages", name, "package.json"), "utf8");
  const { dependencies = {} } = JSON.parse(manifest) as { dependencies?: Readonly<Record<string, string>> };
  return published.filter((other) => `@tollway/${other}` in dependencies);
}

/** The files of a package that a tarball may contain or depend on, relative to the repository. */
async function filesOf(name: Published): Promise<string[]> {
  const folder = join(REPOSITORY, "packages", name);
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => isPacked(folder, path))
    .map((path) => relative(REPOSITORY, path));
}

function isPacked(folder: string, path: string): boolean {
  return !LEFT_OUT.has(relative(folder, path).split(sep)[0]!);
}

/** Runs `npm pack` on a copy, because packing rewrites package.json for a moment. Adds `report.json`. */
async function pack(name: Published, destination: string): Promise<void> {
  const work = await mkdtemp(join(tmpdir(), "tollway-pack-"));
  try {
    for (const file of SHARED) await cp(join(REPOSITORY, file), join(work, file));
    await mkdir(join(work, "node_modules", "@tollway"), { recursive: true });
    for (const library of await readdir(join(REPOSITORY, "node_modules")))
      if (library !== "@tollway" && library !== ".package-lock.json")
        await symlink(join(REPOSITORY, "node_modules", library), join(work, "node_modules", library));
    for (const each of [...(await dependenciesOf(name)), name]) await copyPackage(each, work);
    const folder = join(work, "packages", name);
    const manifest = join(folder, "package.json");
    const before = await readFile(manifest, "utf8");
    const { stdout } = await run("npm", ["pack", "--json", "--silent", "--pack-destination", destination], {
      cwd: folder,
      env: userEnvironment(),
      maxBuffer: 16 * 1024 * 1024,
    });
    if ((await readFile(manifest, "utf8")) !== before)
      throw new Error(`${name}: postpack does not restore package.json`);
    // An array, or an object whose members are packages, depending on npm's version.
    const report = Object.values(JSON.parse(stdout) as Record<string, Report>)[0]!;
    await writeFile(join(destination, "report.json"), JSON.stringify(report));
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function copyPackage(name: Published, work: string): Promise<void> {
  const original = join(REPOSITORY, "packages", name);
  const copy = join(work, "packages", name);
  await cp(original, copy, { recursive: true, filter: (path) => isPacked(original, path) });
  await symlink(copy, join(work, "node_modules", "@tollway", name));
}
