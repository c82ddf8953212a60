import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { Application, Controller } from "@tollway/waymark";
import { type JwtOptions, jwt } from "@tollway/waymark/kit/jwt";
import { base64url, exportJWK, exportSPKI, generateKeyPair, SignJWT, UnsecuredJWT } from "jose";
import { ask } from "./support.fixture.ts";

const SECRET = "a secret of thirty-two bytes, or more";
const RULES = { algorithms: ["HS256"], key: SECRET, issuer: "https://issuer.example", audience: "books" };
const CLAIMS = { iss: "https://issuer.example", aud: "books", sub: "ann" };

function applicationOf<User>(options: JwtOptions<User>): Application {
  const tokens = jwt(options);
  class Default extends Controller {
    claims!: unknown;
    override async before() {
      this.claims = await tokens(this);
    }
    GET() {
      return this.claims;
    }
  }
  return new Application({ controllers: { Default }, log: () => undefined });
}

async function answered(application: Application, token: string): Promise<[number, unknown]> {
  const response = await ask(application, "/", { headers: { authorization: `Bearer ${token}` } });
  const body = (await response.json()) as { detail?: string };
  return [response.status, response.status === 200 ? body : body.detail];
}

const now = Math.floor(Date.now() / 1000);

function signed(claims: object, header: object = {}, key: unknown = SECRET, alg = "HS256"): Promise<string> {
  const secret = typeof key === "string" ? new TextEncoder().encode(key) : (key as CryptoKey);
  return new SignJWT({ ...claims }).setProtectedHeader({ alg, ...header }).sign(secret);
}

test("a token must be signed, of this issuer, for this audience, and current", async () => {
  const application = applicationOf(RULES);
  const good = await signed({ ...CLAIMS, exp: now + 60 });
  const [head, body, signature] = good.split(".") as [string, string, string];
  const flipped = `${signature[0] === "A" ? "B" : "A"}${signature.slice(1)}`;
  const forged = base64url.encode(JSON.stringify({ ...CLAIMS, sub: "root", exp: now + 60 }));
  const INVALID = "the token is not valid";
  const rows: [string, string, number, unknown][] = [
    ["good", good, 200, { ...CLAIMS, exp: now + 60 }],
    ["within the tolerance", await signed({ ...CLAIMS, exp: now - 1 }), 200, { ...CLAIMS, exp: now - 1 }],
    ["expired", await signed({ ...CLAIMS, exp: now - 60 }), 401, "the token has expired"],
    ["without exp", await signed(CLAIMS), 401, INVALID],
    ["exp as a text", await signed({ ...CLAIMS, exp: String(now + 60) }).catch(() => "a.b.c"), 401, INVALID],
    ["not yet valid", await signed({ ...CLAIMS, exp: now + 60, nbf: now + 30 }), 401, INVALID],
    ["another issuer", await signed({ ...CLAIMS, iss: "https://evil.example", exp: now + 60 }), 401, INVALID],
    ["another audience", await signed({ ...CLAIMS, aud: "films", exp: now + 60 }), 401, INVALID],
    ["another secret", await signed({ ...CLAIMS, exp: now + 60 }, {}, `${SECRET}!`), 401, INVALID],
    [
      "another algorithm",
      await signed({ ...CLAIMS, exp: now + 60 }, {}, SECRET, "HS384").catch(() => "x"),
      401,
      INVALID,
    ],
    ["alg none", new UnsecuredJWT(CLAIMS).setExpirationTime(now + 60).encode(), 401, INVALID],
    ["alg None", `${base64url.encode('{"alg":"None"}')}.${body}.`, 401, INVALID],
    ["a changed signature", `${head}.${body}.${flipped}`, 401, INVALID],
    ["without a signature", `${head}.${body}.`, 401, INVALID],
    ["changed claims", `${head}.${forged}.${signature}`, 401, INVALID],
    ["an unknown critical header", await criticalToken(), 401, INVALID],
    ["two parts", `${head}.${body}`, 401, INVALID],
    ["no JSON", "a.b.c", 401, INVALID],
    ["an array of claims", `${head}.${base64url.encode("[]")}.${signature}`, 401, INVALID],
  ];
  for (const [name, token, status, expected] of rows)
    assert.deepEqual(await answered(application, token), [status, expected], name);
});

