import assert from "node:assert/strict";
import { test } from "node:test";
import { Application, Controller, HttpError } from "@tollway/waymark";
import { memoryStore, type Session, type SessionOptions, sessions } from "@tollway/waymark/kit";
import { ask } from "./support.fixture.ts";

const SECRET = "0123456789abcdef0123456789abcdef";

interface Visit {
  user: string;
  count: number;
}

function applicationOf(options: Partial<SessionOptions> = {}): Application {
  const visits = sessions<Visit>({ secret: SECRET, ...options });
  class Default extends Controller {
    session!: Session<Visit>;
    override async before() {
      this.session = await visits.of(this);
    }
    GET(fails = false) {
      const { data } = this.session;
      data.count = (data.count ?? 0) + 1;
      if (fails) throw new HttpError(409, "no");
      return { count: data.count, user: data.user ?? null, isNew: this.session.isNew };
    }
    HEAD() {}
    POST({ user }: { user: string }) {
      this.session.renew();
      this.session.data.user = user;
    }
    DELETE() {
      this.session.destroy();
    }
  }
  return new Application({ controllers: { Default }, use: [visits], log: () => undefined });
}

/** A browser with one cookie. */
function browser(application: Application) {
  let cookie = "";
  const send = async (path: string, init: RequestInit = {}) => {
    const response = await ask(application, path, { ...init, headers: cookie === "" ? {} : { cookie } });
    const [line] = response.headers.getSetCookie();
    if (line !== undefined) cookie = /Max-Age=0/.test(line) ? "" : line.slice(0, line.indexOf(";"));
    return {
      status: response.status,
      line,
      body: response.status === 200 ? await response.json() : undefined,
    };
  };
  return {
    send,
    get cookie() {
      return cookie;
    },
    set cookie(value: string) {
      cookie = value;
    },
  };
}

const post = { method: "POST", body: new URLSearchParams({ user: "ann" }) };

for (const [name, options] of [
  ["cookie", () => ({})],
  ["store", () => ({ store: memoryStore() })],
] as const) {
  test(`${name}: data lives from request to request, errors included`, async () => {
    const one = browser(applicationOf(options()));
    assert.deepEqual((await one.send("/")).body, { count: 1, user: null, isNew: true });
    assert.equal((await one.send("/true")).status, 409);
    assert.deepEqual((await one.send("/")).body, { count: 3, user: null, isNew: false });
    assert.equal((await one.send("/", { method: "HEAD" })).line, undefined, "nothing changed");
    const { line } = await one.send("/", post);
    assert.match(line!, /^session=[\w-]+; Max-Age=86400; Path=\/; HttpOnly; SameSite=Lax$/);
    assert.deepEqual((await one.send("/")).body, { count: 4, user: "ann", isNew: false });
    await one.send("/", { method: "DELETE" });
    assert.equal(one.cookie, "");
    assert.equal((await one.send("/", { method: "DELETE" })).line, undefined, "nothing to delete");
    assert.deepEqual((await one.send("/")).body, { count: 1, user: null, isNew: true });
  });

  test(`${name}: a changed or foreign cookie is a new session`, async () => {
    const one = browser(applicationOf(options()));
    await one.send("/");
    const { cookie } = one;
    for (const changed of [
      `${cookie}A`,
      cookie.slice(0, -1),
      "session=",
      "session=x.y",
      cookie.replace("=", "=A"),
    ]) {
      one.cookie = changed;
      assert.deepEqual((await one.send("/")).body, { count: 1, user: null, isNew: true }, changed);
    }
  });

  test(`${name}: a session ends when it is idle, and after its lifetime`, async (context) => {
    const start = 1_800_000_000;
    context.mock.timers.enable({ apis: ["Date"], now: start * 1000 });
    const one = browser(applicationOf({ ...options(), maxAge: 100, lifetime: 250 }));
    const at = (second: number) => {
      context.mock.timers.setTime((start + second) * 1000);
      return one.send("/");
    };
    assert.deepEqual((await at(0)).body, { count: 1, user: null, isNew: true });
    assert.equal(((await at(90)).body as { count: number }).count, 2);
    assert.equal(((await at(180)).body as { count: number }).count, 3);
    assert.match((await at(200)).line!, /Max-Age=50;/);
    assert.equal(((await at(250)).body as { count: number }).count, 1, "the lifetime is over");
    assert.equal(((await at(351)).body as { count: number }).count, 1, "it was idle");
  });
}

