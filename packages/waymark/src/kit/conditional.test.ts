import assert from "node:assert/strict";
import { test } from "node:test";
import { type Application, Controller, HttpError } from "@tollway/waymark";
import {
  type CacheDirectives,
  cacheControl,
  checkMatch,
  defaultCacheControl,
  etag,
  tagOf,
} from "@tollway/waymark/kit";
import fc from "fast-check";
import { lists } from "./conditional.ts";
import { applicationWith, ask, Default } from "./support.fixture.ts";

const MODIFIED = "Sun, 06 Nov 1994 08:49:37 GMT";

class Dated extends Controller {
  GET() {
    this.response.headers.set("last-modified", MODIFIED);
    this.response.headers.set("cache-control", "no-store");
    return "x";
  }
}

class Tagged extends Controller {
  GET() {
    this.response.headers.set("etag", 'W/"v1"');
    return "x";
  }
}

async function status(
  application: Application,
  path: string,
  headers: Record<string, string>,
): Promise<number> {
  return (await ask(application, path, { headers })).status;
}

test("an answer in memory has an ETag, and is a 304 for a client that has it", async () => {
  const application = applicationWith([etag()]);
  const { headers } = await ask(application, "/json");
  const tag = headers.get("etag")!;
  assert.match(tag, /^"[\w-]{22}"$/);
  assert.equal((await ask(application, "/json")).headers.get("etag"), tag);
  assert.notEqual((await ask(application, "/other")).headers.get("etag"), tag);
  const head = await ask(application, "/json", { method: "HEAD" });
  assert.deepEqual([head.headers.get("etag"), head.headers.get("content-length")], [tag, "15"]);
  for (const [list, expected] of [
    [tag, 304],
    [`W/${tag}`, 304],
    [`"a", ${tag}`, 304],
    [`"a,b",W/"c" , ${tag}`, 304],
    ["*", 304],
    ['"other"', 200],
    [tag.slice(1, -1), 200],
    [`"a" ${tag}`, 200],
    [`nonsense ${tag}`, 200],
    [",".repeat(5_000), 200],
    ["", 200],
  ] as const) {
    for (const method of ["GET", "HEAD"]) {
      const response = await ask(application, "/json", { method, headers: { "if-none-match": list } });
      assert.equal(response.status, expected, list.slice(0, 50));
      assert.equal(response.headers.get("etag"), tag);
      if (expected !== 304) continue;
      assert.equal(await response.text(), "");
      assert.equal(response.headers.get("content-type"), null);
    }
  }
});

test("errors, streams, empty answers, other methods and no-store answers have no ETag", async () => {
  const application = applicationWith([etag()], { Default, Dated });
  for (const path of ["/error", "/stream", "/nothing", "/a/b", "/dated"]) {
    const response = await ask(application, path, { headers: { "if-none-match": '"x"' } });
    assert.equal(response.headers.get("etag"), null, path);
  }
});

test("a controller's own ETag and date count, the date only without an ETag", async () => {
  const application = applicationWith([etag()], { Dated, Tagged });
  const rows: [string, Record<string, string>, number][] = [
    ["/tagged", { "if-none-match": '"v1"' }, 304],
    ["/tagged", { "if-none-match": 'W/"v1"' }, 304],
    ["/tagged", { "if-none-match": '"v2"' }, 200],
    ["/dated", { "if-modified-since": MODIFIED }, 304],
    ["/dated", { "if-modified-since": "Sun, 06 Nov 1994 08:49:36 GMT" }, 200],
    ["/dated", { "if-modified-since": "1995" }, 200],
    ["/dated", { "if-modified-since": "Xyz, 99 Abc 2030 99:99:99 GMT" }, 200],
    ["/dated", { "if-modified-since": MODIFIED, "if-none-match": '"v1"' }, 200],
  ];
  for (const [path, headers, expected] of rows)
    assert.equal(await status(application, path, headers), expected, JSON.stringify(headers));
});

