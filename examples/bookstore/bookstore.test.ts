import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Validator } from "@seriousme/openapi-schema-validator";

const folder = mkdtempSync(join(tmpdir(), "bookstore-"));
process.env.BOOKSTORE_DB = join(folder, "test.sqlite");
process.env.BOOKSTORE_TOKEN = "secret";
const { application } = await import("./app.ts");

before(() => application.ready());
after(async () => {
  await application.stop();
  rmSync(folder, { recursive: true });
});

const TOKEN = { authorization: "Bearer secret" };

function ask(path: string, init: RequestInit = {}): Promise<Response> {
  return application.fetch(new Request(`http://localhost${path}`, init));
}

function send(
  method: string,
  path: string,
  value: unknown,
  headers: Record<string, string> = TOKEN,
): Promise<Response> {
  return ask(path, {
    method,
    body: JSON.stringify(value),
    headers: { ...headers, "content-type": "application/json" },
  });
}

test("a book is added, read, changed and removed", async () => {
  const added = await send("POST", "/books", { title: "Emma", author: "Jane Austen", year: 1815 });
  assert.equal(added.status, 201);
  assert.equal(added.headers.get("x-content-type-options"), "nosniff");
  const location = added.headers.get("location")!;
  const book = await added.json();
  assert.deepEqual(await (await ask(location)).json(), book);
  const changed = await send("PUT", location, { title: "Emma", author: "Jane Austen", year: null });
  assert.equal(((await changed.json()) as { year: unknown }).year, null);
  assert.equal((await ask(location, { method: "DELETE", headers: TOKEN })).status, 204);
  assert.equal((await ask(location)).status, 404);
  assert.equal((await send("PUT", location, { title: "x", author: "y" })).status, 404);
});

test("all faults of a book are reported together, by name", async () => {
  const refused = await send("POST", "/books", { title: "", year: 3000, isbn: "1" });
  assert.equal(refused.status, 400);
  const { errors } = (await refused.json()) as { errors: { in: string; name: string }[] };
  assert.deepEqual(errors.map(({ name }) => name).sort(), ["author", "isbn", "title", "year"]);
});

test("the same book twice is a conflict", async () => {
  const book = { title: "Persuasion", author: "Jane Austen" };
  assert.equal((await send("POST", "/books", book)).status, 201);
  const conflict = await send("POST", "/books", book);
  assert.equal(conflict.status, 409);
  assert.equal(((await conflict.json()) as { code: string }).code, "DUPLICATE_BOOK");
});

test("a change that makes two books the same is a conflict", async () => {
  const persuasion = { title: "Northanger Abbey", author: "Jane Austen" };
  assert.equal((await send("POST", "/books", persuasion)).status, 201);
  const added = await send("POST", "/books", { title: "Sanditon", author: "Jane Austen" });
  const location = added.headers.get("location")!;
  const conflict = await send("PUT", location, persuasion);
  assert.equal(conflict.status, 409);
  assert.equal(((await conflict.json()) as { code: string }).code, "DUPLICATE_BOOK");
  assert.equal(
    (await send("PUT", location, { title: "Sanditon", author: "Jane Austen", year: 1817 })).status,
    200,
  );
});

test("invalid pages, sizes, years, ids and stars are rejected by name", async () => {
  const rows: readonly (readonly [path: string, name: string])[] = [
    ["/books?size=1.5", "size"],
    ["/books?size=1e2.5", "size"],
    ["/books?page=1e300", "page"],
    ["/books?page=1.5", "page"],
    ["/books?page=9007199254740991&size=100", "page"],
    ["/books?page=0", "page"],
    ["/books?page=-1", "page"],
    ["/books/1.5", "id"],
    ["/books/1e300", "id"],
    ["/books/-1", "id"],
    ["/books/covers/1.5", "book"],
    ["/books/reviews/1e20", "book"],
  ];
  const named = async (answer: Response) => {
    assert.equal(answer.status, 400);
    const { errors } = (await answer.json()) as { errors: { name: string }[] };
    return errors.map(({ name }) => name);
  };
  for (const [path, name] of rows) assert.deepEqual(await named(await ask(path)), [name], path);
  const { headers } = await send("POST", "/books", { title: "Numbers", author: "N" });
  const location = headers.get("location")!;
  for (const year of [1815.5, 1e300, 1e20]) {
    const book = { title: "Year", author: "Y", year };
    assert.deepEqual(await named(await send("POST", "/books", book)), ["year"]);
    assert.deepEqual(await named(await send("PUT", location, book)), ["year"]);
  }
  const reviews = location.replace("/books/", "/books/reviews/");
  assert.deepEqual(await named(await send("POST", reviews, { stars: 4.5 })), ["stars"]);
  const largest = await ask("/books?page=1000000&size=100");
  assert.equal(largest.status, 200);
});

