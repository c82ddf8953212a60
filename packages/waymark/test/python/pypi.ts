/**
 * The table of cases under the newest servers of PyPI, which requires the network. Run by hand:
 *
 * node --test packages/waymark/test/python/pypi.ts
 *
 * PYTHON selects the interpreter. Default: python3.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { freePort } from "../support/free-port.ts";
import { type Driver, requestOf } from "../table/case.ts";
import { cases } from "../table/cases.ts";
import { checkAnswer } from "../table/check.ts";
import { socketDriver } from "../table/drivers.ts";
import { PythonServer } from "./server.ts";

const FOLDER = join(import.meta.dirname, "..", "fixtures", "python");
const venv = mkdtempSync(join(tmpdir(), "waymark-pypi-"));
after(() => rmSync(venv, { recursive: true, force: true }));

execFileSync(process.env.PYTHON ?? "python3", ["-m", "venv", venv]);
const packages = ["uvicorn[standard]", "hypercorn", "granian", "daphne", "gunicorn", "gevent", "waitress"];
execFileSync(join(venv, "bin", "pip"), ["install", "-q", ...packages], { stdio: "inherit" });

const ASGI = "waymark.asgi:application";
const WSGI = "waymark.wsgi:application";

type Exceptions = Readonly<Record<string, string>>;
const DECODED = "provides only the decoded path, which does not distinguish an escape from its character";
const LENGTH = "sends an empty body with HEAD if there is no Content-Length";

/** Rows that a server changes or rejects, each with the reason. */
const EXCEPTIONS: Readonly<Record<string, Exceptions>> = {
  uvicorn: { "absolute-form without a path": "httptools does not find a path in it" },
  "granian, WSGI": {
    "an encoded slash stays inside its segment": DECODED,
    "a malformed escape in the path": DECODED,
    "a truncated escape in the path": DECODED,
    "an encoded dot-dot is text": DECODED,
  },
  waitress: { "HEAD does not run a generator": LENGTH, "HEAD of a Response": LENGTH },
};

const commands: Readonly<Record<string, (port: number) => string[]>> = {
  uvicorn: (port) => ["uvicorn", `--port=${port}`, "--factory", "waymark.asgi:factory"],
  "uvicorn, h11 and asyncio": (port) => ["uvicorn", `--port=${port}`, "--http=h11", "--loop=asyncio", ASGI],
  hypercorn: (port) => ["hypercorn", `--bind=127.0.0.1:${port}`, ASGI],
  "hypercorn, a factory": (port) => ["hypercorn", `--bind=127.0.0.1:${port}`, "waymark.asgi:factory()"],
  granian: (port) => ["granian", "--interface=asgi", `--port=${port}`, ASGI],
  "granian, a factory": (port) => [
    "granian",
    "--interface=asgi",
    "--factory",
    `--port=${port}`,
    "waymark.asgi:factory",
  ],
  "granian, WSGI": (port) => ["granian", "--interface=wsgi", `--port=${port}`, WSGI],
  daphne: (port) => ["daphne", "--port", String(port), ASGI],
  gunicorn: (port) => ["gunicorn", `--bind=127.0.0.1:${port}`, "--limit-request-line=8190", WSGI],
  "gunicorn -k gthread": (port) => [
    "gunicorn",
    `--bind=127.0.0.1:${port}`,
    "--limit-request-line=8190",
    "--threads=4",
    WSGI,
  ],
  "gunicorn -k gevent": (port) => [
    "gunicorn",
    `--bind=127.0.0.1:${port}`,
    "--limit-request-line=8190",
    "--worker-class=gevent",
    WSGI,
  ],
  waitress: (port) => ["waitress-serve", `--listen=127.0.0.1:${port}`, WSGI],
};

for (const [name, command] of Object.entries(commands)) {
  describe(name, () => {
    let server: PythonServer;
    let driver: Driver;
    before(async () => {
      const [program, ...args] = command(await freePort());
      server = new PythonServer([join(venv, "bin", program!), ...args], FOLDER, { WAYMARK_APP: "table.ts" });
      await server.ready();
      driver = socketDriver(server.port);
    });
    after(() => server.stop());
    for (const row of cases) {
      if (EXCEPTIONS[name]?.[row.name] !== undefined) continue;
      test(row.name, async () => checkAnswer(row, await driver(requestOf(row))));
    }
  });
}
