/** Versions that a client asks for with `Accept`. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Validator } from "@seriousme/openapi-schema-validator";
import { Application, type ApplicationOptions, Controller } from "@tollway/waymark";
import { acceptedVersions } from "../src/http/accept-version.ts";

class Books extends Controller {
  GET(id: number): { id: number; api: string } {
    return { id, api: "none" };
  }
}
class BooksOfV1 extends Controller {
  GET(id: number): { id: number; api: string } {
    return { id, api: "v1" };
  }
}
class BooksOfV2 extends Controller {
  GET(id: number): { id: number; api: string } {
    return { id, api: "v2" };
  }
  PUT(id: number) {
    return id;
  }
}
class Shelves extends Controller {
  GET() {
    return "shelves";
  }
}

const controllers = { Books, v1: { Books: BooksOfV1 }, v2: { Books: BooksOfV2, Shelves } };

function made(options: ApplicationOptions = {}): Application {
  return new Application({ controllers, versions: { names: ["v1", "v2"], vendor: "shop" }, ...options });
}

async function ask(application: Application, path: string, accept?: string, init: RequestInit = {}) {
  const headers = { ...(accept !== undefined && { accept }), ...(init.headers as Record<string, string>) };
  return application.fetch(new Request(`http://localhost${path}`, { ...init, headers }));
}

test("a 404 names the version that Accept has selected", async () => {
  const detail = async (path: string, accept?: string) =>
    ((await (await ask(made(), path, accept)).json()) as { detail: string }).detail;
  assert.equal(
    await detail("/shelves", "application/json; version=v1"),
    "no controller of version v1 serves /shelves",
  );
  assert.match(await detail("/shelves"), /^no controller serves \/shelves/);
});

const rows: readonly (readonly [path: string, accept: string | undefined, answer: string | number])[] = [
  ["/books/1", undefined, "none"],
  ["/books/1", "*/*", "none"],
  ["/books/1", "text/html, */*;q=0.8", "none"],
  ["/books/1", "application/json", "none"],
  ["/books/1", "application/json; version=v1", "v1"],
  ["/books/1", "application/json; version=v2", "v2"],
  ["/books/1", 'APPLICATION/JSON;Version="v2"', "v2"],
  ["/books/1", "application/vnd.shop.v2+json", "v2"],
  ["/books/1", "application/vnd.shop+json; version=v2", "v2"],
  ["/books/1", "application/vnd.other.v2+json", "none"],
  ["/books/1", "application/json; version=v1;q=0.2, application/json; version=v2", "v2"],
  ["/books/1", "application/json; version=v9, application/json; version=v1; q=0.1", "v1"],
  ["/books/1", "*/*, application/json; version=v1", "v1"],
  ["/books/1", "application/json; version=v9, */*;q=0.1", "none"],
  ["/books/1", "application/json; version=v1;q=0", "none"],
  ["/books/1", "text/html; version=5", "none"],
  ["/books/1", "application/json; version=v9", 406],
  ["/books/1", "application/json; version=", 406],
  ["/books/1", "application/json; version=__proto__", 406],
  ["/v1/books/1", undefined, "v1"],
  ["/v1/books/1", "application/json; version=v1", "v1"],
  ["/v1/books/1", "application/json; version=v2", 406],
  ["/shelves", "application/json; version=v2", "shelves"],
  ["/shelves", undefined, 404],
  ["/shelves", "application/json; version=v1", 404],
];
for (const [path, accept, expected] of rows) {
  test(`${path} with ${accept} is ${expected}`, async () => {
    const response = await ask(made(), path, accept);
    assert.equal(response.headers.get("vary"), "Accept");
    const body = (await response.json()) as { api?: string };
    if (typeof expected === "number") assert.equal(response.status, expected, JSON.stringify(body));
    else assert.equal(body.api ?? body, expected);
  });
}

test("406 names the versions", async () => {
  const response = await ask(made(), "/books/1", "application/json; version=v9");
  const { detail } = (await response.json()) as { detail: string };
  assert.equal(detail, 'there is no version "v9": the versions are v1, v2');
});

test("HEAD, OPTIONS and 405 are those of the version", async () => {
  const application = made();
  const v2 = "application/json; version=v2";
  assert.equal((await ask(application, "/shelves", v2, { method: "HEAD" })).status, 200);
  const options = await ask(application, "/books/1", v2, { method: "OPTIONS" });
  assert.match(options.headers.get("allow")!, /PUT/);
  const refused = await ask(application, "/books/1", undefined, { method: "PUT" });
  assert.equal(refused.status, 405);
  assert.equal(refused.headers.get("vary"), "Accept");
});

test("a preflight gets the methods of all versions, because it does not tell its own", async () => {
  const application = made({ cors: { origins: ["https://shop.example"] } });
  const headers = { origin: "https://shop.example", "access-control-request-method": "PUT" };
  for (const [path, method] of [
    ["/books/1", "PUT"],
    ["/shelves", "GET"],
  ] as const) {
    const response = await ask(application, path, "*/*", { method: "OPTIONS", headers });
    assert.equal(response.status, 204);
    assert.match(response.headers.get("access-control-allow-methods")!, new RegExp(method));
    assert.match(response.headers.get("vary")!, /Accept(,|$)/);
  }
  assert.equal((await ask(application, "/none", "*/*", { method: "OPTIONS", headers })).status, 404);
});

test("a version without a module is an error at start", async () => {
  await assert.rejects(made({ versions: { names: ["v1", "v3"] } }).ready(), {
    code: "INVALID_OPTION",
    message: /versions: "v3" needs the module .*v3, which does not exist/,
  });
  assert.throws(() => made({ versions: { names: [] } }), /versions\.names must be a list/);
});

test("the document has the responses of the versions, and is valid", async () => {
  const application = made({ openapi: { page: false } });
  const document = await (await ask(application, "/openapi.json")).json();
  const { paths } = document as {
    paths: Record<
      string,
      Record<string, { description: string; responses: Record<string, { content: object }> }>
    >;
  };
  const { description, responses } = paths["/books/{id}"]!.get!;
  assert.deepEqual(Object.keys(responses["200"]!.content), [
    "application/json",
    "application/vnd.shop.v1+json",
    "application/vnd.shop.v2+json",
  ]);
  assert.match(
    description,
    /With `Accept: application\/vnd\.shop\.v2\+json`: version v2, see \/v2\/books\/\{id\}\./,
  );
  assert.equal(paths["/books/{id}"]!.put, undefined);
  const { valid, errors } = await new Validator().validate(document as Record<string, unknown>);
  assert.ok(valid, JSON.stringify(errors));
});

test("a header of any form is read in time that grows with its length", () => {
  assert.deepEqual(acceptedVersions(""), [undefined]);
  assert.deepEqual(acceptedVersions(",;;=,version=v1"), [undefined, undefined, undefined]);
  assert.equal(acceptedVersions("application/json;version=v1,".repeat(500)).length, 501);
});
