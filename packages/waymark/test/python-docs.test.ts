import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { PythonServer, pythonEnvironment } from "./python/server.ts";
import { CONTROLLERS, checkFirstMinute } from "./support/first-minute.ts";
import { freePort } from "./support/free-port.ts";
import { command, installPacked } from "./support/packed.ts";

const root = join(import.meta.dirname, "..", "..", "..");
const pages = ["docs/waymark/serving.md", "packages/waymark/python/README.md"];
/** The `sh` blocks of both pages; the pages share some. */
const shell = new Set(
  pages.flatMap((page) =>
    [...readFileSync(join(root, page), "utf8").matchAll(/^```sh\n(.*?)^```$/gms)].map(([, text]) =>
      text!.trim(),
    ),
  ),
);
const servers = [...shell].filter((line) => /^FRAMEWORK_PREFIX=controllers .+$/.test(line));
const setup = [...shell].find((line) => line.startsWith("export PYTHONPATH="))!;
const wheel = [...shell].find((line) => line.startsWith("pip wheel"))!;

const folder = await installPacked("waymark");
writeFileSync(join(folder, "controllers.ts"), CONTROLLERS);

/** The environment of a user: only the programs on the PATH. */
function environment(): Record<string, string> {
  return {
    PATH: `${join(folder, "node_modules", ".bin")}:${dirname(process.execPath)}:/usr/bin:/bin`,
    PYTHONPATH: "",
  };
}

/** Sets the port of a server's command line, because the tests share a machine. */
function onPort(line: string, port: number): string {
  if (line.includes("uvicorn")) return `${line} --port=${port}`;
  if (line.includes("daphne")) return `${line} --port=${port}`;
  return `${line} --bind=127.0.0.1:${port}`;
}

test("every command of the pages is run", () => {
  const run = new Set([...servers, setup, wheel, "npm install @tollway/waymark"]);
  assert.deepEqual(
    [...shell].filter((text) => !run.has(text)),
    [],
  );
});

test("the manual names all four servers", () => {
  for (const name of ["uvicorn", "hypercorn", "daphne", "gunicorn"])
    assert.ok(
      servers.some((line) => line.includes(name)),
      name,
    );
});

for (const line of servers) {
  test(`as printed, from the packed package: ${line}`, async () => {
    const script = `${setup}\nexec env ${onPort(line, await freePort())}`;
    const server = await new PythonServer(["/bin/sh", "-c", script], folder, environment()).ready();
    await checkFirstMinute(server.url);
    await server.stop();
  });
}

test("as a wheel, built as printed, with the npm package in a folder above", async () => {
  const run = promisify(execFile);
  const wheels = join(folder, "wheels");
  // Debian's pip, because the servers are from Debian. It gets a copy, because building writes files beside
  // the sources.
  await command(folder, "cp", "-r", "node_modules/@tollway/waymark/python", "python");
  const line = wheel
    .replace("pip ", "/usr/bin/python3 -m pip -q --disable-pip-version-check ")
    .replace("--wheel-dir .", "--wheel-dir wheels")
    .replace("$(npx waymark python-path)", "./python");
  const env = pythonEnvironment(environment());
  await run("/bin/sh", ["-c", line], { cwd: folder, env });
  await run("/bin/sh", ["-c", "cd wheels && /usr/bin/python3 -m zipfile -e *.whl ."], { cwd: folder, env });
  const installed = { ...environment(), PYTHONPATH: wheels, FRAMEWORK_PREFIX: "controllers" };
  const server = await new PythonServer(
    ["/usr/bin/gunicorn", "--bind=127.0.0.1:0", "waymark.wsgi:application"],
    folder,
    installed,
  ).ready();
  await checkFirstMinute(server.url);
  await server.stop();
  const typed = await run("/bin/sh", ["-c", "ls wheels/waymark/py.typed wheels/*.dist-info/METADATA"], {
    cwd: folder,
  });
  assert.match(typed.stdout, /py\.typed/);
});
