import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { Validator } from "@seriousme/openapi-schema-validator";
import { Ajv2020 } from "ajv/dist/2020.js";
import { z } from "zod";
import { readMethod } from "../signature/source/method.ts";
import { ParsedModule } from "../signature/source/module.ts";
import { SourceModules } from "../signature/source/modules.ts";
import { SourceText } from "../signature/source/text.ts";
import { type DocumentedClass, type DocumentOptions, openApiDocument } from "./document.ts";
import type { OpenApiDocument, OpenApiResponse, Operation } from "./document-types.ts";
import type { DocumentedGuard } from "./security.ts";

type JsonObject = { readonly [key: string]: unknown };

const INFO = { title: "Example", version: "1.2.3" };

/** A documented class for a source text and a path. */
function classOf(
  path: string,
  text: string,
  controller: DocumentedClass["controller"] = {},
): DocumentedClass {
  const module = new ParsedModule(new SourceText("/virtual.ts", text));
  const modules = new SourceModules();
  const verbs = new Map<string, { signature: ReturnType<typeof readMethod>; guard?: DocumentedGuard }>();
  for (const method of module.functions.values()) {
    const { member } = method;
    if (member?.kind !== "method" || !("name" in member.key)) continue;
    const verb = String(member.key.name);
    const schemaNames = new Set(Object.keys(controller.schema?.[verb] ?? {}));
    const options = { unreadableTypes: "error", schemaNames, warn: () => {} } as const;
    verbs.set(verb, { signature: readMethod(verb, method, modules, options) });
  }
  return { name: "Example", path, verbs, controller };
}

async function documentOf(classes: readonly DocumentedClass[], options: Partial<DocumentOptions> = {}) {
  const document = openApiDocument({ classes }, { ...INFO, ...options });
  await assertValid(document);
  return document;
}

/** Also checks ids, path parameters and references, which the validator's schema does not cover. */
async function assertValid(document: OpenApiDocument): Promise<void> {
  const copy = JSON.parse(JSON.stringify(document)) as Record<string, unknown>;
  assert.deepEqual(copy, document, "the document is plain JSON");
  const { valid, errors } = await new Validator().validate(copy);
  assert.ok(valid, JSON.stringify(errors));
  const ids = new Set<string>();
  for (const [path, item] of Object.entries(document.paths)) {
    for (const operation of Object.values(item)) {
      assert.ok(!ids.has(operation.operationId), `${operation.operationId} comes twice`);
      ids.add(operation.operationId);
      const named = [...path.matchAll(/\{([^}]+)\}/g)].map((match) => match[1]);
      const own = (operation.parameters ?? [])
        .filter((parameter) => parameter.in === "path")
        .map(({ name }) => name);
      assert.deepEqual(own, named, path);
      const all = (operation.parameters ?? []).map((parameter) => `${parameter.in} ${parameter.name}`);
      assert.equal(new Set(all).size, all.length, `${path} has a parameter twice`);
    }
  }
  const ajv = new Ajv2020();
  for (const schema of schemasIn(document)) {
    assert.ok(ajv.validateSchema(schema), `${JSON.stringify(schema)}: ${JSON.stringify(ajv.errors)}`);
  }
  for (const [reference] of JSON.stringify(document).matchAll(/(?<="\$ref":"#\/)[^"]+/g)) {
    const target = reference
      .split("/")
      .reduce<unknown>((at, key) => (at as Record<string, unknown>)?.[key], document);
    assert.ok(target, `nothing at ${reference}`);
  }
}

/** Every schema of a document, outermost first. */
function schemasIn(value: unknown): JsonObject[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, own]) => {
    if (key === "schema") return [own as JsonObject];
    return key === "schemas" ? (Object.values(own as JsonObject) as JsonObject[]) : schemasIn(own);
  });
}

async function operationOf(
  method: string,
  declarations = "",
  path = "/it",
  controller: DocumentedClass["controller"] = {},
) {
  const document = await documentOf([
    classOf(path, `${declarations}\nexport class Example {\n${method} {}\n}`, controller),
  ]);
  const [item] = Object.values(document.paths);
  return { document, operation: Object.values(item!)[0] as Operation };
}

