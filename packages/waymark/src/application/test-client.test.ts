import assert from "node:assert/strict";
import { test } from "node:test";
import { Application, Controller, HttpError } from "@tollway/waymark";
import { client } from "@tollway/waymark/client";

interface Book {
  id: number;
  title: string;
}

class Books extends Controller {
  GET(id: number, { tags = [], since }: { tags?: string[]; since?: Date }) {
    return { id, title: "Emma", tags, since };
  }
  POST({ title }: { title: string }): Book {
    this.response.status = 201;
    return { id: 2, title };
  }
  async PUT({ file, note }: { file: File; note: number }) {
    return [file.name, await file.text(), note];
  }
  DELETE() {
    throw new HttpError(409, "taken");
  }
  QUERY() {
    return this.headers.get("authorization");
  }
}

class Session extends Controller {
  GET() {
    return this.cookies;
  }
  POST(name: string) {
    this.setCookie(name, "a b");
  }
  DELETE(name: string) {
    this.deleteCookie(name);
  }
}

class Raw extends Controller {
  async PUT() {
    return (await this.bytes()).length;
  }
  GET() {
    return new Uint8Array([1, 2]);
  }
  async *POST() {
    yield { a: 1 };
    yield { a: 2 };
  }
}

const { test: api } = new Application({ controllers: { Books, Session, Raw }, log: () => undefined });

test("requests with a query, JSON, forms, files and streams", async () => {
  const since = new Date(0);
  const found = await api.get<Book & { tags: string[] }>("/books/1", {
    query: { tags: ["a", "b c"], since, none: undefined },
  });
  assert.equal(found.body.title, "Emma");
  assert.deepEqual(found.body, { id: 1, title: "Emma", tags: ["a", "b c"], since: since.toISOString() });
  for (const options of [{ json: { title: "Persuasion" } }, { form: { title: "Persuasion" } }]) {
    const { status, ok, body } = await api.post<Book>("/books", options);
    assert.deepEqual([status, ok, body], [201, true, { id: 2, title: "Persuasion" }]);
  }
  const form = { file: new File(["text"], "a.txt"), note: 7 };
  assert.deepEqual((await api.put("/books", { form })).body, ["a.txt", "text", 7]);
  assert.equal((await api.put<number>("/raw", { body: new Uint8Array(5) })).body, 5);
  assert.equal((await api.put<number>("/raw", { body: new Blob(["abc"]).stream() })).body, 3);
});

test("answers: problems, nothing, bytes, lines, HEAD and other methods", async () => {
  const conflict = await api.delete<{ detail: string }>("/books");
  assert.deepEqual([conflict.status, conflict.ok, conflict.body.detail], [409, false, "taken"]);
  const none = await api.post("/session/a");
  assert.deepEqual([none.status, none.body, none.text], [204, undefined, ""]);
  assert.deepEqual([...(await api.get("/raw")).bytes], [1, 2]);
  assert.deepEqual((await api.post("/raw")).body, [{ a: 1 }, { a: 2 }]);
  assert.equal((await api.head("/books/1")).headers.get("content-type"), "application/json; charset=utf-8");
  assert.match((await api.options("/books/1")).headers.get("allow")!, /GET/);
  assert.equal((await api.patch("/books")).status, 501);
  assert.equal((await api.request("QUERY", "/books", { headers: { authorization: "x" } })).body, "x");
});

test("a client keeps cookies, and another one has its own", async () => {
  const first = api.client({ authorization: "Bearer t" });
  await first.post("/session/a");
  await first.post("/session/b");
  assert.deepEqual((await first.get("/session")).body, { a: "a b", b: "a b" });
  await first.delete("/session/a");
  assert.deepEqual([...first.cookies.keys()], ["b"]);
  assert.deepEqual((await first.client().get("/session")).body, {});
  assert.equal((await first.client().request("QUERY", "/books")).body, "Bearer t");
  assert.equal((await api.client().request("QUERY", "/books")).status, 204);
});

test("mistakes of a test are errors", async () => {
  await assert.rejects(api.get("books"), /must start with a slash: "\/books"/);
  await assert.rejects(api.post("/books", { json: {}, form: {} }), /one of json, form and body/);
});

test("the typed client has the cookies and headers of the test client", async () => {
  const application = new Application({ controllers: { Books, Session } });
  const ann = application.test.client({ authorization: "Bearer ann" });
  const api = client<{ "": { Books: typeof Books; Session: typeof Session } }>(ann);
  await api.session.POST("theme");
  assert.deepEqual(await api.session.GET(), { theme: "a b" });
  assert.equal(ann.cookies.get("theme"), "a%20b");
  const book: { id: number; title: string } = await api.books.POST({ title: "Emma" });
  assert.equal(book.title, "Emma");
  assert.equal(await api.books.QUERY(), "Bearer ann");
  const bob = await api.books.QUERY.with({ headers: { authorization: "Bearer bob" } })();
  assert.equal(bob, "Bearer bob");
  // @ts-expect-error the title is a text
  const { problem } = await api.books.POST.safe({ title: [1, 2] });
  assert.equal(problem?.status, 400);
});