test("without the token nothing changes, and the answer reveals nothing", async () => {
  for (const headers of [{}, { authorization: "Bearer wrong" }, { authorization: "Basic secret" }]) {
    const refused = await send("POST", "/books", { nonsense: true }, headers as Record<string, string>);
    assert.equal(refused.status, 401);
    assert.equal(refused.headers.get("www-authenticate"), "Bearer");
    assert.doesNotMatch(await refused.text(), /nonsense/);
  }
});

test("the list has pages, and a link to the next", async () => {
  for (let at = 0; at < 5; at++) await send("POST", "/books", { title: `Volume ${at}`, author: "Paged" });
  const first = await ask("/books?author=Paged&size=2");
  const { items, total } = (await first.json()) as { items: { title: string }[]; total: number };
  assert.deepEqual([items.map(({ title }) => title), total], [["Volume 0", "Volume 1"], 5]);
  const next = first.headers.get("link")!;
  assert.equal(next, '</books?author=Paged&size=2&page=2>; rel="next"');
  const last = await ask("/books?author=Paged&size=2&page=3");
  assert.equal(last.headers.get("link"), null);
  assert.equal((await ask("/books?size=1000")).status, 400);
});

test("reviews and authors", async () => {
  const { id } = (await (await send("POST", "/books", { title: "Reviewed", author: "R" })).json()) as {
    id: number;
  };
  assert.equal((await send("POST", `/books/reviews/${id}`, { stars: 5, text: "Good." })).status, 201);
  assert.equal((await send("POST", `/books/reviews/${id}`, { stars: 6 })).status, 400);
  assert.deepEqual(await (await ask(`/books/reviews/${id}`)).json(), [{ id: 1, stars: 5, text: "Good." }]);
  assert.equal((await ask("/books/reviews/999999")).status, 404);
  const authors = (await (await ask("/authors")).json()) as { author: string; books: number }[];
  assert.deepEqual(
    authors.find(({ author }) => author === "R"),
    { author: "R", books: 1 },
  );
});

test("a cover is uploaded and served with its type", async () => {
  const { id } = (await (await send("POST", "/books", { title: "Covered", author: "C" })).json()) as {
    id: number;
  };
  assert.equal((await ask(`/books/covers/${id}`)).status, 404);
  const upload = (type: string) => {
    const body = new FormData();
    body.set("file", new File([new Uint8Array([137, 80, 78, 71])], "cover.png", { type }));
    return ask(`/books/covers/${id}`, { method: "PUT", body, headers: TOKEN });
  };
  assert.equal((await upload("text/html")).status, 415);
  assert.equal((await upload("image/png")).status, 204);
  const cover = await ask(`/books/covers/${id}`);
  assert.equal(cover.headers.get("content-type"), "image/png");
  assert.deepEqual([...new Uint8Array(await cover.arrayBuffer())], [137, 80, 78, 71]);
});

test("the export streams, as lines or as events", async () => {
  const lines = await (await ask("/books/export")).text();
  assert.ok(
    lines
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line)).length >= 5,
  );
  const events = await ask("/books/export", { headers: { accept: "text/event-stream" } });
  assert.match(await events.text(), /^data: \{"id":\d+/);
});

test("the OpenAPI document is valid, and the reviewed routes are up to date", async () => {
  const document = (await (await ask("/openapi.json")).json()) as { paths: Record<string, unknown> };
  const { valid, errors } = await new Validator().validate(document);
  assert.ok(valid, JSON.stringify(errors));
  assert.ok("/books/{id}" in document.paths && "/books/reviews/{book}" in document.paths);
  const { post } = (document.paths as Record<string, { post: { responses: object } }>)["/books"]!;
  assert.deepEqual(Object.keys(post.responses), ["201", "4XX", "5XX"]);
  const launcher = join(import.meta.dirname, "..", "..", "packages", "waymark", "bin", "waymark.mjs");
  const args = [launcher, "routes", "--app=app.ts", `--check=${join(import.meta.dirname, "routes.txt")}`];
  execFileSync(process.execPath, args, { cwd: import.meta.dirname });
});
