import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, test } from "node:test";
import { Application, type ApplicationOptions, Controller, HttpError } from "@tollway/waymark";

async function ask(application: Application, path: string, init: RequestInit = {}): Promise<Response> {
  return application.fetch(new Request(`http://localhost${path}`, init));
}

class Default extends Controller {
  GET() {
    return { address: this.remoteAddress ?? null, url: this.request.url };
  }
  POST({ ...fields }: Record<string, unknown>) {
    return fields;
  }
  DELETE() {
    throw new Error("broken");
  }
}

test("a table has controllers, and objects in it are submodules", async () => {
  class Users extends Controller {
    GET(id: number) {
      return id;
    }
  }
  const application = new Application({
    controllers: { Default, v1: { Users, Default }, helper: () => 1, text: "x" },
  });
  assert.equal(await (await ask(application, "/v1/users/7")).json(), 7);
  assert.equal((await ask(application, "/v1")).status, 200);
  assert.equal((await ask(application, "/users/7")).status, 404);
});

test("the constructor checks the options", () => {
  const rows: [ApplicationOptions, RegExp][] = [
    [{ controlerPrefix: "x" } as ApplicationOptions, /no option "controlerPrefix"/],
    [{ bodyLimit: -1 }, /bodyLimit must be a number of bytes/],
    [{ controllers: {}, controllerPrefix: "x" }, /exclude each other/],
    [{ cors: { origins: ["*"], credentials: true } }, /exclude each other/],
    [{ cors: { origins: ["example.com"] } }, /not an origin/],
    [{ cors: { origins: ["https://example.com/"] } }, /not an origin/],
    [{ unknownKeywords: "allow" as "ignore" }, /unknownKeywords is "reject" or "ignore", not allow/],
  ];
  for (const [options, message] of rows) assert.throws(() => new Application(options), message);
});

test("an invalid unknownKeywords of a class prevents startup", async () => {
  class Lax extends Controller {
    static override unknownKeywords = "allow" as "ignore";
    GET() {
      return 1;
    }
  }
  await assert.rejects(new Application({ controllers: { Lax } }).ready(), /not allow/);
});

test("ready() rejects if startup fails, and every request gets a 500 until startup succeeds", async () => {
  const logged: unknown[] = [];
  let hasDatabase = false;
  let starts = 0;
  const application = new Application({
    controllers: { Default },
    async onStart() {
      starts += 1;
      await new Promise(setImmediate);
      if (!hasDatabase) throw new Error("no database");
    },
    log: (error) => logged.push(error),
  });
  await assert.rejects(application.ready(), /no database/);
  const failed = await Promise.all([ask(application, "/"), ask(application, "/")]);
  assert.deepEqual(
    failed.map(({ status }) => status),
    [500, 500],
  );
  assert.match(String(logged[0]), /no database/);
  assert.equal(starts, 2, "requests at the same time share a start");
  hasDatabase = true;
  assert.equal((await ask(application, "/")).status, 200);
  assert.equal((await ask(application, "/")).status, 200);
  assert.equal(starts, 3);
});

test("onStart runs once before the first answer, onStop once after", async () => {
  const events: string[] = [];
  const application = new Application({
    controllers: { Default },
    onStart: () => events.push("start"),
    onStop: () => events.push("stop"),
  });
  await Promise.all([ask(application, "/"), ask(application, "/"), application.ready()]);
  await application.stop();
  await application.stop();
  assert.deepEqual(events, ["start", "stop"]);
});

test("the application's hooks get the controller and run around its own hooks", async () => {
  const events: string[] = [];
  class Base extends Controller {
    override before(): unknown {
      events.push("base before");
      return undefined;
    }
  }
  class Hooked extends Base {
    user = "";
    override async before() {
      await super.before();
      events.push("own before");
      this.user = "u";
    }
    override after() {
      events.push("own after");
    }
    GET() {
      events.push("method");
      return this.user;
    }
  }
  const application = new Application({
    controllers: { Hooked },
    before(controller) {
      events.push(`app before ${controller.constructor.name}`);
    },
    after(response, controller) {
      events.push(`app after ${response.status} ${(controller as Hooked).user}`);
      return new Response("replaced", { status: 299 });
    },
  });
  const response = await ask(application, "/hooked");
  assert.equal(response.status, 299);
  assert.equal(await response.text(), "replaced");
  assert.deepEqual(events, [
    "app before Hooked",
    "base before",
    "own before",
    "method",
    "own after",
    "app after 200 u",
  ]);
});

