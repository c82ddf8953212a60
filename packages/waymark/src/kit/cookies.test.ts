import assert from "node:assert/strict";
import { test } from "node:test";
import { type Application, Controller } from "@tollway/waymark";
import { encryptedCookie, type SealedCookieOptions, signedCookie } from "@tollway/waymark/kit";
import fc from "fast-check";
import { encryption, signing } from "./sealing.ts";
import { applicationWith, ask } from "./support.fixture.ts";

const SECRET = "0123456789abcdef0123456789abcdef";
const OTHER = "another secret of thirty-two bytes";

class Plain extends Controller {
  GET() {
    return this.cookies;
  }
  POST({ name, value, ...options }: { name: string; value: string; [option: string]: string }) {
    const { maxAge, domain, path, sameSite } = options;
    this.setCookie(name, value, {
      ...(maxAge && { maxAge: Number(maxAge) }),
      ...(domain && { domain }),
      ...(path && { path }),
      ...(sameSite && { sameSite: sameSite as "none" }),
    });
  }
  DELETE(name: string) {
    this.deleteCookie(name);
  }
}

function post(fields: Record<string, string>): RequestInit {
  return { method: "POST", body: new URLSearchParams(fields) };
}

test("setCookie writes the name, the value and the attributes", async () => {
  const application = applicationWith([], { Plain });
  const rows: [string, Record<string, string>, string][] = [
    ["/plain", { name: "a", value: "1" }, "a=1; Path=/; HttpOnly; SameSite=Lax"],
    ["https://localhost/plain", { name: "a", value: "1" }, "a=1; Path=/; HttpOnly; Secure; SameSite=Lax"],
    [
      "/plain",
      { name: "a", value: "", maxAge: "60", path: "/b" },
      "a=; Max-Age=60; Path=/b; HttpOnly; SameSite=Lax",
    ],
    ["/plain", { name: "a", value: "1", sameSite: "none" }, "a=1; Path=/; HttpOnly; Secure; SameSite=None"],
    ["/plain", { name: "__Host-a", value: "1" }, "__Host-a=1; Path=/; HttpOnly; Secure; SameSite=Lax"],
    [
      "/plain",
      { name: "a", value: "é; b=2\r\n" },
      "a=%C3%A9%3B%20b%3D2%0D%0A; Path=/; HttpOnly; SameSite=Lax",
    ],
  ];
  for (const [path, fields, expected] of rows) {
    const { headers } = await ask(application, path, post(fields));
    assert.deepEqual(headers.getSetCookie(), [expected]);
  }
  const deleted = await ask(application, "/plain/a", { method: "DELETE" });
  assert.match(
    deleted.headers.get("set-cookie")!,
    /^a=; Max-Age=0; Path=\/; Expires=Thu, 01 Jan 1970 00:00:00 GMT; /,
  );
});

test("a cookie cannot contain injected attributes or headers, and has a bounded length", async () => {
  const application = applicationWith([], { Plain });
  for (const fields of [
    { name: "a; Path=/x", value: "1" },
    { name: "a\r\nset-cookie: b", value: "1" },
    { name: "", value: "1" },
    { name: "a", value: "1", domain: "x; Secure" },
    { name: "a", value: "1", path: "/\r\nx: y" },
    { name: "a", value: "x".repeat(4096) },
  ])
    assert.equal(
      (await ask(application, "/plain", post(fields))).status,
      500,
      JSON.stringify(fields).slice(0, 80),
    );
});

for (const [kind, make] of [
  ["signed", signedCookie],
  ["encrypted", encryptedCookie],
] as const) {
  const applicationOf = (options: SealedCookieOptions, name = "cart"): Application => {
    const cart = make<{ books: number[] }>(name, options);
    class Cart extends Controller {
      async GET() {
        return (await cart.read(this)) ?? "none";
      }
      async PUT(book: number) {
        const { books } = (await cart.read(this)) ?? { books: [] };
        await cart.write(this, { books: [...books, book] });
      }
      DELETE() {
        cart.delete(this);
      }
    }
    return applicationWith([], { Cart });
  };
  const put = async (application: Application): Promise<string> => {
    const response = await ask(application, "/cart/7", { method: "PUT" });
    return /=([^;]*)/.exec(response.headers.get("set-cookie")!)![1]!;
  };
  const read = async (application: Application, value: string, name = "cart"): Promise<unknown> =>
    (await ask(application, "/cart", { headers: { cookie: `${name}=${value}` } })).json();

  test(`${kind}: nobody can change the value, move it to another cookie, or use it with another secret`, async () => {
    const application = applicationOf({ secret: SECRET });
    const value = await put(application);
    assert.deepEqual(await read(application, value), { books: [7] });
    assert.equal(
      /books/.test(atob(value.split(".")[0]!.replaceAll("-", "+").replaceAll("_", "/"))),
      kind === "signed",
    );
    for (let at = 0; at < value.length; at++) {
      const changed = value[at] === "A" ? "B" : "A";
      assert.equal(
        await read(application, value.slice(0, at) + changed + value.slice(at + 1)),
        "none",
        `at ${at}`,
      );
    }
    for (const changed of [
      "",
      ".",
      "..",
      "a.b",
      "a.b.c",
      value.slice(1),
      `${value}A`,
      `${value}.`,
      `${value}=`,
    ])
      assert.equal(await read(application, changed), "none", changed);
    assert.equal(await read(applicationOf({ secret: OTHER }), value), "none");
    assert.equal(await read(applicationOf({ secret: SECRET }, "order"), value, "order"), "none");
  });

  test(`${kind}: secrets can be replaced`, async () => {
    const old = await put(applicationOf({ secret: OTHER }));
    const both = applicationOf({ secret: [SECRET, OTHER] });
    assert.deepEqual(await read(both, old), { books: [7] });
    assert.deepEqual(await read(applicationOf({ secret: SECRET }), await put(both)), { books: [7] });
  });

  test(`${kind}: the end of a cookie is sealed`, async (context) => {
    context.mock.timers.enable({ apis: ["Date"], now: 1_800_000_000_000 });
    const application = applicationOf({ secret: SECRET, maxAge: 60 });
    const value = await put(application);
    context.mock.timers.setTime(1_800_000_059_000);
    assert.deepEqual(await read(application, value), { books: [7] });
    context.mock.timers.setTime(1_800_000_060_000);
    assert.equal(await read(application, value), "none");
  });

  test(`${kind}: a short secret is refused`, () => {
    const rows: readonly (readonly [secret: string | string[], message: RegExp])[] = [
      ["", /^TypeError: `secret` must be a random text of at least 32 characters/],
      ["short", /`openssl rand -base64 32` prints one$/],
      [[], /^TypeError: the list `secret` is empty/],
      [[SECRET, "short"], /^TypeError: `secret\[1\]` must be/],
      [undefined as never, /^TypeError: `secret` must be/],
    ];
    for (const [secret, message] of rows) assert.throws(() => make("cart", { secret }), message);
  });
}

test("any text opens for its purpose only", async () => {
  const text = fc.string({ unit: "binary" }).filter((each) => each.isWellFormed());
  for (const sealing of [signing(SECRET), encryption(SECRET)])
    await fc.assert(
      fc.asyncProperty(text, text, text, async (value, purpose, other) => {
        const sealed = await sealing.seal(value, purpose);
        assert.match(sealed, /^[\w.-]+$/);
        assert.equal(await sealing.open(sealed, purpose), value);
        if (other !== purpose) assert.equal(await sealing.open(sealed, other), undefined);
        assert.equal(await sealing.open(other, purpose), undefined);
      }),
    );
});
