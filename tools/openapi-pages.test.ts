/** The pages that show OpenAPI documents are current, and show all of a document. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { type Document, markdownOf } from "./openapi-markdown.ts";
import { fileOf, PAGES, withOperations } from "./openapi-pages.ts";

for (const [page, document] of Object.entries(PAGES))
  test(`docs/${page} is current: node tools/openapi-pages.ts writes it`, () => {
    const text = readFileSync(fileOf(page), "utf8");
    assert.equal(text, withOperations(text, document));
    for (const path of Object.keys(document.paths)) assert.match(text, new RegExp(`^### .* ${path}\`$`, "m"));
  });

const document: Document = {
  openapi: "3.1.0",
  info: { title: "Books", version: "1" },
  paths: {
    "/books/{id}": {
      parameters: [{ name: "id", in: "path", required: true, schema: { type: "integer", minimum: 1 } }],
      get: {
        summary: "One book.",
        parameters: [{ name: "full", in: "query", schema: { type: "boolean", default: false } }],
        responses: {
          200: {
            description: "Found.",
            content: { "application/json": { schema: { $ref: "#/components/schemas/Book" } } },
          },
          default: { description: "Not found." },
        },
      },
    } as never,
  },
  components: {
    schemas: {
      Book: {
        type: "object",
        required: ["title"],
        properties: {
          title: { type: "string", maxLength: 2000, pattern: "^a|b$" },
          tags: { type: "array", items: { enum: ["a", "b"] } },
          price: { oneOf: [{ type: "number" }, { type: "string", format: "decimal" }], examples: ["1"] },
        },
      },
      Any: {},
    },
  },
};

test("a page has parameters, bodies, statuses and the members of schemas", () => {
  assert.equal(
    markdownOf(document),
    `## Operations

| call | what it does |
| --- | --- |
| [\`GET /books/{id}\`](#get-booksid) | One book. |

### \`GET /books/{id}\`

One book.

| parameter | type | meaning |
| --- | --- | --- |
| \`id\` | integer | In the path, required. At least 1. |
| \`full\` | boolean | In the query. Default \`false\`. |

| status | type | meaning |
| --- | --- | --- |
| 200 | \`application/json\`, [Book](#book) | Found. |
| other | none | Not found. |

## Schemas

### Book

| property | type | meaning |
| --- | --- | --- |
| \`title\` | string | At most 2,000 characters. Pattern \`^a\\|b$\`. |
| \`tags\`? | list of \`"a"\`, \`"b"\` |  |
| \`price\`? | number or string (decimal) | Example: \`"1"\`. |

### Any

any value.`,
  );
});

test("answers that all operations have are shown once", () => {
  const answers = (...own: string[]) => ({
    responses: Object.fromEntries(
      ["401", ...own].map((status) => [status, { description: `It is ${status}.` }]),
    ),
  });
  const paths = { "/a": { get: answers("200") }, "/b": { get: answers("204", "404"), put: answers("200") } };
  const page = markdownOf({ ...document, paths: paths as never });
  const rows = page.split("\n").filter((line) => /^\| \d/.test(line));
  assert.deepEqual(
    rows.map((row) => row.slice(2, 5)),
    ["200", "204", "404", "200", "401"],
  );
  assert.match(page, /### Errors of every call\n\n.*\n.*\n\| 401 \| none \| It is 401\. \|\n\n## Schemas/);
});

test("a reference to no schema is an error", () => {
  const broken = { ...document, components: {} };
  assert.throws(() => markdownOf(broken), /the document has no schema #\/components\/schemas\/Book/);
});
