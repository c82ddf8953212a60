import assert from "node:assert/strict";
import { client, ProblemError, type Result } from "@tollway/waymark/client";
import type { Api } from "./waymark.api.d.ts";

/** Where a bookstore with the token "secret" serves. */
export interface Served {
  readonly url: string;
  /** Default: the platform's. */
  readonly fetch?: (request: Request) => Promise<Response>;
}

/** One thing that a bookstore does, with the name of the test. */
export type Step = readonly [name: string, run: () => Promise<void>];

/** Tests of the bookstore, for every runtime that serves it. */
export function scenario({ url, fetch = globalThis.fetch }: Served): Step[] {
  const steps: Step[] = [];
  const test = (name: string, run: () => Promise<void>) => void steps.push([name, run]);
  const TOKEN = { authorization: "Bearer secret" };
  /** Without the token, reading is all that the server allows. */
  const visitor = client<Api>(url, { fetch });
  const { books, authors } = client<Api>(url, { fetch, headers: TOKEN });
  const { reviews, covers } = books;

  /** The page of `GET /books`, which returns one book for an id. */
  async function listed(paging: { author?: string; page?: number; size?: number }) {
    const list = await books.GET(undefined, paging);
    assert.ok("items" in list);
    return list;
  }

  /** The names of the faults that the server finds. */
  async function faults(result: Promise<Result<unknown, false>>): Promise<string[]> {
    const refused = await result;
    assert.ok(refused.status === 400);
    return (refused.problem.errors ?? []).map(({ name }) => name).sort();
  }

  test("a book is added, read, changed and removed", async () => {
    const added = await books.POST.safe({ title: "Emma", author: "Jane Austen", year: 1815 });
    assert.ok(added.ok && added.status === 201);
    const { id } = added.data;
    assert.equal(added.headers.get("location"), `/books/${id}`);
    assert.equal(added.headers.get("x-content-type-options"), "nosniff");
    assert.deepEqual(await books.GET(id), added.data);
    assert.equal((await books.PUT(id, { title: "Emma", author: "Jane Austen", year: null })).year, null);
    assert.equal((await books.DELETE.safe(id)).status, 204);
    const missing = await books.GET.safe(id);
    assert.ok(missing.status === 404 && missing.problem.code === "NO_BOOK");
    const changed = await books.PUT.safe(id, { title: "x", author: "y" });
    assert.ok(changed.status === 404 && changed.problem.detail === `there is no book ${id}`);
  });

  test("all faults of a book are reported together, by name", async () => {
    const book = { title: "", year: 3000, isbn: "1" } as unknown as { title: string; author: string };
    assert.deepEqual(await faults(books.POST.safe(book)), ["author", "isbn", "title", "year"]);
  });

  test("the same book twice is a conflict", async () => {
    const book = { title: "Persuasion", author: "Jane Austen" };
    await books.POST(book);
    await assert.rejects(books.POST(book), isDuplicate);
  });

  function isDuplicate(error: unknown): boolean {
    return error instanceof ProblemError && error.status === 409 && error.problem.code === "DUPLICATE_BOOK";
  }

  test("a change that makes two books the same is a conflict", async () => {
    const abbey = { title: "Northanger Abbey", author: "Jane Austen" };
    await books.POST(abbey);
    const { id } = await books.POST({ title: "Sanditon", author: "Jane Austen" });
    await assert.rejects(books.PUT(id, abbey), isDuplicate);
    assert.equal((await books.PUT(id, { title: "Sanditon", author: "Jane Austen", year: 1817 })).year, 1817);
  });

  test("invalid pages, sizes, years, ids and stars are rejected by name", async () => {
    for (const size of [1.5, 1000])
      assert.deepEqual(await faults(books.GET.safe(undefined, { size })), ["size"]);
    for (const page of [1e300, 1.5, Number.MAX_SAFE_INTEGER, 0, -1])
      assert.deepEqual(await faults(books.GET.safe(undefined, { page })), ["page"]);
    for (const id of [1.5, 1e300, -1]) assert.deepEqual(await faults(books.GET.safe(id)), ["id"]);
    assert.deepEqual(await faults(covers.GET.safe(1.5)), ["book"]);
    assert.deepEqual(await faults(reviews.GET.safe(1e20)), ["book"]);
    // A text that is no number of JSON.
    const text = await fetch(new Request(`${url}/books?size=1e2.5`));
    assert.equal(text.status, 400);
    const { id } = await books.POST({ title: "Numbers", author: "N" });
    for (const year of [1815.5, 1e300, 1e20]) {
      const book = { title: "Year", author: "Y", year };
      assert.deepEqual(await faults(books.POST.safe(book)), ["year"]);
      assert.deepEqual(await faults(books.PUT.safe(id, book)), ["year"]);
    }
    assert.deepEqual(await faults(reviews.POST.safe(id, { stars: 4.5 })), ["stars"]);
    assert.equal((await listed({ page: 1_000_000, size: 100 })).items.length, 0);
  });

  test("without the token nothing changes, and the answer reveals nothing", async () => {
    for (const authorization of [undefined, "Bearer wrong", "Basic secret"]) {
      const headers = authorization === undefined ? {} : { authorization };
      const nonsense = { nonsense: true } as unknown as { title: string; author: string };
      const refused = await visitor.books.POST.with({ headers }).safe(nonsense);
      assert.ok(!refused.ok && refused.status === 401);
      assert.match(refused.headers.get("www-authenticate") ?? "", /^Bearer/);
      assert.doesNotMatch(JSON.stringify(refused.problem), /nonsense/);
    }
  });

  test("the list has pages, and a link to the next", async () => {
    for (let at = 0; at < 5; at++) await books.POST({ title: `Volume ${at}`, author: "Paged" });
    const first = await books.GET.safe(undefined, { author: "Paged", size: 2 });
    assert.ok(first.ok && "items" in first.data);
    assert.deepEqual(
      first.data.items.map(({ title }) => title),
      ["Volume 0", "Volume 1"],
    );
    assert.equal(first.data.total, 5);
    assert.equal(first.headers.get("link"), '</books?author=Paged&size=2&page=2>; rel="next"');
    const last = await books.GET.safe(undefined, { author: "Paged", size: 2, page: 3 });
    assert.equal(last.headers.get("link"), null);
  });

  test("reviews and authors", async () => {
    const { id } = await books.POST({ title: "Reviewed", author: "R" });
    assert.equal((await reviews.POST.safe(id, { stars: 5, text: "Good." })).status, 201);
    assert.deepEqual(await faults(reviews.POST.safe(id, { stars: 6 })), ["stars"]);
    assert.deepEqual(await reviews.GET(id), [{ id: 1, stars: 5, text: "Good." }]);
    assert.equal((await reviews.GET.safe(999_999)).status, 404);
    const all = await authors.GET();
    assert.deepEqual(
      all.find(({ author }) => author === "R"),
      { author: "R", books: 1 },
    );
  });

  test("a cover is uploaded and served with its type", async () => {
    const { id } = await books.POST({ title: "Covered", author: "C" });
    assert.equal((await covers.GET.safe(id)).status, 404);
    const upload = (type: string) =>
      covers.PUT.safe(id, { file: new File([new Uint8Array([137, 80, 78, 71])], "cover.png", { type }) });
    assert.equal((await upload("text/html")).status, 415);
    assert.equal((await upload("image/png")).status, 204);
    const cover = await covers.GET(id);
    assert.equal(cover.type, "image/png");
    assert.deepEqual([...new Uint8Array(await cover.arrayBuffer())], [137, 80, 78, 71]);
  });

  test("the export streams, as lines or as events", async () => {
    for (const events of [false, true]) {
      const titles: string[] = [];
      for await (const { title } of await books.export.GET.with({ events })()) titles.push(title);
      assert.ok(titles.length >= 5 && titles.includes("Volume 4"), titles.join());
    }
  });
  return steps;
}
