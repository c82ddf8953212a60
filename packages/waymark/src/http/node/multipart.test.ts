import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { FormField } from "../form.ts";
import { parseMultipart } from "./multipart.ts";

const TYPE = "multipart/form-data; boundary=b";
const FORM = [
  '--b\r\ncontent-disposition: form-data; name="title"\r\n\r\nT\r\n',
  '--b\r\ncontent-disposition: form-data; name="file"; filename="a.txt"\r\ncontent-type: text/plain\r\n\r\nhello\r\n',
  "--b--\r\n",
].join("");

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function shown(fields: readonly FormField[]): unknown[] {
  return fields.map(([name, value]) =>
    typeof value === "string"
      ? [name, value]
      : [name, value.filename, value.type, new TextDecoder().decode(value.bytes)],
  );
}

test("an empty file keeps its place among the fields", async () => {
  const form = FORM.replace('name="title"', 'name="title"; filename="t.txt"').replace(
    "\r\nT\r\n",
    "\r\n\r\n",
  );
  const names = (await parseMultipart(bytes(form), TYPE)).map(([name]) => name);
  assert.deepEqual(names, ["title", "file"]);
});

test("reads fields and files in the order of the form", async () => {
  assert.deepEqual(shown(await parseMultipart(bytes(FORM), TYPE)), [
    ["title", "T"],
    ["file", "a.txt", "text/plain", "hello"],
  ]);
});

test("the boundary may be quoted, and must be valid", async () => {
  assert.equal((await parseMultipart(bytes(FORM), 'Multipart/Form-Data; charset=x; Boundary="b"')).length, 2);
  for (const type of [
    "multipart/form-data",
    "multipart/form-data; boundary=",
    `multipart/form-data; boundary=${"b".repeat(71)}`,
  ]) {
    await assert.rejects(parseMultipart(bytes(FORM), type), { status: 400 }, type);
  }
});

test("an unused file input is not a file, but an empty file is", async () => {
  const part = (filename: string) =>
    bytes(`--b\r\ncontent-disposition: form-data; name="f"; filename="${filename}"\r\n\r\n\r\n--b--\r\n`);
  assert.deepEqual(await parseMultipart(part(""), TYPE), []);
  assert.equal((await parseMultipart(part("x"), TYPE)).length, 1);
});

test("a form that ends early is a 400", async () => {
  const whole = FORM.length - 2;
  for (let length = 0; length < whole; length++) {
    await assert.rejects(parseMultipart(bytes(FORM.slice(0, length)), TYPE), { status: 400 }, String(length));
  }
});

test("too many parts, and a part without a name, are a 400", async () => {
  const part = '--b\r\ncontent-disposition: form-data; name="a"\r\n\r\n\r\n';
  await assert.rejects(parseMultipart(bytes(`${part.repeat(1001)}--b--\r\n`), TYPE), {
    status: 400,
    message: /1000 parts/,
  });
  const nameless = "--b\r\ncontent-disposition: form-data\r\n\r\nx\r\n--b--\r\n";
  await assert.rejects(parseMultipart(bytes(nameless), TYPE), { status: 400 });
});

test("a corrupted form is parsed or answered with 400", async () => {
  const change = fc.tuple(fc.nat(FORM.length), fc.nat(20), fc.string({ maxLength: 8 }));
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 5 }), async (changes) => {
      const text = changes.reduce(
        (form, [at, drop, put]) => form.slice(0, at) + put + form.slice(at + drop),
        FORM,
      );
      await parseMultipart(bytes(text), TYPE).catch((error) =>
        assert.equal(error.status, 400, String(error.stack)),
      );
    }),
    { numRuns: 500 },
  );
});
