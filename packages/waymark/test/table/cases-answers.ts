import type { Case } from "./case.ts";

const JSON_TYPE = "application/json; charset=utf-8";
const BYTES = "application/octet-stream";

function answer(kind: string, rest: Omit<Case, "name" | "target">): Case {
  return { name: `returned: ${kind}`, target: `/answers/${kind}`, ...rest };
}

/** What a method may return or throw. */
export const answerCases: readonly Case[] = [
  answer("string", { status: 200, text: '"text"', answers: { "content-type": JSON_TYPE } }),
  answer("number", {
    status: 200,
    text: "42",
    answers: { "content-type": JSON_TYPE, "content-length": "2" },
  }),
  answer("boolean", { status: 200, text: "false" }),
  answer("array", { status: 200, text: '[1,"two",null]' }),
  answer("nothing", { status: 204, text: "", answers: { "content-length": null, "content-type": null } }),
  answer("null", { status: 204, text: "" }),
  answer("bytes", { status: 200, answers: { "content-type": BYTES, "content-length": "3" } }),
  answer("buffer", { status: 200, text: "bytes", answers: { "content-type": BYTES } }),
  answer("arraybuffer", { status: 200, text: "\x07\x08", answers: { "content-type": BYTES } }),
  answer("blob", {
    status: 200,
    text: "a,b\n",
    answers: { "content-type": "text/csv", "content-length": "4" },
  }),
  answer("stream", {
    status: 200,
    text: "one two",
    answers: { "content-type": BYTES, "content-length": null },
  }),
  answer("lines", {
    status: 200,
    text: '{"line":1}\n{"line":2}\n',
    answers: { "content-type": "application/x-ndjson" },
  }),
  {
    name: "lines as events",
    target: "/answers/lines",
    headers: { accept: "text/event-stream" },
    status: 200,
    text: 'data: {"line":1}\n\ndata: {"line":2}\n\n',
    answers: { "content-type": "text/event-stream" },
  },
  {
    name: "a wildcard does not ask for events",
    target: "/answers/lines",
    headers: { accept: "*/*" },
    status: 200,
    answers: { "content-type": "application/x-ndjson" },
  },
  {
    name: "q=0 refuses events",
    target: "/answers/lines",
    headers: { accept: "text/event-stream;q=0" },
    status: 200,
    answers: { "content-type": "application/x-ndjson" },
  },
  answer("words", { status: 200, text: "one two", answers: { "content-type": "text/plain; charset=utf-8" } }),
  answer("empty", { status: 200, text: "" }),
  answer("date", { status: 200, text: '"1970-01-01T00:00:00.000Z"' }),
  answer("bigint", { status: 200, text: '"9007199254740993"' }),
  answer("nested", { status: 200, text: '{"big":"1"}' }),
  answer("map", { status: 500 }),
  answer("inner", { status: 500 }),
  answer("symbol", { status: 500 }),
  answer("response", { status: 201, text: "made", answers: { "x-made": "yes" } }),
  answer("html", { status: 200, text: "<p>hi</p>", answers: { "content-type": "text/html; charset=utf-8" } }),
  answer("created", { status: 201, json: { id: 1 }, answers: { location: "/answers/1" } }),
  answer("accepted", { status: 202, text: "", answers: { "content-length": "0" } }),
  answer("redirect", { status: 303, text: "", answers: { location: "/elsewhere" } }),
  answer("moved", { status: 308, text: "" }),
  answer("cookies", { status: 200, answers: { "set-cookie": "a=1; b=2; HttpOnly" } }),
  answer("throw", {
    status: 500,
    text: /^(?!.*secret).*Internal Server Error/s,
    answers: { "content-type": "application/problem+json" },
  }),
  answer("string_thrown", { status: 500, text: /^(?!.*secret)/s }),
  answer("response_thrown", { status: 403, text: "no" }),
  answer("teapot", {
    status: 418,
    json: { type: "https://example.com/teapot", title: "Short", status: 418 },
    answers: { "x-pot": "1" },
  }),
  answer("rejected", {
    status: 409,
    json: { type: "about:blank", title: "Conflict", status: 409, detail: "taken", name: "x" },
  }),
  answer("unknown", { status: 404, text: /no answer of kind unknown/ }),
  answer("toString", { status: 404 }),
  {
    name: "HEAD of a JSON answer",
    method: "HEAD",
    target: "/answers/array",
    status: 200,
    text: "",
    answers: { "content-length": "14" },
  },
  {
    name: "HEAD of a Response",
    method: "HEAD",
    target: "/answers/response",
    status: 201,
    text: "",
    answers: { "x-made": "yes" },
  },
  {
    name: "HEAD of a blob",
    method: "HEAD",
    target: "/answers/blob",
    status: 200,
    text: "",
    answers: { "content-length": "4" },
  },
];