/** A token with an extension that the verifier does not know, but must understand. */
async function criticalToken(): Promise<string> {
  const head = base64url.encode(JSON.stringify({ alg: "HS256", crit: ["x"], x: 1 }));
  const body = base64url.encode(JSON.stringify({ ...CLAIMS, exp: now + 60 }));
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", new TextEncoder().encode(SECRET), algorithm, false, [
    "sign",
  ]);
  const signature = await crypto.subtle.sign("HMAC", key, new TextEncoder().encode(`${head}.${body}`));
  return `${head}.${body}.${base64url.encode(new Uint8Array(signature))}`;
}

test("a public key is not the secret of HS256", async () => {
  const { publicKey, privateKey } = await generateKeyPair("RS256", { extractable: true });
  const application = applicationOf({ algorithms: ["RS256"], key: publicKey });
  const claims = { exp: now + 60 };
  assert.equal((await answered(application, await signed(claims, {}, privateKey, "RS256")))[0], 200);
  const confused = await signed(claims, {}, await exportSPKI(publicKey));
  assert.deepEqual(await answered(application, confused), [401, "the token is not valid"]);
});

test("mistakes of the configuration end the start", async () => {
  const { publicKey } = await generateKeyPair("ES256");
  const jwks = "https://issuer.example/keys";
  const rows: [object, RegExp][] = [
    [{ key: SECRET }, /algorithms must list/],
    [{ key: SECRET, algorithms: [] }, /algorithms must list/],
    [{ key: SECRET, algorithms: ["none"] }, /without "none"/],
    [{ key: SECRET, algorithms: ["HS256", "NONE"] }, /without "none"/],
    [{ key: SECRET, algorithms: ["HS256", "RS256"] }, /a shared secret cannot verify RS256/],
    [{ key: publicKey, algorithms: ["ES256", "HS256"] }, /HS256 needs a shared secret/],
    [{ jwks, algorithms: ["HS256"] }, /HS256 needs a shared secret/],
    [{ key: "short", algorithms: ["HS256"] }, /at least 32 bytes, not 5/],
    [{ algorithms: ["HS256"] }, /either key or jwks/],
    [{ key: publicKey, jwks, algorithms: ["ES256"] }, /either key or jwks/],
    [{ jwks: "nonsense", algorithms: ["ES256"] }, /URL/],
  ];
  for (const [options, message] of rows) assert.throws(() => jwt(options as never), message);
});

test("the keys of an issuer: found by their id, and a 503 if they cannot be read", async () => {
  const { publicKey, privateKey } = await generateKeyPair("ES256", { extractable: true });
  const keys = JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: "k1", alg: "ES256" }] });
  const server = createServer((request, response) => {
    response.statusCode = request.url === "/keys" ? 200 : 500;
    response.setHeader("content-type", "application/json");
    response.end(request.url === "/keys" ? keys : "{}");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    const good = applicationOf({ algorithms: ["ES256"], jwks: `${base}/keys` });
    const claims = { exp: now + 60, sub: "ann" };
    assert.equal((await answered(good, await signed(claims, { kid: "k1" }, privateKey, "ES256")))[0], 200);
    assert.equal((await answered(good, await signed(claims, { kid: "k2" }, privateKey, "ES256")))[0], 401);
    const broken = applicationOf({ algorithms: ["ES256"], jwks: `${base}/none` });
    assert.deepEqual(await answered(broken, await signed(claims, { kid: "k1" }, privateKey, "ES256")), [
      503,
      "the keys of the token's issuer cannot be used",
    ]);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

test("claims become a typed user, or no user", async () => {
  const user = (claims: { sub?: string }) => claims.sub === "ann" && { name: claims.sub };
  const application = applicationOf({ ...RULES, user });
  assert.deepEqual(await answered(application, await signed({ ...CLAIMS, exp: now + 60 })), [
    200,
    { name: "ann" },
  ]);
  const other = await signed({ ...CLAIMS, sub: "bob", exp: now + 60 });
  assert.deepEqual(await answered(application, other), [401, "the token is not valid"]);
});
