import assert from "node:assert/strict";
import { test } from "node:test";
import { Application, Controller } from "@tollway/waymark";
import { type SecureHeadersOptions, secureHeaders } from "@tollway/waymark/kit";
import { applicationWith, ask, Default } from "./support.fixture.ts";

const DATA = "default-src 'none'; frame-ancestors 'none'";
const PAGES = "base-uri 'none'; object-src 'none'; frame-ancestors 'none'";

test("every answer has the headers, and pages have a policy of their own", async () => {
  const application = applicationWith([secureHeaders()]);
  for (const [path, policy] of [
    ["/json", DATA],
    ["/html", PAGES],
    ["/stream", DATA],
    ["/error", DATA],
    ["/nothing", DATA],
    ["/a/b/c", DATA],
  ] as const) {
    const { headers } = await ask(application, path);
    assert.equal(headers.get("content-security-policy"), policy, path);
    assert.equal(headers.get("x-content-type-options"), "nosniff");
    assert.equal(headers.get("x-frame-options"), "DENY");
    assert.equal(headers.get("referrer-policy"), "no-referrer");
    assert.equal(headers.get("cross-origin-resource-policy"), "same-origin");
    assert.equal(headers.get("strict-transport-security"), null, "only over HTTPS");
  }
});

test("HTTPS gets Strict-Transport-Security, also behind a trusted proxy", async () => {
  const rows: [SecureHeadersOptions["hsts"], string | null][] = [
    [undefined, "max-age=31536000"],
    [{ maxAge: 60, subdomains: true, preload: true }, "max-age=60; includeSubDomains; preload"],
    [false, null],
  ];
  for (const [hsts, expected] of rows) {
    const use = [secureHeaders(hsts === undefined ? {} : { hsts })];
    const direct = await ask(applicationWith(use), "https://localhost/");
    assert.equal(direct.headers.get("strict-transport-security"), expected);
    const behind = new Application({ controllers: { Default }, use, trustProxy: 1 });
    const forwarded = await ask(behind, "/", { headers: { "x-forwarded-proto": "https" } });
    assert.equal(forwarded.headers.get("strict-transport-security"), expected);
  }
  for (const maxAge of [-1, 1.5, Number.NaN])
    assert.throws(() => secureHeaders({ hsts: { maxAge } }), /seconds/);
});

test("a controller's header wins, and an option replaces or removes a header", async () => {
  class Own extends Controller {
    GET() {
      this.response.headers.set("x-frame-options", "SAMEORIGIN");
      this.response.headers.set("content-security-policy", "sandbox");
      return 1;
    }
  }
  const application = applicationWith(
    [
      secureHeaders({
        headers: { "Referrer-Policy": "same-origin", "x-content-type-options": false, "x-own": "1" },
      }),
    ],
    { Own, Default },
  );
  const own = (await ask(application, "/own")).headers;
  assert.equal(own.get("x-frame-options"), "SAMEORIGIN");
  assert.equal(own.get("content-security-policy"), "sandbox");
  assert.equal(own.get("referrer-policy"), "same-origin");
  assert.equal(own.get("x-content-type-options"), null);
  assert.equal(own.get("x-own"), "1");
  for (const [policy, expected] of [
    ["default-src 'self'", "default-src 'self'"],
    [false, null],
  ] as const) {
    const set = applicationWith([secureHeaders({ headers: { "Content-Security-Policy": policy } })]);
    assert.equal((await ask(set, "/html")).headers.get("content-security-policy"), expected);
  }
});