test("an error skips after() and goes to onError, the controller's first, then the application's", async () => {
  const events: string[] = [];
  class Failing extends Controller {
    async GET() {
      throw new HttpError(409, "taken");
    }
    async POST() {
      throw new Response("thrown", { status: 402 });
    }
    override after() {
      events.push("after");
    }
    override onError(error: unknown) {
      events.push(`own ${(error as Error).message}`);
    }
  }
  const application = new Application({
    controllers: { Failing },
    onError(error, controller) {
      events.push(`app ${(error as HttpError).status} ${controller?.constructor.name}`);
      return (error as HttpError).status === 404 ? new Response("nothing here", { status: 404 }) : undefined;
    },
  });
  assert.equal((await ask(application, "/failing")).status, 409);
  assert.equal(await (await ask(application, "/nowhere")).text(), "nothing here");
  assert.equal((await ask(application, "/failing", { method: "PUT" })).status, 501);
  assert.equal((await ask(application, "/failing", { method: "POST" })).status, 402);
  assert.deepEqual(events, [
    "own taken",
    "app 409 Failing",
    "app 404 undefined",
    "app 501 undefined",
    "after",
  ]);
});

test("if onError throws, its own error is answered", async () => {
  const application = new Application({
    controllers: { Default },
    onError() {
      throw new HttpError(418);
    },
  });
  assert.equal((await ask(application, "/", { method: "DELETE" })).status, 418);
});

test("a 500 hides the error, which is only logged; debug shows it", async () => {
  const logged: unknown[] = [];
  const log = (error: unknown, context: { method: string; target: string }) =>
    logged.push([String(error), context]);
  const quiet = await ask(new Application({ controllers: { Default }, log }), "/?a=1", { method: "DELETE" });
  assert.equal(quiet.status, 400, "the unknown name comes first");
  const response = await ask(new Application({ controllers: { Default }, log }), "/", { method: "DELETE" });
  assert.deepEqual(await response.json(), {
    type: "about:blank",
    title: "Internal Server Error",
    status: 500,
  });
  assert.deepEqual(logged, [["Error: broken", { method: "DELETE", target: "/" }]]);
  const shown = await ask(new Application({ controllers: { Default }, log, debug: true }), "/", {
    method: "DELETE",
  });
  const { detail, stack } = (await shown.json()) as { detail: string; stack: string[] };
  assert.equal(detail, "Error: broken");
  assert.match(stack.join("\n"), /application\.test\.ts/);
});

test("only forwarded headers of a trusted proxy count", async () => {
  const headers = {
    host: "inner:8000",
    "x-forwarded-for": "6.6.6.6, 10.0.0.1",
    "x-forwarded-proto": "https",
    "x-forwarded-host": "public.example",
  };
  const rows: [ApplicationOptions["trustProxy"], string | null, string][] = [
    [undefined, null, "http://inner:8000/"],
    [false, null, "http://inner:8000/"],
    [1, "10.0.0.1", "https://public.example/"],
    [2, "6.6.6.6", "https://public.example/"],
    [true, "6.6.6.6", "https://public.example/"],
  ];
  for (const [trustProxy, address, url] of rows) {
    const options = trustProxy === undefined ? {} : { trustProxy };
    const application = new Application({ controllers: { Default }, ...options });
    assert.deepEqual(
      await (await ask(application, "/", { headers })).json(),
      { address, url },
      String(trustProxy),
    );
  }
});

test("the prefix that matches the most segments wins, and on a tie the earlier one", async () => {
  const directory = new URL("fixtures/prefixes", import.meta.url).pathname;
  const application = new Application({ controllerPrefix: ["one", "two"], directory });
  const rows: [string, unknown][] = [
    ["/", "one"],
    ["/shared", "one shared"],
    ["/only-two", "two only"],
    ["/deep/er", "two deeper"],
    ["/deep/x", "two deep x"],
  ];
  for (const [path, expected] of rows)
    assert.deepEqual(await (await ask(application, path)).json(), expected, path);
  assert.equal((await ask(application, "/deep")).status, 200, "a tie goes to the earlier that can answer");
});

