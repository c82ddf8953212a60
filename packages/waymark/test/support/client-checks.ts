import assert from "node:assert/strict";
import { type Client, client, ProblemError } from "@tollway/waymark/client";
import type { Api } from "../fixtures/client/api.d.ts";

/** One thing that the client does, with the name of the test. */
export type Check = readonly [name: string, run: () => Promise<void>];

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
}

/** Checks of the client, with any connection to the application of `test/fixtures/client`. */
export function callChecks(connect: () => Client<Api>): Check[] {
  const checks: Check[] = [];
  const test = (name: string, run: () => Promise<void>) => void checks.push([name, run]);
  test("calls methods by path, verb and arguments", async () => {
    const api = connect();
    assert.equal(await api.GET(), "root");
    assert.equal((await api.books.GET(1)).title, "Emma");
    assert.equal((await api.books.GET(1)).published, "1815-12-23T00:00:00.000Z");
    assert.equal((await api.books.top_ten.GET()).length, 1);
    assert.deepEqual(await api.slugs.GET("a/b ?#%ü"), ["a/b ?#%ü", "none", ""]);
    assert.deepEqual(await api.slugs.GET("a", undefined, { mark: "&=+ " }), ["a", "none", "&=+ "]);
    assert.deepEqual(await api.slugs.GET("a", "b"), ["a", "b", ""]);
    assert.equal(await api.slugs.special.GET(), "special");
    assert.deepEqual(await api.files.GET({ lang: "de" }, "a", "b/c"), { lang: "de", path: ["a", "b/c"] });
    assert.equal(await api.echo.DELETE(1), undefined);
  });

  test("carries keywords in the query, in JSON and in forms", async () => {
    const api = connect();
    const since = new Date("2020-01-02T03:04:05.000Z");
    const got = await api.echo.GET(7, { since, tags: ["a", "b&c"] });
    assert.deepEqual(got, { id: 7, since: since.toISOString(), tags: ["a", "b&c"], header: null });
    const posted = await api.echo.POST({ text: "é", at: since, big: 2n ** 70n, none: null });
    assert.deepEqual(posted, { text: "é", at: since.toISOString(), big: String(2n ** 70n), none: null });
    const file = new File(["content"], "name.txt");
    assert.deepEqual(await api.echo.PUT({ file, note: "n" }), {
      name: "name.txt",
      text: "content",
      note: "n",
    });
    assert.equal(await api.echo.PATCH.with({ body: "raw é" })(), "raw é");
    const raw = await api.raw.PUT.with({ body: new Blob(["{}"], { type: "application/x-rules" }) })("a", {
      tags: ["b", "c&"],
    });
    assert.deepEqual(raw, { name: "a", tags: ["b", "c&"], text: "{}", type: "application/x-rules" });
  });

  test("reads values, streams, events, text and bytes", async () => {
    const api = connect();
    const ids = async (books: AsyncIterable<{ id: number }>) => (await collect(books)).map(({ id }) => id);
    assert.deepEqual(await ids(await api.books.export.GET()), [1, 2]);
    assert.deepEqual(await ids(await api.books.export.GET.with({ events: true })()), [1, 2]);
    assert.deepEqual(await collect(await api.stream_forms.empty.GET()), []);
    assert.equal((await collect(await api.stream_forms.texts.GET())).join(""), "one two");
    assert.equal(await api.stream_forms.page.GET(), "<p>");
    const bytes = await api.stream_forms.bytes.GET();
    assert.deepEqual([...new Uint8Array(await bytes.arrayBuffer())], [1, 2]);
  });

  test("a problem is an error, or a result that the status narrows", async () => {
    const api = connect();
    const result = await api.books.GET.safe(2);
    assert.ok(result.status === 404);
    assert.equal(result.problem.code, "NO_BOOK");
    assert.equal(result.problem.detail, "there is no book 2");
    const found = await api.books.GET.safe(1);
    assert.ok(found.ok && found.data.title === "Emma" && found.headers.has("content-type"));
    await assert.rejects(api.books.GET(2), (error) => {
      assert.ok(error instanceof ProblemError);
      assert.equal(error.message, "GET /books: 404 Not Found: there is no book 2");
      assert.equal(error.problem.code, "NO_BOOK");
      return true;
    });
    const refused = await api.books.GET.safe("x" as never);
    assert.ok(refused.status === 400);
    assert.deepEqual(
      refused.problem.errors?.map((fault) => [fault.in, fault.name]),
      [["path", "id"]],
    );
    assert.equal((await api.books.GET.response(2)).status, 404);
  });
  return checks;
}