test("If-Match lets a client change a resource only if it has seen the current version", async () => {
  const books = new Map([[1, { title: "Emma" }]]);
  class Books extends Controller {
    async GET(id: number) {
      const book = books.get(id) ?? missing();
      this.response.headers.set("etag", await tagOf(book));
      return book;
    }
    async PUT(id: number) {
      const book = books.get(id);
      checkMatch(this, book && (await tagOf(book)));
    }
    async PATCH(id: number) {
      checkMatch(this, await tagOf(books.get(id)!), { required: false });
    }
  }
  const missing = (): never => {
    throw new HttpError(404);
  };
  const application = applicationWith([etag()], { Books });
  const tag = (await ask(application, "/books/1")).headers.get("etag")!;
  assert.equal(await status(application, "/books/1", { "if-none-match": tag }), 304);
  const rows: [string, number, Record<string, string>, number][] = [
    ["PUT", 1, { "if-match": tag }, 204],
    ["PUT", 1, { "if-match": `"x", ${tag}` }, 204],
    ["PUT", 1, { "if-match": "*" }, 204],
    ["PUT", 1, { "if-match": `W/${tag}` }, 412],
    ["PUT", 1, { "if-match": '"x"' }, 412],
    ["PUT", 1, { "if-match": "" }, 412],
    ["PUT", 1, {}, 428],
    ["PUT", 1, { "if-none-match": "*" }, 412],
    ["PUT", 2, { "if-none-match": "*" }, 204],
    ["PUT", 2, { "if-match": "*" }, 412],
    ["PUT", 2, { "if-match": tag }, 412],
    ["PATCH", 1, {}, 204],
    ["PATCH", 1, { "if-match": '"x"' }, 412],
  ];
  for (const [method, id, headers, expected] of rows) {
    const response = await ask(application, `/books/${id}`, { method, headers });
    assert.equal(response.status, expected, `${method} ${id} ${JSON.stringify(headers)}`);
    if (expected === 412) assert.equal(response.headers.get("etag"), id === 1 ? tag : null);
  }
});

test("tagOf: the same value has the same tag", async () => {
  assert.equal(await tagOf({ a: 1n }), await tagOf({ a: "1" }));
  assert.notEqual(await tagOf([1]), await tagOf([2]));
  assert.equal(await tagOf("é"), await tagOf(new TextEncoder().encode("é")));
  await assert.rejects(tagOf(undefined), /ETag/);
});

test("a list of tags contains exactly its tags", () => {
  const opaque = fc.stringMatching(/^"[!#-~]{0,8}"$/);
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.boolean(), opaque), { maxLength: 5 }), opaque, (tags, tag) => {
      const list = tags.map(([weak, each]) => (weak ? `W/${each}` : each)).join(", ");
      assert.equal(
        lists(list, tag, false),
        tags.some(([, each]) => each === tag),
      );
      assert.equal(
        lists(list, tag, true),
        tags.some(([weak, each]) => !weak && each === tag),
      );
      assert.equal(lists(list, `W/${tag}`, true), false);
    }),
  );
});

test("cache-control: directives, and combinations that contradict each other", () => {
  const rows: [CacheDirectives, string | RegExp][] = [
    [{ public: true, maxAge: 60 }, "public, max-age=60"],
    [{ private: true, noCache: true, mustRevalidate: false }, "private, no-cache"],
    [
      { maxAge: 0, sharedMaxAge: 5, staleWhileRevalidate: 6, staleIfError: 7 },
      "max-age=0, s-maxage=5, stale-while-revalidate=6, stale-if-error=7",
    ],
    [{ noStore: true, noTransform: true }, "no-store, no-transform"],
    [{ immutable: true, maxAge: 31_536_000 }, "immutable, max-age=31536000"],
    [{ public: true, private: true }, /exclude each other/],
    [{ noStore: true, maxAge: 1 }, /exclude each other/],
    [{ maxAge: -1 }, /number of seconds/],
    [{ maxAge: 1.5 }, /number of seconds/],
    [{ maxAge: "1\r\nx: y" as never }, /number of seconds/],
    [{ maxage: 1 } as never, /no directive maxage/],
  ];
  for (const [directives, expected] of rows) {
    if (typeof expected === "string") assert.equal(cacheControl(directives), expected);
    else assert.throws(() => cacheControl(directives), expected);
  }
});

test("the default applies to answers without the header, and never to errors and cookies", async () => {
  class Cookies extends Controller {
    GET() {
      this.setCookie("a", "1");
    }
  }
  const application = applicationWith([defaultCacheControl({ maxAge: 5 })], { Default, Dated, Cookies });
  for (const [path, expected] of [
    ["/json", "max-age=5"],
    ["/error", "no-store"],
    ["/a/b", "no-store"],
    ["/dated", "no-store"],
    ["/cookies", "no-store"],
  ] as const)
    assert.equal((await ask(application, path)).headers.get("cache-control"), expected, path);
});