test("a 404 names the nearest route, at every depth and under every prefix", async () => {
  class Inner extends Controller {
    GET() {
      return 1;
    }
  }
  class Outer extends Controller {
    static Inner = Inner;
    GET() {
      return 1;
    }
  }
  const given = new Application({ controllers: { Outer, admin: { Outer, Inner } } });
  const directory = new URL("fixtures/prefixes", import.meta.url).pathname;
  const found = new Application({ controllerPrefix: ["one", "two"], directory });
  const rows: [Application, string, string | undefined][] = [
    [given, "/outre", "/outer"],
    [given, "/Outer", "/outer"],
    [given, "/outer/iner", "/outer/inner"],
    [given, "/admin/iner", "/admin/inner"],
    [given, "/admni/inner", "/admin"],
    [given, "/outer/inner/x", undefined],
    [given, "/x", undefined],
    [given, `/${"o".repeat(10_000)}`, undefined],
    [found, "/only-tow", "/only-two"],
    [found, "/shard", "/shared"],
  ];
  for (const [application, path, near] of rows) {
    const response = await ask(application, path);
    assert.equal(response.status, 404, path);
    const { detail } = (await response.json()) as { detail: string };
    assert.equal(/did you mean (.*)\?$/.exec(detail)?.[1], near, detail);
    assert.ok(detail.length < 400);
  }
});

test("a 405 names the methods of the class", async () => {
  class Explain extends Controller {
    POST() {
      return 1;
    }
  }
  const application = new Application({ controllers: { Default, Explain } });
  const response = await ask(application, "/explain");
  assert.equal(response.status, 405);
  assert.equal(response.headers.get("allow"), "OPTIONS, POST");
  const { detail } = (await response.json()) as { detail: string };
  assert.equal(detail, "/explain does not serve GET: it serves POST");
});

test("after() may read, clone, wrap or replace a body", async () => {
  const ended: string[] = [];
  class Bodies extends Controller {
    async *GET(name: string) {
      try {
        yield name;
        yield " more";
      } finally {
        ended.push(name);
      }
    }
    POST() {
      return "text";
    }
  }
  let hook: (response: Response) => unknown = () => undefined;
  const application = new Application({
    controllers: { Bodies },
    after: (response) => hook(response),
    log: () => undefined,
  });
  const get = async (init: RequestInit = {}) => {
    ended.length = 0;
    const response = await ask(application, init.method === "POST" ? "/bodies" : "/bodies/one", init);
    return `${response.status} ${response.status === 500 ? "" : await response.text()}`;
  };
  const post = () => get({ method: "POST" });
  const rows: [(response: Response) => unknown, string, string][] = [
    [async (response) => void (await response.clone().text()), "200 one more", '200 "text"'],
    [async (response) => new Response(`<${await response.text()}>`), "200 <one more>", '200 <"text">'],
    [(response) => new Response(response.body, { status: 201 }), "201 one more", '201 "text"'],
    [
      (response) => new Response(response.body?.pipeThrough(new TransformStream())),
      "200 one more",
      '200 "text"',
    ],
    [() => new Response(null, { status: 304 }), "304 ", "304 "],
    // A body in memory is sent even after a hook has read it. A streamed body cannot be sent again.
    [async (response) => void (await response.text()), "500 ", '200 "text"'],
    [(response) => void response.body?.getReader(), "500 ", '200 "text"'],
    [() => new HttpError(418), "418", "418"],
  ];
  for (const [made, streamed, known] of rows) {
    hook = made;
    assert.ok((await get()).startsWith(streamed), `${made}: ${streamed}`);
    // A generator that never ran has no cleanup.
    assert.deepEqual(ended, ["one"], String(made));
    assert.ok((await post()).startsWith(known), `${made}: ${known}`);
  }
});

test("methods in knownMethods get 405 even if no controller has them", async () => {
  const application = new Application({ controllers: { Default }, knownMethods: ["PATCH"] });
  assert.equal((await ask(application, "/", { method: "PATCH" })).status, 405);
  assert.equal((await ask(application, "/", { method: "LOCK" })).status, 501);
});

test("a controller may have a constructor and fields that use the request", async () => {
  class Own extends Controller {
    agent = this.headers.get("x-agent");
    GET() {
      return this.agent;
    }
  }
  class Bare extends Controller {
    GET() {
      return this.headers.get("x-agent");
    }
  }
  class Throws extends Controller {
    field = (() => {
      throw new HttpError(503, "not yet");
    })();
    GET() {
      return this.field;
    }
  }
  const application = new Application({ controllers: { Own, Bare, Throws } });
  const headers = { "x-agent": "A" };
  assert.equal(await (await ask(application, "/own", { headers })).json(), "A");
  assert.equal(await (await ask(application, "/bare", { headers })).json(), "A");
  assert.equal((await ask(application, "/throws")).status, 503);
});

