import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { FormField } from "./form.ts";
import { formData } from "./form-data.ts";
import { HttpError } from "./http-error.ts";
import { parseMultipart } from "./node/multipart.ts";

const TYPE = "multipart/form-data; boundary=Boundary7";

/** A form with one part for each name. */
function form(
  parts: readonly { name: string; content: string; file?: string }[],
  end = "--Boundary7--\r\n",
): Uint8Array {
  const written = parts.map(({ name, content, file }) => {
    const named = file === undefined ? "" : `; filename="${file}"\r\ncontent-type: text/csv`;
    return `--Boundary7\r\ncontent-disposition: form-data; name="${name}"${named}\r\n\r\n${content}\r\n`;
  });
  return new TextEncoder().encode(`${written.join("")}${end}`);
}

function shown(fields: readonly FormField[]): unknown[] {
  return fields.map(([name, value]) =>
    typeof value === "string"
      ? [name, value]
      : [name, value.filename, value.type, new TextDecoder().decode(value.bytes)],
  );
}

test("fields and files are those that the parser for Node reads", async () => {
  const word = fc.stringMatching(/^[a-z]{1,5}$/);
  const part = fc.record(
    { name: word, content: fc.stringMatching(/^[ -~\r\n-]{0,30}$/), file: word },
    { requiredKeys: ["name", "content"] },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(part, { maxLength: 5 }), async (parts) => {
      fc.pre(!parts.some(({ content }) => content.includes("Boundary7")));
      const bytes = form(parts);
      assert.deepEqual(shown(await formData(bytes, TYPE)), shown(await parseMultipart(bytes, TYPE)));
    }),
  );
});

const REFUSED: [name: string, bytes: Uint8Array, type: string, message: RegExp][] = [
  ["no boundary", form([]), "multipart/form-data", /has no boundary/],
  ["a form that is cut off", form([{ name: "a", content: "x" }], ""), TYPE, /it has no end/],
  ["text", new TextEncoder().encode("nonsense"), TYPE, /it has no end/],
  [
    "a part without a head",
    new TextEncoder().encode("--Boundary7\r\nx\r\n--Boundary7--\r\n"),
    TYPE,
    /malformed multipart body/,
  ],
  [
    "too many parts",
    form(Array.from({ length: 1001 }, () => ({ name: "a", content: "" }))),
    TYPE,
    /more than 1000 parts/,
  ],
];

for (const [name, bytes, type, message] of REFUSED)
  test(`400: ${name}`, async () => {
    await assert.rejects(formData(bytes, type), (error) => {
      assert.ok(HttpError.is(error) && error.status === 400);
      assert.match(error.message, message);
      return true;
    });
  });