suite("paths", () => {
  const rows: readonly (readonly [path: string, method: string, paths: string[]])[] = [
    ["/", "GET()", ["/"]],
    ["/", "GET(id: number)", ["/{id}"]],
    ["/foo", "GET()", ["/foo"]],
    ["/foo", "GET(id: number)", ["/foo/{id}"]],
    ["/foo", "GET(id?: number)", ["/foo", "/foo/{id}"]],
    ["/foo", "GET(a: string, b = 1, c?: string)", ["/foo/{a}", "/foo/{a}/{b}", "/foo/{a}/{b}/{c}"]],
    ["/foo", "GET(a: string | undefined, b: number)", ["/foo/{a}/{b}"]],
    ["/foo", "GET(...path: string[])", ["/foo", "/foo/{path}"]],
    ["/foo", "GET({ a }: { a?: string }, ...path: string[])", ["/foo", "/foo/{path}"]],
    ["/foo", "LIST()", []],
  ];
  for (const [path, method, expected] of rows) {
    test(`${path} ${method}`, async () => {
      const document = await documentOf([classOf(path, `class Example { ${method} {} }`)]);
      assert.deepEqual(Object.keys(document.paths), expected);
    });
  }
  test("paths that differ only in parameter names are one path", async () => {
    const document = await documentOf([
      classOf(
        "/foo",
        "class Example { GET(id: number) {} PUT(key: string, book: { title: string }) {} DELETE(id: number, id2: string) {} }",
      ),
    ]);
    assert.deepEqual(Object.keys(document.paths), ["/foo/{id}", "/foo/{id}/{id2}"]);
    assert.deepEqual(Object.keys(document.paths["/foo/{id}"]!), ["get", "put"]);
    assert.deepEqual(document.paths["/foo/{id}"]!.put!.parameters![0], {
      name: "id",
      in: "path",
      required: true,
      schema: { type: "string" },
    });
  });
  test("of two classes at one path, the first is documented", async () => {
    const document = await documentOf([
      classOf("/foo", "class Example { GET(): number {} }"),
      classOf("/foo", "class Example { GET(): string {} POST() {} }"),
    ]);
    assert.deepEqual(Object.keys(document.paths["/foo"]!), ["get", "post"]);
    assert.match(JSON.stringify(document.paths["/foo"]!.get!.responses), /"number"/);
  });
  test("operation ids are readable and unique", async () => {
    const document = await documentOf([
      classOf("/", "class Example { GET() {} }"),
      classOf("/foo-bar/baz", "class Example { GET(id?: number) {} POST() {} }"),
      classOf("/foo_bar/baz", "class Example { GET() {} }"),
    ]);
    const ids = Object.values(document.paths).flatMap((item) =>
      Object.values(item).map(({ operationId }) => operationId),
    );
    assert.deepEqual(ids, ["get", "getFooBarBaz", "postFooBarBaz", "getFooBarBazById", "getFooBarBaz2"]);
  });
});