test("an asynchronous schema validates once, with and without a body", async () => {
  let runs = 0;
  const even = {
    "~standard": {
      version: 2 as const,
      vendor: "test",
      async validate(value: unknown) {
        runs++;
        return Number(value) % 2 === 0 ? { value: Number(value) } : { issues: [{ message: "is odd" }] };
      },
    },
  };
  class Schemed extends Controller {
    static override schema = { GET: { n: even }, POST: { n: even } };
    GET({ n }: { n: number }) {
      return n;
    }
    POST({ n }: { n: number }) {
      return n;
    }
  }
  const application = new Application({ controllers: { Schemed } });
  await application.ready();
  // The start calls each schema once to find out whether it accepts absence.
  runs = 0;
  assert.equal(await (await ask(application, "/schemed?n=4")).json(), 4);
  assert.equal(runs, 1);
  const refused = await ask(application, "/schemed?n=3");
  assert.equal(refused.status, 400);
  assert.match(await refused.text(), /is odd/);
  const body = new URLSearchParams({ n: "6" });
  assert.equal(await (await ask(application, "/schemed", { method: "POST", body })).json(), 6);
  assert.equal(runs, 3);
});

test("before() and the method can both read the body, which still fills arguments", async () => {
  class Signed extends Controller {
    seen: string[] = [];
    override async before() {
      this.seen.push(await this.request.text(), String((await this.bytes()).length));
    }
    POST({ a }: { a: number }) {
      return [...this.seen, a];
    }
  }
  const application = new Application({ controllers: { Signed } });
  const server = createServer(application.listener).listen(0, "127.0.0.1");
  after(() => server.close());
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/signed`;
  const init = { method: "POST", body: '{"a":1}', headers: { "content-type": "application/json" } };
  assert.deepEqual(await (await ask(application, "/signed", init)).json(), ['{"a":1}', "7", 1]);
  assert.deepEqual(await (await fetch(url, init)).json(), ['{"a":1}', "7", 1]);
});

test("a body that was read as a stream is not awaited again", async () => {
  const logged: string[] = [];
  class Twice extends Controller {
    async POST() {
      await this.request.text();
      return (await this.bytes()).length;
    }
  }
  const application = new Application({ controllers: { Twice }, log: (error) => logged.push(String(error)) });
  const server = createServer(application.listener).listen(0, "127.0.0.1");
  after(() => server.close());
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/twice`;
  assert.equal((await fetch(url, { method: "POST", body: "x" })).status, 500);
  assert.match(logged[0]!, /already been read as a stream/);
});

test("a generator that fails before its first piece gets an error status", async () => {
  class Streams extends Controller {
    async *GET() {
      if (this.positionals.length === 0) throw new HttpError(404, "no such export");
      yield 1;
    }
  }
  const application = new Application({ controllers: { Streams } });
  assert.equal((await ask(application, "/streams")).status, 404);
});

test("after() sees a stream, which stays intact if nothing reads it", async () => {
  let ended = 0;
  class Streams extends Controller {
    async *GET() {
      try {
        yield "one ";
        yield "two";
      } finally {
        ended++;
      }
    }
  }
  const application = new Application({
    controllers: { Streams },
    after(response) {
      assert.ok(response.body instanceof ReadableStream);
      response.headers.set("x-after", "yes");
    },
  });
  const response = await ask(application, "/streams");
  assert.equal(response.headers.get("x-after"), "yes");
  assert.equal(await response.text(), "one two");
  assert.equal(ended, 1);
  const replacing = new Application({ controllers: { Streams }, after: () => new Response("instead") });
  assert.equal(await (await ask(replacing, "/streams")).text(), "instead");
  assert.equal(ended, 2, "a stream that is replaced is ended");
});

test("a reader that cancels ends the generator", async () => {
  let ended = false;
  class Endless extends Controller {
    async *GET() {
      try {
        for (;;) yield { tick: 1 };
      } finally {
        ended = true;
      }
    }
  }
  const application = new Application({ controllers: { Endless } });
  const reader = (await ask(application, "/endless")).body!.getReader();
  await reader.read();
  await reader.cancel();
  assert.equal(ended, true);
});

test("this.method is the method of the request", async () => {
  class Default extends Controller {
    GET() {
      this.response.headers.set("x-method", this.method);
      return null;
    }
  }
  const application = new Application({ controllers: { Default } });
  for (const method of ["GET", "HEAD"]) {
    const { headers } = await application.fetch(new Request("http://localhost/", { method }));
    assert.equal(headers.get("x-method"), method);
  }
});

test("the projection of written return types can be turned off for an application", async () => {
  const directory = new URL("fixtures/table", import.meta.url).pathname;
  const answerWith = async (projection: boolean) => {
    const application = new Application({ directory, controllerPrefix: "controllers", projection });
    return (await application.fetch(new Request("http://localhost/projected/guest"))).json();
  };
  assert.deepEqual(await answerWith(true), { guest: "g" });
  assert.deepEqual(await answerWith(false), { guest: "g", passwordHash: "x" });
});