/** Checks of the client for every runtime. The application of `test/fixtures/client` serves at the URL. */
export function clientChecks(url: string): Check[] {
  const checks: Check[] = callChecks(() => client<Api>(url));
  const test = (name: string, run: () => void | Promise<void>) => void checks.push([name, async () => run()]);
  test("a signal aborts a call and a stream", async () => {
    const api = client<Api>(url);
    const reason = new Error("enough");
    await assert.rejects(api.GET.with({ signal: AbortSignal.abort(reason) })(), reason);
    const controller = new AbortController();
    const stream = await api.stream_forms.endless.GET.with({ signal: controller.signal })();
    await assert.rejects(async () => {
      for await (const { n } of stream) if (n === 1) controller.abort(reason);
    }, reason);
  });

  test("headers come from the client, then from the call", async () => {
    let asked = 0;
    const headers = async () => ({ "x-mark": `common ${++asked}` });
    const api = client<Api>(`${url}/`, { headers });
    assert.equal((await api.echo.GET(1)).header, "common 1");
    assert.equal((await api.echo.GET(1)).header, "common 2");
    assert.equal((await api.echo.GET.with({ headers: { "X-Mark": "own" } })(1)).header, "own");
    const marked = api.echo.GET.with({ headers: { "x-mark": "kept" } }).with({ retries: 1 });
    assert.equal((await marked(1)).header, "kept");
  });

  test("without a table, an argument that is no path segment is an error that names the remedy", async () => {
    const api = client<Api>("http://localhost", {
      fetch: () => assert.fail("nothing may be sent"),
    });
    const remedy =
      /^TypeError: (GET \/slugs|POST \/shapes): .* Run "waymark types --table=FILE" and pass its table/;
    await assert.rejects(api.shapes.POST({ x: 1 }, { to: { x: 2 } }), remedy);
    for (const text of ["", ".", ".."]) await assert.rejects(api.slugs.GET(text), remedy);
    await assert.rejects(api.slugs.GET([] as never), remedy);
    await assert.rejects(api.slugs.GET(null as never), remedy);
    await assert.rejects(api.slugs.GET(Number.NaN as never), remedy);
    await assert.rejects(api.slugs.GET(undefined as never, "b"), remedy);
    await assert.rejects(
      api.echo.GET(1, { tags: [{}] as never }),
      /tags is a Object, which a query or a form cannot/,
    );
  });

  test("a compressed text needs the table, because nothing else shows whether it is a stream", async () => {
    const headers = { "content-type": "text/html", "content-encoding": "gzip" };
    const api = client<Api>("http://localhost", { fetch: async () => new Response("<p>", { headers }) });
    await assert.rejects(api.stream_forms.page.GET(), /GET \/stream-forms\/page: .*waymark types/);
  });

  test("an error that is no problem document keeps its text", async () => {
    const rows = [
      ["<h1>no</h1>", { title: "Bad Gateway", status: 502, detail: "<h1>no</h1>", type: "about:blank" }],
      ["", { title: "Bad Gateway", status: 502, type: "about:blank" }],
      ["[1]", { title: "Bad Gateway", status: 502, detail: "[1]", type: "about:blank" }],
    ] as const;
    for (const [body, expected] of rows) {
      const answer = () => new Response(body, { status: 502, statusText: "Bad Gateway" });
      const api = client<Api>("http://localhost", { fetch: async () => answer() });
      const result = await api.GET.safe();
      assert.deepEqual(!result.ok && result.problem, expected);
    }
  });

  test("safe and idempotent requests are repeated, others only if asked", async () => {
    const rows: [
      verb: "GET" | "POST",
      retries: number | { limit: number; unsafe: true },
      failures: (number | Error)[],
      tries: number,
      status: number | Error,
    ][] = [
      ["GET", 2, [503, 429], 3, 200],
      ["GET", 2, [503, 503, 503], 3, 503],
      ["GET", 1, [new TypeError("failed")], 2, 200],
      ["GET", 1, [new TypeError("one"), new TypeError("two")], 2, new TypeError("two")],
      ["GET", 2, [500], 1, 500],
      ["GET", 0, [503], 1, 503],
      ["POST", 2, [503], 1, 503],
      ["POST", { limit: 1, unsafe: true }, [503], 2, 200],
    ];
    for (const [verb, retries, failures, tries, status] of rows) {
      const bodies: string[] = [];
      const left = [...failures];
      const fetch = async (request: Request) => {
        bodies.push(await request.text());
        const failure = left.shift();
        if (failure instanceof Error) throw failure;
        return Response.json({}, { status: failure ?? 200, headers: { "retry-after": "0" } });
      };
      const { echo } = client<Api>("http://localhost", { fetch, retries });
      const answer = verb === "GET" ? echo.GET.response(1) : echo.POST.response({ text: "x" });
      if (status instanceof Error) await assert.rejects(answer, status);
      else assert.equal((await answer).status, status);
      assert.deepEqual(bodies, Array(tries).fill(verb === "GET" ? "" : '{"text":"x"}'));
    }
  });

  test("a longer Retry-After than allowed ends the attempts, and a signal ends the wait", async () => {
    let tries = 0;
    const fetch = async () => {
      tries++;
      return new Response(null, { status: 503, headers: { "retry-after": "60" } });
    };
    const api = client<Api>("http://localhost", { fetch, retries: { limit: 3, longest: 1000 } });
    assert.equal((await api.GET.response()).status, 503);
    assert.equal(tries, 1);
    const controller = new AbortController();
    const { signal } = controller;
    const waiting = api.GET.with({ signal, retries: { limit: 1, longest: 100_000 } }).response();
    setTimeout(() => controller.abort(new Error("enough")), 0);
    await assert.rejects(waiting, /enough/);
  });

  test("an address with a query is refused", () => {
    for (const address of ["http://localhost/?a=1", "http://localhost/#a"])
      assert.throws(() => client<Api>(address), /must have no query and no fragment/);
  });
  return checks;
}
