import type { Case } from "./case.ts";
import { MULTIPART, multipart } from "./form.ts";

const FORM = { "content-type": "application/x-www-form-urlencoded" };
const JSON_TYPE = { "content-type": "application/json" };
const FORM_DATA = { "content-type": MULTIPART };
const BUN_TYPE = "Bun adds a charset to the type of a text file";
const NO_BODY = "a WHATWG Request refuses a body with this method";

function post(
  name: string,
  target: string,
  headers: Record<string, string>,
  body: string | Uint8Array,
  rest: Omit<Case, "name" | "target">,
): Case {
  return { name, method: "POST", target, headers, body, ...rest };
}

/** Bodies of every kind, well-formed and malformed. */
export const bodyCases: readonly Case[] = [
  post("a form", "/", FORM, "name=Awesome you", { status: 200, json: "hello Awesome you" }),
  post("a form with plus and escapes", "/", FORM, "name=Awesome+y%C3%B6u", {
    status: 200,
    json: "hello Awesome yöu",
  }),
  post(
    "a form with a charset",
    "/",
    { "content-type": "Application/X-WWW-Form-Urlencoded; charset=UTF-8" },
    "name=x",
    { status: 200, json: "hello x" },
  ),
  post("a chunked form", "/", FORM, "name=Awesome+you", {
    status: 200,
    json: "hello Awesome you",
    chunked: 3,
  }),
  post("a form without the name", "/", FORM, "", { status: 400, faults: ["body.name"] }),
  post("an unknown field", "/", FORM, "name=x&other=y", { status: 400, faults: ["body.other"] }),
  post("a malformed escape", "/", FORM, "name=%zz", { status: 400 }),
  post("invalid UTF-8 in a form", "/", FORM, new Uint8Array([0x6e, 0x3d, 0xff]), { status: 400 }),
  post("a repeated field", "/", FORM, "name=x&name=y", { status: 400, faults: ["body.name"] }),
  post("the body wins over the query", "/?name=query", FORM, "name=body", {
    status: 200,
    json: "hello body",
  }),
  post("the query fills in", "/?name=query", {}, "", { status: 200, json: "hello query" }),
  post("too many fields", "/anything", FORM, Array.from({ length: 1001 }, (_, at) => `n${at}=`).join("&"), {
    status: 400,
  }),
  post("JSON", "/", JSON_TYPE, '{"name":"x"}', { status: 200, json: "hello x" }),
  post("JSON with a suffix", "/", { "content-type": "application/vnd.x+json" }, '{"name":"x"}', {
    status: 200,
    json: "hello x",
  }),
  post("JSON with a byte order mark", "/", JSON_TYPE, '\ufeff{"name":"x"}', { status: 200, json: "hello x" }),
  post("chunked JSON", "/", JSON_TYPE, '{"name":"x"}', { status: 200, json: "hello x", chunked: 1 }),
  post("broken JSON", "/", JSON_TYPE, '{"name":', { status: 400, text: /not valid JSON/ }),
  post("JSON that is not UTF-8", "/", JSON_TYPE, new Uint8Array([0x22, 0xff, 0x22]), { status: 400 }),
  post("JSON with __proto__", "/anything", JSON_TYPE, '{"__proto__":{"polluted":1}}', { status: 400 }),
  post("JSON with an escaped __proto__", "/anything", JSON_TYPE, '{"a":[{"__pro\\u0074o__":1}]}', {
    status: 400,
  }),
  post("JSON with constructor is data", "/anything", JSON_TYPE, '{"constructor":{"prototype":1}}', {
    status: 200,
    json: { constructor: { prototype: 1 } },
  }),
  post("JSON that is too deep", "/anything", JSON_TYPE, `{"a":${"[".repeat(1100)}${"]".repeat(1100)}}`, {
    status: 400,
  }),
  post("JSON that is deep", "/anything", JSON_TYPE, `{"a":${"[".repeat(900)}${"]".repeat(900)}}`, {
    status: 200,
  }),
  post("JSON of the wrong type", "/", JSON_TYPE, '{"name":5}', { status: 400, faults: ["body.name"] }),
  post("nested JSON", "/shapes", JSON_TYPE, '{"point":{"x":1,"y":2},"tags":["a"]}', {
    status: 200,
    json: { point: { x: 1, y: 2 }, tags: ["a"] },
  }),
  post("a fault inside", "/shapes", JSON_TYPE, '{"point":{"x":1,"y":"2"}}', {
    status: 400,
    faults: ["body.point.y"],
  }),
  post("a missing member inside", "/shapes", JSON_TYPE, '{"point":{"x":1}}', {
    status: 400,
    faults: ["body.point.y"],
  }),
  post("an unknown member inside", "/shapes", JSON_TYPE, '{"point":{"x":1,"y":2,"z":3}}', {
    status: 400,
    faults: ["body.point.z"],
  }),
  {
    name: "a JSON list is the keyword body",
    method: "PUT",
    target: "/shapes",
    headers: JSON_TYPE,
    body: "[1,2,3]",
    status: 200,
    json: [1, 2, 3],
  },
  {
    name: "a JSON list with a fault",
    method: "PUT",
    target: "/shapes",
    headers: JSON_TYPE,
    body: '[1,"2"]',
    status: 400,
  },
  post("a JSON list instead of an object", "/", JSON_TYPE, "[1]", { status: 400 }),
  post(
    "JSON of many names",
    "/anything",
    JSON_TYPE,
    JSON.stringify(Object.fromEntries(Array.from({ length: 1001 }, (_, at) => [`n${at}`, 1]))),
    { status: 400 },
  ),
  post("an empty JSON body counts as no body", "/?name=q", JSON_TYPE, "", { status: 200, json: "hello q" }),
  post(
    "a multipart form",
    "/anything",
    FORM_DATA,
    multipart({ name: "a", content: "1" }, { name: "b", content: "zwei" }),
    { status: 200, json: { a: "1", b: "zwei" } },
  ),
  post(
    "an upload",
    "/upload",
    FORM_DATA,
    multipart(
      { name: "title", content: "T" },
      { name: "file", content: "hello", filename: "a.txt", type: "text/plain" },
    ),
    {
      status: 200,
      json: { title: "T", name: "a.txt", type: "text/plain", size: 5, text: "hello" },
      except: { bun: BUN_TYPE },
    },
  ),
  post(
    "a chunked upload",
    "/upload",
    FORM_DATA,
    multipart(
      { name: "title", content: "T" },
      { name: "file", content: "hello", filename: "a.txt", type: "text/plain" },
    ),
    {
      status: 200,
      chunked: 7,
      json: { title: "T", name: "a.txt", type: "text/plain", size: 5, text: "hello" },
      except: { bun: BUN_TYPE },
    },
  ),
  post(
    "an upload of no known type",
    "/upload",
    FORM_DATA,
    multipart(
      { name: "title", content: "T" },
      { name: "file", content: "hello", filename: "a.bin", type: "application/x-own" },
    ),
    { status: 200, json: { title: "T", name: "a.bin", type: "application/x-own", size: 5, text: "hello" } },
  ),
  post("an upload without its file", "/upload", FORM_DATA, multipart({ name: "title", content: "T" }), {
    status: 400,
    faults: ["body.file"],
  }),
  post(
    "text instead of a file",
    "/upload",
    FORM_DATA,
    multipart({ name: "title", content: "T" }, { name: "file", content: "x" }),
    { status: 400, faults: ["body.file"] },
  ),
  post("multipart without a boundary", "/anything", { "content-type": "multipart/form-data" }, "x", {
    status: 400,
  }),
  post(
    "multipart that is cut off",
    "/anything",
    FORM_DATA,
    multipart({ name: "a", content: "1" }).slice(0, 60),
    { status: 400 },
  ),
  post("multipart that is not multipart", "/anything", FORM_DATA, "nonsense", { status: 400 }),
  post("a body of another type is not parsed", "/?name=q", { "content-type": "text/plain" }, "name=x", {
    status: 200,
    json: "hello q",
  }),
  post("a body of another type gives no arguments", "/", { "content-type": "text/plain" }, "name=x", {
    status: 400,
    faults: ["body.name"],
  }),
  post(
    "an unread body is available to the method",
    "/raw",
    { "content-type": "application/json" },
    "{not json",
    { status: 200, json: "{not json" },
  ),
  {
    name: "a body that was read is also available",
    method: "PUT",
    target: "/raw",
    headers: JSON_TYPE,
    body: '{ "a" : "b" }',
    status: 200,
    json: { a: "b", same: '{ "a" : "b" }' },
  },
  post("exactly the limit", "/small", FORM, "a=12345678", { status: 200, json: { a: "12345678" } }),
  post("over the limit", "/small", FORM, "a=123456789", { status: 413 }),
  post("over the limit, chunked", "/small", FORM, "a=123456789", { status: 413, chunked: 4 }),
  {
    name: "over the limit, as a stream",
    method: "PUT",
    target: "/small",
    headers: { "content-type": "text/plain" },
    body: "x".repeat(11),
    status: 413,
  },
  {
    name: "within the limit, as a stream",
    method: "PUT",
    target: "/small",
    headers: { "content-type": "text/plain" },
    body: "x".repeat(10),
    chunked: 3,
    status: 200,
    json: 10,
  },
  post("over the application's limit", "/anything", JSON_TYPE, `{"a":"${"x".repeat(1024 * 1024)}"}`, {
    status: 413,
  }),
  post("a large body within it", "/anything", JSON_TYPE, `{"a":"${"x".repeat(1000 * 1000)}"}`, {
    status: 200,
  }),
  post("a content encoding", "/", { ...JSON_TYPE, "content-encoding": "gzip" }, '{"name":"x"}', {
    status: 415,
    answers: { "accept-encoding": "identity" },
  }),
  post(
    "a content encoding of nothing",
    "/?name=q",
    { "content-type": "application/json", "content-encoding": "gzip" },
    "",
    { status: 200, json: "hello q" },
  ),
  post("the identity encoding", "/", { ...JSON_TYPE, "content-encoding": "identity" }, '{"name":"x"}', {
    status: 200,
  }),
  post("404 comes before the body", "/nowhere/at/all", JSON_TYPE, "{broken", { status: 404 }),
  {
    name: "405 comes before the body",
    method: "PUT",
    target: "/",
    headers: JSON_TYPE,
    body: "{broken",
    status: 405,
  },
  {
    name: "arity comes before the body",
    method: "PUT",
    target: "/tail/1/2",
    headers: JSON_TYPE,
    body: "{broken",
    status: 404,
  },
  {
    name: "a body with DELETE",
    method: "DELETE",
    target: "/anything",
    headers: JSON_TYPE,
    body: '{"a":1}',
    status: 200,
    json: { a: 1 },
  },
  {
    name: "a body with GET",
    target: "/lenient",
    headers: JSON_TYPE,
    body: '{"a":1}',
    status: 200,
    json: { a: 1 },
    except: { fetch: NO_BODY, bun: NO_BODY, deno: NO_BODY },
  },
  {
    name: "a broken body with GET",
    target: "/lenient",
    headers: JSON_TYPE,
    body: '{"a',
    status: 400,
    except: { fetch: NO_BODY, bun: NO_BODY, deno: NO_BODY },
  },
  post("JSON whatever the content type", "/always-json", FORM, '{"a":1}', { status: 200, json: { a: 1 } }),
  post("JSON without a content type", "/always-json", { "content-type": "text/plain" }, '{"a":1}', {
    status: 200,
    json: { a: 1 },
  }),
  post("a form where only JSON is read", "/always-json", FORM, "a=1", { status: 400 }),
];
