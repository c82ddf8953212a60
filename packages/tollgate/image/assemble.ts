/**
 * `npm run image -- FOLDER`: assembles the root file system of the image in a new folder. The Dockerfile takes this step,
 * and `chroot` can run the folder where no container engine is available.
 *
 * The folder has Node with its libraries, the bundle with its compiled code, the Go service's programs as names of it,
 * certificate authorities, a user, and no shell.
 */
import { execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { getCACertificates } from "node:tls";
import { bundle } from "./bundle.ts";

/** The user of the image: `nonroot` of the distroless images. */
const USER = 65532;

const HOME = "/usr/lib/tollgate";

/** Names of the launcher: ours and those of the Go service's image. */
const PROGRAMS = ["tollgate", "ratelimit", "ratelimit_client", "ratelimit_config_check"];

/** @throws {Error} if the folder exists: a file of an earlier image could remain in it */
export async function assemble(root: string): Promise<void> {
  if (existsSync(root)) throw new Error(`${root} exists: name a new folder`);
  for (const folder of ["bin", "etc/ssl/certs", "home/nonroot", "proc", "tmp", "usr/bin", "usr/lib"])
    mkdirSync(join(root, folder), { recursive: true });
  chmodSync(join(root, "tmp"), 0o1777);
  copyNode(root);
  writeUsers(root);
  writeFileSync(
    join(root, "etc/ssl/certs/ca-certificates.crt"),
    `${getCACertificates("bundled").join("\n")}\n`,
  );
  const home = join(root, HOME);
  await bundle(home);
  const launcher = join(home, "launcher.mjs");
  // The image has no `env`.
  writeFileSync(launcher, readFileSync(launcher, "utf8").replace("#!/usr/bin/env node", "#!/usr/bin/node"));
  for (const program of PROGRAMS) symlinkSync(join(HOME, "launcher.mjs"), join(root, "bin", program));
  await compile(home);
  // Node makes its cache readable for one user only, and a umask of the build could do that to all files.
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (!entry.isSymbolicLink()) chmodSync(path, statSync(path).mode | (entry.isDirectory() ? 0o555 : 0o444));
  }
}

/** Copies this Node and the shared libraries that it names. Other libraries are part of Node. */
function copyNode(root: string): void {
  copyFileSync(process.execPath, join(root, "usr/bin/node"));
  chmodSync(join(root, "usr/bin/node"), 0o755);
  const libraries = execFileSync("ldd", [process.execPath], { encoding: "utf8" });
  for (const [path] of libraries.matchAll(/\/\S+(?= \(0x)/g)) {
    mkdirSync(join(root, dirname(path)), { recursive: true });
    copyFileSync(realpathSync(path), join(root, path));
  }
}

function writeUsers(root: string): void {
  const write = (name: string, ...lines: string[]) =>
    writeFileSync(join(root, "etc", name), `${lines.join("\n")}\n`);
  write(
    "passwd",
    "root:x:0:0:root:/root:/sbin/nologin",
    `nonroot:x:${USER}:${USER}:nonroot:/home/nonroot:/sbin/nologin`,
  );
  write("group", "root:x:0:", `nonroot:x:${USER}:`);
  write("nsswitch.conf", "hosts: files dns");
  write("os-release", 'NAME="Tollgate"', "ID=tollgate");
}

/** Runs the service of a bundle once, so that Node stores the code that its start compiles in the folder `cache`. */
export async function compile(home: string): Promise<void> {
  mkdirSync(join(home, "cache"));
  const launcher = join(home, "launcher.mjs");
  const env = { PATH: "", PORT: "0", GRPC_PORT: "0", DEBUG_PORT: "0", WORKERS: "2" };
  const serve = spawn(process.execPath, [launcher, "serve", "--example"], {
    env,
    stdio: ["ignore", "ignore", "pipe"],
  });
  const ended = new Promise<number | null>((done) => serve.once("exit", done));
  const log: string[] = [];
  for await (const line of createInterface(serve.stderr!)) {
    log.push(line);
    if (line.includes("Listening for HTTP")) serve.kill();
  }
  if ((await ended) !== 0) throw new Error(`Tollgate does not run from the bundle:\n${log.join("\n")}`);
}

if (import.meta.main) {
  const [folder] = process.argv.slice(2);
  if (folder === undefined) {
    console.error("usage: npm run image -- FOLDER");
    process.exit(2);
  }
  await assemble(resolve(folder));
}
