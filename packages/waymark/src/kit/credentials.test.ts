import assert from "node:assert/strict";
import { test } from "node:test";
import { Application, Controller } from "@tollway/waymark";
import { type Authenticator, basic, bearer, sameSecret } from "@tollway/waymark/kit";
import fc from "fast-check";
import { ask } from "./support.fixture.ts";

interface User {
  readonly name: string;
}

/** An application whose controller answers with its user. */
function guarded(users: Authenticator<User>): Application {
  class Default extends Controller {
    user!: User;
    override async before() {
      this.user = await users(this);
    }
    GET() {
      return { name: this.user.name, same: users.of(this) === this.user };
    }
  }
  class Open extends Controller {
    async GET() {
      return (await users.optional(this))?.name ?? "nobody";
    }
    POST() {
      return users.of(this).name;
    }
  }
  return new Application({ controllers: { Default, Open }, log: () => undefined });
}

const tokens = bearer<User>({
  realm: "books",
  verify: async (token) => ((await sameSecret(token, "secret")) ? { name: "ann" } : undefined),
});

const CHALLENGE = 'Bearer realm="books"';
const INVALID = `${CHALLENGE}, error="invalid_token"`;

test("bearer: only the right token passes", async () => {
  const application = guarded(tokens);
  const rows: [string | undefined, number, string | null][] = [
    ["Bearer secret", 200, null],
    ["bearer   secret ", 200, null],
    [undefined, 401, CHALLENGE],
    ["", 401, CHALLENGE],
    ["secret", 401, CHALLENGE],
    ["Bearer", 401, CHALLENGE],
    ["Basic c2VjcmV0", 401, CHALLENGE],
    ["Bearer wrong", 401, INVALID],
    ["Bearer Secret", 401, INVALID],
    ["Bearer secret secret", 401, INVALID],
    ["Bearer secret, Bearer secret", 401, INVALID],
    ["Bearer sec\u00e9ret", 401, INVALID],
    [`Bearer ${"a".repeat(10_000)}`, 401, CHALLENGE],
    [`Bearer${" ".repeat(10_000)}secret`, 401, CHALLENGE],
  ];
  for (const [authorization, status, challenge] of rows) {
    const response = await ask(
      application,
      "/",
      authorization === undefined ? {} : { headers: { authorization } },
    );
    assert.deepEqual(
      [response.status, response.headers.get("www-authenticate")],
      [status, challenge],
      authorization ?? "none",
    );
    if (status === 401) assert.equal(response.headers.get("cache-control"), "no-store");
    else assert.deepEqual(await response.json(), { name: "ann", same: true });
  }
});

test("optional credentials: a request without them has no user, and wrong ones are a 401", async () => {
  const application = guarded(tokens);
  for (const [authorization, expected] of [
    [undefined, "nobody"],
    ["Bearer secret", "ann"],
    ["Bearer wrong", 401],
    ["Digest x", 401],
  ] as const) {
    const init = authorization === undefined ? {} : { headers: { authorization } };
    const response = await ask(application, "/open", init);
    assert.equal(response.status === 200 ? await response.json() : response.status, expected);
  }
  assert.equal((await ask(application, "/open", { method: "POST" })).status, 500, "of() without before()");
});

test("a request asks for its user once", async () => {
  let asked = 0;
  const users = bearer<User>({
    verify: () => {
      asked++;
      return { name: "ann" };
    },
  });
  const application = new Application({
    controllers: {
      Default: class extends Controller {
        async GET() {
          return [(await users(this)).name, (await users.optional(this))?.name, users.of(this).name];
        }
      },
    },
    before: (controller) => users(controller).then(() => undefined),
  });
  const response = await ask(application, "/", { headers: { authorization: "Bearer x" } });
  assert.deepEqual(await response.json(), ["ann", "ann", "ann"]);
  assert.equal(asked, 1);
});

function encoded(text: string | Uint8Array): string {
  return Buffer.from(text as string).toString("base64");
}

test("basic: name and password in UTF-8", async () => {
  const given: [string, string][] = [];
  const users = basic<User>({
    verify: async (name, password) => {
      given.push([name, password]);
      return (await sameSecret(password, "pass:wörd")) && { name };
    },
  });
  const application = guarded(users);
  const rows: [string, number][] = [
    [encoded("ann:pass:wörd"), 200],
    [encoded(":pass:wörd"), 200],
    [encoded("ann:pass"), 401],
    [encoded("ann:"), 401],
    [encoded("ann"), 401],
    [encoded("ann:pass:wörd\n"), 401],
    [encoded("a\0nn:pass:wörd"), 401],
    [encoded(new Uint8Array([0x61, 0x3a, 0xff])), 401],
    [encoded("\ufeffann:x"), 401],
    ["%%%", 401],
    ["", 401],
  ];
  for (const [credentials, status] of rows) {
    const response = await ask(application, "/", { headers: { authorization: `Basic ${credentials}` } });
    assert.equal(response.status, status, credentials);
    if (status === 401)
      assert.equal(response.headers.get("www-authenticate"), 'Basic realm="api", charset="UTF-8"');
  }
  assert.deepEqual(given, [
    ["ann", "pass:wörd"],
    ["", "pass:wörd"],
    ["ann", "pass"],
    ["ann", ""],
    ["\ufeffann", "x"],
  ]);
});

test("a realm cannot contain another header or parameter", () => {
  for (const realm of ['a"b', "a\\b", "a\r\nset-cookie: x", "é", "\0"]) {
    assert.throws(() => bearer({ realm, verify: () => undefined }), /realm must be/);
    assert.throws(() => basic({ realm, verify: () => undefined }), /realm must be/);
  }
});

test("sameSecret: equal texts only", async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), async (one, other) => {
      assert.equal(await sameSecret(one, one), true);
      assert.equal(await sameSecret(one, other), one === other);
    }),
  );
});