test("a renewed session of a store has another id, and the old one is gone", async () => {
  const kept = new Map<string, string>();
  const store = {
    get: (id: string) => kept.get(id),
    set: (id: string, text: string) => kept.set(id, text),
    delete: (id: string) => kept.delete(id),
  };
  const application = applicationOf({ store });
  const one = browser(application);
  await one.send("/");
  const [before] = kept.keys();
  const planted = one.cookie;
  await one.send("/", post);
  const [after] = kept.keys();
  assert.equal(kept.size, 1);
  assert.notEqual(after, before);
  const attacker = browser(application);
  attacker.cookie = planted;
  assert.deepEqual((await attacker.send("/")).body, { count: 1, user: null, isNew: true });
  await one.send("/", { method: "DELETE" });
  assert.ok(!kept.has(after!));
});

test("an unchanged session is saved again after a tenth of its time", async (context) => {
  context.mock.timers.enable({ apis: ["Date"], now: 1_800_000_000_000 });
  const one = browser(applicationOf({ maxAge: 100 }));
  await one.send("/");
  context.mock.timers.setTime(1_800_000_010_000);
  assert.equal((await one.send("/", { method: "HEAD" })).line, undefined);
  context.mock.timers.setTime(1_800_000_011_000);
  assert.match((await one.send("/", { method: "HEAD" })).line!, /Max-Age=100/);
});

test("mistakes are errors: sessions without use, data without end, odd times", async () => {
  const forgotten = sessions({ secret: SECRET });
  class Forgot extends Controller {
    async GET() {
      await forgotten.of(this);
    }
  }
  const logged: unknown[] = [];
  const application = new Application({ controllers: { Forgot }, log: (error) => logged.push(error) });
  assert.equal((await ask(application, "/forgot")).status, 500);
  assert.match(String(logged[0]), /add the result of sessions\(\) to its option use/);
  const large = await ask(applicationOf(), "/", {
    method: "POST",
    body: new URLSearchParams({ user: "x".repeat(4000) }),
  });
  assert.equal(large.status, 500, "the cookie would be ignored");
  for (const times of [{ maxAge: 0 }, { lifetime: -1 }, { maxAge: 1.5 }])
    assert.throws(() => sessions({ secret: SECRET, ...times }), /number of seconds/);
});

test("the memory store is bounded and forgets the oldest", () => {
  const store = memoryStore(2);
  for (const id of ["a", "b", "a", "c"]) store.set(id, id, 60);
  assert.deepEqual([store.get("a"), store.get("b"), store.get("c")], ["a", undefined, "c"]);
  store.set("d", "d", 0);
  assert.equal(store.get("d"), undefined);
});

test("users: the user of a session, or a 401", async () => {
  const visits = sessions<{ id: number }>({ secret: SECRET, cookie: "visit" });
  const known = new Map([[7, { name: "ann" }]]);
  const members = visits.users(({ id }) => id !== undefined && known.get(id));
  class Default extends Controller {
    async GET() {
      return (await members(this)).name;
    }
    async PUT() {
      return (await members.optional(this)) ?? "nobody";
    }
    async POST({ id }: { id: number }) {
      (await visits.of(this)).data.id = id;
    }
  }
  const application = new Application({ controllers: { Default }, use: [visits] });
  const { test: client } = application;
  const refused = await client.get("/");
  assert.equal(refused.status, 401);
  assert.equal(refused.headers.get("www-authenticate"), 'Cookie cookie-name="visit"');
  assert.equal((await client.put("/")).body, "nobody");
  await client.post("/", { form: { id: "7" } });
  assert.equal((await client.get("/")).body, "ann");
  await client.post("/", { form: { id: "8" } });
  assert.equal((await client.get("/")).status, 401, "a user who no longer exists");
  assert.deepEqual(members.securityScheme, { type: "apiKey", in: "cookie", name: "visit" });
});

test("a secret as a function is asked for at the first use", async () => {
  let secret = "";
  const visits = sessions<{ count: number }>({ secret: () => secret });
  class Default extends Controller {
    async GET() {
      const { data } = await visits.of(this);
      data.count = (data.count ?? 0) + 1;
      return data.count;
    }
  }
  const logged: unknown[] = [];
  const application = new Application({
    controllers: { Default },
    use: [visits],
    log: (error) => logged.push(error),
  });
  await application.ready();
  assert.equal((await application.test.get("/")).status, 500);
  assert.match(String(logged[0]), /at least 32 characters/);
  secret = SECRET;
  assert.equal((await application.test.get("/")).body, 1);
  assert.equal((await application.test.get("/")).body, 2);
});
