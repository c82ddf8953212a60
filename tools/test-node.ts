/**
 * `npm run test:node -- MAJOR`: the tests on another release of Node, which it installs into a folder of its own.
 *
 *   npm run test:node -- 24                      everything
 *   npm run test:node -- 24 packages/waymark     the arguments of `npm test`
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";

function installNode(major: string): string {
  const folder = join(import.meta.dirname, "..", ".suites", `node-${major}`);
  const bin = join(folder, "node_modules", "node", "bin");
  if (existsSync(join(bin, "node"))) return bin;
  mkdirSync(folder, { recursive: true });
  // The package's install script fetches the platform's package.
  writeFileSync(
    join(folder, "package.json"),
    JSON.stringify({ private: true, allowScripts: { node: true } }),
  );
  const { status } = spawnSync("npm", ["install", "--prefix", folder, "--no-audit", `node@${major}`], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  if (status !== 0) process.exit(status ?? 1);
  return bin;
}

const [major, ...words] = process.argv.slice(2);
if (major === undefined || !/^\d+$/.test(major)) {
  console.error("usage: npm run test:node -- MAJOR [arguments of npm test], such as 24");
  process.exit(2);
}
const bin = installNode(major);
const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` };
const node = join(bin, "node");
console.error(`Node ${spawnSync(node, ["--version"], { encoding: "utf8" }).stdout.trim()}`);
process.exit(spawnSync(node, ["tools/test.ts", ...words], { stdio: "inherit", env }).status ?? 1);
