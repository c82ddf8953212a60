/** `deploy/nginx` in a real NGINX. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, get, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { scaled } from "../../../tools/time-scale.ts";
import { type RunningTollgate, startTollgate } from "./tollgate.ts";

const recipe = join(import.meta.dirname, "..", "..", "..", "deploy", "nginx");
const read = (file: string) => readFileSync(join(recipe, file), "utf8");

/** Replaces a text that must be there. */
function replaced(text: string, from: string | RegExp, to: string): string {
  const result = text.replace(from, to);
  assert.notEqual(result, text, `no ${from} in the recipe`);
  return result;
}

describe("NGINX with auth_request", { timeout: scaled(60_000) }, () => {
  const folder = mkdtempSync(join(tmpdir(), "tollgate-nginx-"));
  const socket = join(folder, "socket");
  const application = createServer((_, response) => response.end("application"));
  let tollgate: RunningTollgate;
  let nginx: ReturnType<typeof spawn>;

  before(async () => {
    application.listen(0, "127.0.0.1");
    await once(application, "listening");
    const rules = replaced(
      read("rules.yaml"),
      "unit: second, requests_per_unit: 20",
      "unit: year, requests_per_unit: 3",
    );
    tollgate = await startTollgate({
      config: {
        "rules.yaml": replaced(
          rules,
          "unit: hour, requests_per_unit: 1000",
          "unit: year, requests_per_unit: 1",
        ),
      },
      env: { LIMIT_RESPONSE_HEADERS_ENABLED: "true" },
    });
    let server = replaced(read("nginx.conf"), "127.0.0.1:8080", tollgate.http);
    server = replaced(server, "127.0.0.1:9000", `127.0.0.1:${(application.address() as AddressInfo).port}`);
    server = replaced(server, "listen 8000", `listen unix:${socket}`);
    // A unix socket has no client address, so each request names its own, as behind another proxy.
    server = replaced(
      server,
      /listen unix:[^;]+;/,
      "$&\n  set_real_ip_from unix:;\n  real_ip_header X-Client;",
    );
    // The recipe's limits of time suit a network and not a busy machine.
    server = replaced(server, "proxy_connect_timeout 50ms", "proxy_connect_timeout 60s");
    server = replaced(server, "proxy_read_timeout 100ms", "proxy_read_timeout 60s");
    const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
      (name) => `${name}_temp_path ${folder}/${name};`,
    );
    writeFileSync(
      join(folder, "nginx.conf"),
      `daemon off; pid ${folder}/pid; error_log ${folder}/error.log; events {}\nhttp {\naccess_log off; ${temporary.join(" ")}\n${server}\n}\n`,
    );
    nginx = spawn("/usr/sbin/nginx", ["-e", "stderr", "-p", folder, "-c", join(folder, "nginx.conf")], {
      stdio: ["ignore", "ignore", "inherit"],
    });
    while (!existsSync(socket)) {
      assert.equal(nginx.exitCode, null, "NGINX ended at its start");
      await delay(10);
    }
  });

  after(async () => {
    const ended = once(nginx, "exit");
    nginx.kill();
    await ended;
    await tollgate.stop();
    application.close();
    rmSync(folder, { recursive: true });
  });

  async function ask(headers: Record<string, string>, path = "/") {
    const request = get({ socketPath: socket, path, headers: { host: "x", ...headers } });
    const [response] = await once(request, "response");
    response.resume();
    await once(response, "end");
    const { statusCode, headers: answered } = response as {
      statusCode: number;
      headers: IncomingHttpHeaders;
    };
    return {
      status: statusCode,
      remaining: answered["ratelimit-remaining"],
      limit: answered["ratelimit-limit"],
    };
  }

  test("passes requests up to the limit of their address, then refuses with 429, with headers", async () => {
    const answers = [];
    for (let count = 0; count < 4; count++) answers.push(await ask({ "x-client": "192.0.2.1" }));
    assert.deepEqual(answers, [
      { status: 200, limit: "3", remaining: "2" },
      { status: 200, limit: "3", remaining: "1" },
      { status: 200, limit: "3", remaining: "0" },
      { status: 429, limit: "3", remaining: "0" },
    ]);
  });

  test("limits an API key", async () => {
    const key = { "x-api-key": "key-1" };
    assert.equal((await ask({ ...key, "x-client": "192.0.2.2" })).status, 200);
    assert.equal((await ask({ ...key, "x-client": "192.0.2.3" })).status, 429);
    assert.equal((await ask({ "x-api-key": "key-2", "x-client": "192.0.2.3" })).status, 200);
  });

  const HOSTILE = ['"', 'a"}]}', "\\", "a b", "x".repeat(65), "ä", '"},{"key":"x","value":"'];
  for (const [index, value] of HOSTILE.entries())
    test(`an API key that is not 1 to 64 letters, digits, '.', '_' or '-' is ignored: ${value.slice(0, 30)}`, async () => {
      const header = { "x-api-key": Buffer.from(value).toString("latin1") };
      assert.equal((await ask({ ...header, "x-client": `192.0.2.${index + 10}` })).status, 200);
      assert.equal((await ask({ ...header, "x-client": `192.0.2.${index + 10}` })).status, 200);
    });

  test("callers cannot reach the internal locations", async () => {
    for (const path of ["/tollgate", "/tollgate-refused", "/tollgate-unavailable"])
      assert.equal((await ask({ "x-client": "192.0.2.4" }, path)).status, 404);
  });

  test("without Tollgate requests pass", async () => {
    await tollgate.stop();
    for (let count = 0; count < 5; count++)
      assert.equal((await ask({ "x-client": "192.0.2.1" })).status, 200);
  });
});
