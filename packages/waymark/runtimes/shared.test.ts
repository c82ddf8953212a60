/**
 * Workers: what requests share. A promise of a request whose client has left never settles, so that no request may
 * wait for another one's.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { symlinkSync, writeFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { join } from "node:path";
import { after, test } from "node:test";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { installPacked } from "../test/support/packed.ts";
import { linkBundler, MODULES, waymark } from "./packed.ts";
import { serveWorker } from "./programs.ts";

const folder = await installPacked("waymark");
linkBundler(folder);
symlinkSync(join(MODULES, "jose"), join(folder, "node_modules", "jose"));

const { publicKey, privateKey } = await generateKeyPair("ES256");
const keys = JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: "1", alg: "ES256" }] });
const token = await new SignJWT({ sub: "ann" })
  .setProtectedHeader({ alg: "ES256", kid: "1" })
  .setExpirationTime("1h")
  .sign(privateKey);

/** The issuer: answers each request for its keys when the test says so. */
const asked: ServerResponse[] = [];
const issuer = createServer((_, response) => void asked.push(response)).listen(0, "127.0.0.1");
await once(issuer, "listening");
after(() => {
  issuer.closeAllConnections();
  issuer.close();
});

writeFileSync(
  join(folder, "controllers.ts"),
  `import { Controller } from "@tollway/waymark";
import { jwt } from "@tollway/waymark/kit/jwt";

const users = jwt({ algorithms: ["ES256"], jwks: "http://127.0.0.1:${(issuer.address() as AddressInfo).port}/keys" });

export class Account extends Controller {
  async GET() { return (await users(this)).sub; }
}
`,
);
writeFileSync(
  join(folder, "app.ts"),
  `import { Application } from "@tollway/waymark";
export const application = new Application();
`,
);
const file = join(folder, "worker.mjs");
await waymark(folder, "build", "--app=app.ts", "--target=worker", `--out=${file}`);

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
}

for (const date of ["oldest", "newest"] as const)
  test(`the ${date} date: keys that the first request was fetching when its client left`, async () => {
    asked.length = 0;
    const { port, url, stop } = await serveWorker(file, { date });
    const socket = connect(port, "127.0.0.1");
    socket.write(`GET /account HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${token}\r\n\r\n`);
    await until(() => asked.length === 1);
    const waiting = fetch(`${url}/account`, { headers: { authorization: `Bearer ${token}` } });
    await until(() => asked.length === 2);
    socket.resetAndDestroy();
    asked[1]!.end(keys);
    assert.equal(await (await waiting).json(), "ann");
    // The keys are there now.
    const third = await fetch(`${url}/account`, { headers: { authorization: `Bearer ${token}` } });
    assert.equal(await third.json(), "ann");
    assert.equal(asked.length, 2);
    await stop();
  });