suite("types", () => {
  const rows: readonly (readonly [type: string, schema: object])[] = [
    ["string", { type: "string" }],
    ["number", { type: "number" }],
    ["bigint", { type: "string", pattern: "^-?(?:0|[1-9][0-9]*)$" }],
    ["boolean", { type: "boolean" }],
    ["Date", { type: "string", format: "date-time" }],
    ["URL", { type: "string", format: "uri" }],
    ["'a' | 'b'", { type: "string", enum: ["a", "b"] }],
    ["'a'", { type: "string", enum: ["a"] }],
    ["1 | 2", { type: "number", enum: [1, 2] }],
    ["1 | 'a'", { type: ["number", "string"], enum: [1, "a"] }],
    ["5n", { type: "string", enum: ["5"] }],
    ["'a' | null", { type: ["string", "null"], enum: ["a", null] }],
    ["string | null", { type: ["string", "null"] }],
    ["number | string", { anyOf: [{ type: "number" }, { type: "string" }] }],
    ["number | 'all'", { anyOf: [{ type: "string", enum: ["all"] }, { type: "number" }] }],
    [
      "number | 'all' | null",
      { anyOf: [{ type: "string", enum: ["all"] }, { type: "number" }, { type: "null" }] },
    ],
    ["string[]", { type: "array", items: { type: "string" } }],
    [
      "[number, string?]",
      {
        type: "array",
        prefixItems: [{ type: "number" }, { type: "string" }],
        items: false,
        minItems: 1,
        maxItems: 2,
      },
    ],
    [
      "[number, ...string[]]",
      { type: "array", prefixItems: [{ type: "number" }], items: { type: "string" }, minItems: 1 },
    ],
    ["unknown", {}],
    [
      "{ x: number; y?: string }",
      {
        type: "object",
        properties: { x: { type: "number" }, y: { type: "string" } },
        required: ["x"],
        additionalProperties: false,
      },
    ],
    ["Record<string, number>", { type: "object", additionalProperties: { type: "number" } }],
    ["object", { type: "object", additionalProperties: {} }],
    [
      "Named",
      {
        type: "object",
        title: "Named",
        description: "A thing.",
        properties: { it: { type: "string", description: "Its text." } },
        required: ["it"],
        additionalProperties: false,
      },
    ],
  ];
  for (const [type, schema] of rows) {
    test(type, async () => {
      const declarations = "/** A thing. */ interface Named { /** Its text. */ it: string }";
      const { operation } = await operationOf(`POST({ it }: { it: ${type} })`, declarations);
      const body = operation.requestBody!.content["application/json"]!.schema as {
        properties: { it: object };
      };
      assert.deepEqual(body.properties.it, schema);
    });
  }
  const refined: readonly (readonly [parameter: string, schema: object])[] = [
    ["/** @minimum 1 @maximum 5 */ it: number", { type: "number", minimum: 1, maximum: 5 }],
    ["/** @format int32 */ it: number", { type: "integer", format: "int32" }],
    [
      "/** @format integer @minimum 0 */ it: number",
      { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
    ],
    [
      "/** @integer @exclusiveMaximum 9 */ it: number",
      { type: "integer", minimum: Number.MIN_SAFE_INTEGER, exclusiveMaximum: 9 },
    ],
    [
      "/** @integer @format int64 */ it: number",
      {
        type: "integer",
        format: "int64",
        minimum: Number.MIN_SAFE_INTEGER,
        maximum: Number.MAX_SAFE_INTEGER,
      },
    ],
    ["/** @integer @format int32 */ it: number", { type: "integer", format: "int32" }],
    ["/** @format double */ it: number", { type: "number", format: "double" }],
    [
      "/** @minLength 1 @maxLength 2 @pattern ^a */ it: string",
      { type: "string", minLength: 1, maxLength: 2, pattern: "^a" },
    ],
    ["/** @format uuid */ it: string", { type: "string", format: "uuid" }],
    ["/** @format date */ it: Date", { type: "string", format: "date" }],
    ["/** @minLength 1 */ it: string[]", { type: "array", items: { type: "string" }, minItems: 1 }],
    ["it = 5", { type: "number" }],
  ];
  for (const [parameter, schema] of refined) {
    test(parameter, async () => {
      const { document } = await operationOf(`GET(${parameter})`);
      assert.deepEqual(document.paths["/it/{it}"]!.get!.parameters![0]!.schema, schema);
    });
  }
  test("types that contain themselves are components, separate for requests and answers", async () => {
    const tree = "interface Tree { name: string; children?: Tree[] }";
    const document = await documentOf([
      classOf("/a", `${tree} class Example { POST(tree: Tree): Tree {} PUT(tree: Tree) {} }`),
      classOf(
        "/b",
        "interface Tree { other: Tree | null } class Example { POST({ tree }: { tree: Tree }) {} }",
      ),
      classOf("/c", `${tree} class Example { POST({ tree }: { tree: Tree }) {} }`),
    ]);
    assert.deepEqual(Object.keys(document.components.schemas), [
      "ProblemDetails",
      "Tree",
      "TreeOutput",
      "Tree2",
    ]);
    assert.deepEqual(document.components.schemas.Tree, {
      type: "object",
      title: "Tree",
      properties: {
        name: { type: "string" },
        children: { type: "array", items: { $ref: "#/components/schemas/Tree" } },
      },
      required: ["name"],
      additionalProperties: false,
    });
    assert.match(JSON.stringify(document.paths["/b"]), /Tree2/);
    assert.doesNotMatch(JSON.stringify(document.paths["/c"]), /Tree2/);
  });
  test("unknown names are documented as allowed if they are", async () => {
    const text = "class Example { POST({ a }: { a: string }) {} }";
    const closed = await documentOf([classOf("/x", text)]);
    const open = await documentOf([classOf("/x", text)], { unknownKeywords: "ignore" });
    const own = await documentOf([classOf("/x", text, { unknownKeywords: "ignore" })]);
    assert.match(JSON.stringify(closed.paths), /"additionalProperties":false/);
    assert.doesNotMatch(JSON.stringify(open.paths), /additionalProperties/);
    assert.doesNotMatch(JSON.stringify(own.paths), /additionalProperties/);
  });
  test("a property may have any name", async () => {
    const { operation } = await operationOf(
      "POST({ it }: { it: { __proto__: string; constructor?: number } })",
    );
    assert.match(JSON.stringify(operation), /"__proto__":\{"type":"string"\}/);
  });
});

suite("queries", () => {
  test("names, optionality, defaults, descriptions", async () => {
    const { operation } = await operationOf(`
      /**
       * Lists.
       * @param page Which page. @minimum 1
       */
      GET({ page = 1, sort, tags }: { page?: number; sort: "asc" | "desc"; /** Any of them. */ tags?: string[] })`);
    assert.equal(operation.summary, "Lists.");
    assert.deepEqual(operation.parameters, [
      {
        name: "page",
        in: "query",
        required: false,
        description: "Which page.",
        schema: { type: "number", minimum: 1, default: 1 },
      },
      { name: "sort", in: "query", required: true, schema: { type: "string", enum: ["asc", "desc"] } },
      {
        name: "tags",
        in: "query",
        required: false,
        description: "Any of them.",
        schema: { type: "array", items: { type: "string" } },
      },
    ]);
  });
  test("arguments may have any name", async () => {
    const { operation } = await operationOf("GET({ keywords, ...rest })");
    assert.deepEqual(operation.parameters, [
      { name: "keywords", in: "query", required: true, schema: { type: "string" } },
      {
        name: "keywords_",
        in: "query",
        required: false,
        schema: { type: "object", additionalProperties: { type: "string" } },
      },
    ]);
  });
  test("an object in the query is JSON text", async () => {
    const { operation } = await operationOf("GET({ filter }: { filter?: { min: number } })");
    assert.ok(operation.parameters![0]!.content!["application/json"].schema);
  });
  test("the names of all members of a union are parameters", async () => {
    const { operation } = await operationOf("GET(by: { kind: 'a'; x: number } | { kind: 'b'; y: number })");
    assert.deepEqual(
      operation.parameters!.map(({ name, required, schema }) => [name, required, schema]),
      [
        ["kind", true, { type: "string", enum: ["a", "b"] }],
        ["x", false, { type: "number" }],
        ["y", false, { type: "number" }],
      ],
    );
  });
});

suite("bodies", () => {
  const rows: readonly (readonly [method: string, required: boolean, mediaTypes: string[]])[] = [
    ["POST({ a }: { a: string })", true, ["application/json", "application/x-www-form-urlencoded"]],
    ["POST({ a }: { a?: string })", false, ["application/json", "application/x-www-form-urlencoded"]],
    ["POST(it?: { a: string })", false, ["application/json", "application/x-www-form-urlencoded"]],
    ["POST({ a }: { a: string[] | null })", true, ["application/json", "application/x-www-form-urlencoded"]],
    ["POST({ a }: { a: { b: string } })", true, ["application/json"]],
    ["POST({ a }: { a: File })", true, ["multipart/form-data"]],
    ["POST({ a }: { a?: (File | string)[] })", false, ["multipart/form-data"]],
    ["POST({ ...a })", false, ["application/json", "application/x-www-form-urlencoded"]],
    ["POST(body: number[])", true, ["application/json"]],
    ["POST(body?: unknown)", false, ["application/json"]],
    ["POST()", false, ["*/*"]],
  ];
  for (const [method, required, mediaTypes] of rows) {
    test(method, async () => {
      const { operation } = await operationOf(method);
      assert.deepEqual(
        [operation.requestBody!.required, Object.keys(operation.requestBody!.content)],
        [required, mediaTypes],
      );
    });
  }
  test("no body if the path has all arguments", async () => {
    const { operation } = await operationOf("POST(id: number)");
    assert.equal(operation.requestBody, undefined);
  });
});

const PROBLEM = { $ref: "#/components/responses/Problem" };

suite("the status that a method sets", () => {
  const set = (status: string) => `this.response.status = ${status};`;
  const BOOK = { "application/json": { schema: { type: "string" } } };
  const rows: readonly (readonly [body: string, returns: string, responses: object])[] = [
    [`${set("201")} return "x"`, ": string", { 201: BOOK }],
    [`if (this.method === "PUT") { ${set("201")} } return "x"`, ": string", { 200: BOOK, 201: BOOK }],
    [`if (this.method === "PUT") return "x"; ${set("201")} return "y"`, ": string", { 200: BOOK, 201: BOOK }],
    [
      `${set("201")} if (this.method === "PUT") ${set("202")} return "x"`,
      ": string",
      { 201: BOOK, 202: BOOK },
    ],
    [`run(() => { ${set("202")} }); return "x"`, ": string", { 200: BOOK, 202: BOOK }],
    [`function f() { ${set("202")} } return "x"`, ": string", { 200: BOOK }],
    [`${set("other")} return "x"`, ": string", { 200: BOOK }],
    [`${set("404")} return "x"`, ": string", { 200: BOOK }],
    [
      `const it = { response: { status: 1 } }; it.response.status = 201; return "x"`,
      ": string",
      { 200: BOOK },
    ],
    [set("202"), ": void", { 202: undefined }],
    [`${set("201")} return x`, "", { 201: undefined }],
    [`if (x) ${set("204")} return "x"`, ": string", { 200: BOOK, 204: undefined }],
  ];
  for (const [body, returns, expected] of rows) {
    test(`${returns} ${body}`, async () => {
      const { operation } = await operationOf(`POST()${returns} { ${body} }\n unused()`);
      const { "4XX": client, "5XX": server, ...own } = operation.responses;
      assert.deepEqual([client, server], [PROBLEM, PROBLEM]);
      const contents = Object.entries(own).map(([status, response]) => [
        status,
        "content" in response ? response.content : undefined,
      ]);
      assert.deepEqual(Object.fromEntries(contents), expected);
    });
  }
});

suite("answers", () => {
  test("only error statuses have problem details", async () => {
    const { operation } = await operationOf("POST(): string");
    const described = (status: number) =>
      operation.responses[status] ??
      operation.responses[`${String(status)[0]}XX`] ??
      operation.responses.default;
    for (const status of [200, 201, 202, 204, 302, 304]) assert.notDeepEqual(described(status), PROBLEM);
    for (const status of [400, 404, 409, 413, 500, 503]) assert.deepEqual(described(status), PROBLEM);
  });
  const rows: readonly (readonly [returns: string, responses: object])[] = [
    ["", { 200: undefined }],
    [": void", { 204: undefined }],
    [": Promise<void>", { 204: undefined }],
    [": null", { 204: undefined }],
    [": never", {}],
    [": Promise<never>", {}],
    [": string", { 200: { "application/json": { schema: { type: "string" } } } }],
    [
      ": Promise<number | undefined>",
      { 200: { "application/json": { schema: { type: "number" } } }, 204: undefined },
    ],
    [
      ": { at: Date; n: bigint }",
      {
        200: {
          "application/json": {
            schema: {
              type: "object",
              properties: {
                at: { type: "string", format: "date-time" },
                n: { type: "string", pattern: "^-?(?:0|[1-9][0-9]*)$" },
              },
              required: ["at", "n"],
            },
          },
        },
      },
    ],
    [": Uint8Array", { 200: { "application/octet-stream": {} } }],
    [": Promise<Buffer>", { 200: { "application/octet-stream": {} } }],
    [": Blob", { 200: { "*/*": {} } }],
    [": Response", { 200: { "*/*": {} } }],
    [
      ": AsyncGenerator<{ x: number }>",
      {
        200: {
          "application/x-ndjson": {
            schema: { type: "object", properties: { x: { type: "number" } }, required: ["x"] },
          },
          "text/event-stream": {
            schema: { type: "object", properties: { x: { type: "number" } }, required: ["x"] },
          },
        },
      },
    ],
    [": ReadableStream", { 200: { "*/*": {} } }],
    [": AsyncIterable<string>", { 200: { "*/*": {} } }],
    [": Map<string, string>", { 200: { "application/json": { schema: {} } } }],
    [
      ": Promise<Response | 'a'>",
      { 200: { "application/json": { schema: { type: "string", enum: ["a"] } }, "*/*": {} } },
    ],
  ];
  for (const [returns, expected] of rows) {
    test(returns || "nothing written", async () => {
      const { operation } = await operationOf(`GET()${returns}`);
      const { "4XX": client, "5XX": server, ...own } = operation.responses;
      assert.deepEqual([client, server], [PROBLEM, PROBLEM]);
      const contents = Object.entries(own).map(([status, response]) => [
        status,
        "content" in response ? response.content : undefined,
      ]);
      assert.deepEqual(Object.fromEntries(contents), expected);
    });
  }
});

test("a returned problem has its status and its members", async () => {
  const declarations = 'import type { Problem } from "@tollway/waymark"; type Gone = Problem<410>;';
  const { operation } = await operationOf(
    "GET(): string | Problem<404, { code: 'NO_BOOK' }> | Problem<404 | 409> | Gone | Problem | HttpError",
    declarations,
  );
  const common = { $ref: "#/components/schemas/ProblemDetails" };
  const own = {
    type: "object",
    properties: { code: { type: "string", enum: ["NO_BOOK"] } },
    required: ["code"],
  };
  const response = (description: string, schema: object) => ({
    description,
    content: { "application/problem+json": { schema } },
  });
  const { "200": _, "4XX": __, "5XX": ___, ...problems } = operation.responses;
  assert.deepEqual(problems, {
    404: response("Not Found", { anyOf: [{ allOf: [common, own] }, common] }),
    409: response("Conflict", common),
    410: response("Gone", common),
  });
});

test("an alias of a type that only a method returns", async () => {
  const declarations = "type Result<T> = Promise<T | Response | undefined>; type Loop = Promise<Loop>;";
  const { operation } = await operationOf("GET(): Result<{ x: number }>", declarations);
  assert.deepEqual(Object.keys(operation.responses), ["200", "204", "4XX", "5XX"]);
  const { operation: loop } = await operationOf("GET(): Loop", declarations);
  assert.deepEqual(Object.keys(loop.responses), ["200", "4XX", "5XX"]);
});

suite("schemas that replace types", () => {
  test("schemas that describe themselves are documented", async () => {
    const schema = {
      GET: { id: z.coerce.number().int().min(1), page: z.number().optional() },
      POST: { book: z.object({ title: z.string() }) },
    };
    const text =
      "class Example { GET(id: Map<1, 1>, { page }: { page?: Set<1> }) {} POST(book: { title: string }) {} }";
    const document = await documentOf([classOf("/x", text, { schema })]);
    const [id, page] = document.paths["/x/{id}"]!.get!.parameters!;
    assert.deepEqual([id!.schema!.type, id!.schema!.minimum, page!.schema!.type], ["integer", 1, "number"]);
    const body = document.paths["/x"]!.post!.requestBody!.content["application/json"]!.schema as JsonObject;
    assert.deepEqual(body.properties, { title: { type: "string" } });
  });
  test("other schemas are documented as any value", async () => {
    const schema = { GET: { at: z.date() } };
    const document = await documentOf([
      classOf("/x", "class Example { GET({ at }: { at?: Map<1, 1> }) {} }", { schema }),
    ]);
    assert.deepEqual(document.paths["/x"]!.get!.parameters![0]!.schema, {});
  });
});

suite("texts", () => {
  test("default, examples and deprecation of a property", async () => {
    const { operation } = await operationOf(
      'POST(it: { /** The size. @default 5 @minimum 1 */ size?: number; /** @deprecated\n@example "a"\n@example b */ old: string })',
    );
    const { properties } = operation.requestBody!.content["application/json"]!.schema as {
      properties: object;
    };
    assert.deepEqual(properties, {
      size: { type: "number", minimum: 1, description: "The size.", default: 5 },
      old: { type: "string", examples: ["a", "b"], deprecated: true },
    });
  });
  test("a list and two objects as a body", async () => {
    const list = await operationOf("PUT(id: number, items: { /** @minItems 1 */ tags: string[] }[])");
    assert.deepEqual(Object.keys(list.document.paths), ["/it/{id}"]);
    const { schema } = list.operation.requestBody!.content["application/json"]!;
    assert.equal((schema as { type: string }).type, "array");
    const { operation } = await operationOf("POST(a: { x: number }, b: { y: number })");
    const named = operation.requestBody!.content["application/json"]!.schema as Record<string, unknown>;
    assert.deepEqual(named.required, ["a", "b"]);
    assert.deepEqual(Object.keys(named.properties as object), ["a", "b"]);
  });
  test("`{}` and Temporal", async () => {
    const { operation } = await operationOf("POST(it: { any: {}; day: Temporal.PlainDate })");
    const { properties } = operation.requestBody!.content["application/json"]!.schema as {
      properties: object;
    };
    assert.deepEqual(properties, {
      any: { not: { type: "null" } },
      day: { type: "string", format: "date", examples: ["2026-01-31"] },
    });
  });
  test("summary, description, deprecation, tags", async () => {
    const { operation } = await operationOf(
      "/**\n * One line.\n *\n * And more.\n * @deprecated\n */\nGET()",
      "",
      "/books/of",
    );
    assert.equal(operation.summary, "One line.");
    assert.equal(operation.description, "One line.\n\nAnd more.");
    assert.equal(operation.deprecated, true);
    assert.deepEqual(operation.tags, ["books"]);
  });
  test("the document's own", async () => {
    const document = await documentOf([], { description: "All of it." });
    assert.deepEqual(document.info, { ...INFO, description: "All of it." });
  });
});

test("OpenAPI 3.2 also has QUERY, other verbs, and the items of streams", async () => {
  const text = `class Example {
    GET(): AsyncGenerator<{ x: number }> {}
    QUERY({ filter }: { filter: string }): string[] {}
    PURGE(id: number): void {}
  }`;
  const classes = [classOf("/logs", text)];
  const old = await documentOf(classes);
  assert.deepEqual(Object.keys(old.paths["/logs"]!), ["get"]);
  const document = openApiDocument({ classes }, { ...INFO, spec: "3.2" });
  const copy = JSON.parse(JSON.stringify(document)) as Record<string, unknown>;
  const validator = new Validator();
  const { valid, errors } = await validator.validate(copy);
  assert.ok(valid, JSON.stringify(errors));
  assert.equal(validator.version, "3.2");
  const { get, query } = document.paths["/logs"]!;
  const item = { type: "object", properties: { x: { type: "number" } }, required: ["x"] };
  assert.deepEqual((get!.responses[200] as OpenApiResponse).content, {
    "application/x-ndjson": { itemSchema: item },
    "text/event-stream": {
      itemSchema: {
        type: "object",
        properties: {
          event: { type: "string", default: "message" },
          id: { type: "string" },
          retry: { type: "integer", minimum: 0 },
          data: { type: "string", contentMediaType: "application/json", contentSchema: item },
        },
        required: ["data"],
      },
    },
  });
  assert.deepEqual(Object.keys(query!.requestBody!.content), [
    "application/json",
    "application/x-www-form-urlencoded",
  ]);
  const { additionalOperations } = document.paths["/logs/{id}"] as unknown as {
    additionalOperations: Record<string, { operationId: string }>;
  };
  assert.deepEqual(Object.keys(additionalOperations), ["PURGE"]);
  assert.equal(additionalOperations.PURGE!.operationId, "purgeLogsById");
});

test("the members of a tagged union are components with a discriminator", async () => {
  const text = `
interface Circle { kind: "circle"; radius: number }
interface Square { kind: "square" | "box"; side: number }
export class X {
  POST(shape: { of: Circle | Square; or: Circle | Square | null; tags: { n: 1; a: string } | { n: 2 } }): Circle | Square { return shape.of; }
}`;
  const { paths, components } = await documentOf([classOf("/x", text)]);
  const { post } = paths["/x"]!;
  const body = post!.requestBody!.content["application/json"]!.schema as JsonObject;
  const refer = (name: string) => `#/components/schemas/${name}`;
  const tagged = (suffix: string) => ({
    oneOf: [{ $ref: refer(`Circle${suffix}`) }, { $ref: refer(`Square${suffix}`) }],
    discriminator: {
      propertyName: "kind",
      mapping: {
        circle: refer(`Circle${suffix}`),
        square: refer(`Square${suffix}`),
        box: refer(`Square${suffix}`),
      },
    },
  });
  const { of, or, tags } = body.properties as Record<string, JsonObject>;
  assert.deepEqual(of, tagged(""));
  assert.deepEqual(or, { anyOf: [tagged(""), { type: "null" }] });
  assert.ok(tags?.anyOf, "a number is not a tag of OpenAPI");
  const answer = (post!.responses["200"] as OpenApiResponse).content!["application/json"]!;
  assert.deepEqual(answer.schema, tagged("Output"));
  assert.deepEqual(components.schemas.Circle?.additionalProperties, false);
  assert.deepEqual(components.schemas.CircleOutput?.additionalProperties, undefined);
});

test("guards become security schemes", async () => {
  const guard = (securityScheme: Record<string, string>, isOptional = false): DocumentedGuard => ({
    securityScheme,
    isOptional,
  });
  const cases: readonly (readonly [DocumentedGuard | undefined, unknown])[] = [
    [undefined, undefined],
    [{}, undefined],
    [guard({ type: "http", scheme: "bearer" }), [{ bearer: [] }]],
    [guard({ type: "http", scheme: "basic" }, true), [{ basic: [] }, {}]],
    [guard({ type: "http", scheme: "bearer", bearerFormat: "JWT" }), [{ jwt: [] }]],
    [guard({ type: "apiKey", in: "cookie", name: "session" }), [{ session: [] }]],
    [guard({ type: "apiKey", in: "header", name: "session" }), [{ session2: [] }]],
    [guard({ type: "http", scheme: "bearer" }), [{ bearer: [] }]],
  ];
  const classes = cases.map(([own], at) => {
    const documented = classOf(`/x${at}`, "class X { GET() {} }");
    const { signature } = documented.verbs.get("GET")!;
    return { ...documented, verbs: new Map([["GET", { signature, guard: own }]]) };
  });
  const { paths, components } = await documentOf(classes);
  for (const [at, [, expected]] of cases.entries())
    assert.deepEqual(paths[`/x${at}`]!.get!.security, expected);
  assert.deepEqual(Object.keys(components.securitySchemes!), [
    "bearer",
    "basic",
    "jwt",
    "session",
    "session2",
  ]);
});

test("the document has the refusals of guards", async () => {
  const users: DocumentedGuard = { securityScheme: { type: "http", scheme: "bearer" } };
  const text = `import type { Problem } from "@tollway/waymark";
    class X { GET(): Problem<401, { hint: string }> | string {} PUT(): string {} }`;
  const documented = classOf("/x", text);
  const guardedBy = async (guard: DocumentedGuard | undefined, verb: "get" | "put") => {
    const verbs = new Map([...documented.verbs].map(([name, { signature }]) => [name, { signature, guard }]));
    const { paths } = await documentOf([{ ...documented, verbs }]);
    return paths["/x"]![verb]!.responses;
  };
  const common = { $ref: "#/components/schemas/ProblemDetails" };
  const refusal = (description: string, schema: unknown) => ({
    description,
    content: { "application/problem+json": { schema } },
  });
  const unguarded = ["200", "4XX", "5XX"];
  assert.deepEqual(Object.keys(await guardedBy(undefined, "put")), unguarded);
  assert.deepEqual(Object.keys(await guardedBy({}, "put")), unguarded);
  assert.deepEqual((await guardedBy(users, "put"))[401], refusal("Unauthorized", common));
  assert.deepEqual(
    (await guardedBy({ ...users, isOptional: true }, "put"))[401],
    refusal("Unauthorized", common),
  );
  const admins = await guardedBy({ ...users, statuses: [401, 403] }, "put");
  assert.deepEqual(Object.keys(admins), ["200", "401", "403", "4XX", "5XX"]);
  assert.deepEqual(admins[403], refusal("Forbidden", common));
  const { anyOf } = ((await guardedBy(users, "get"))[401] as OpenApiResponse).content![
    "application/problem+json"
  ]!.schema as { anyOf: unknown[] };
  assert.deepEqual([anyOf[0], anyOf.length], [common, 2]);
});

test("the arguments of a class that reads bodies itself are in path and query", async () => {
  const text =
    "class X { PUT(id: number, { note }: { note: string }) {} GET({ note }: { note: string }) {} }";
  const { paths } = await documentOf([classOf("/x", text, { rawBody: true })]);
  const { parameters = [], requestBody } = paths["/x/{id}"]!.put!;
  assert.deepEqual(
    parameters.map((each) => `${each.in} ${each.name}`),
    ["path id", "query note"],
  );
  assert.deepEqual(requestBody, { required: false, content: { "*/*": {} } });
  assert.equal(paths["/x"]!.get!.requestBody, undefined);
});
