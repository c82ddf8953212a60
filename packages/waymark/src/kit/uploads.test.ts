import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { test } from "node:test";
import { Application, Controller } from "@tollway/waymark";
import { type UploadLimits, uploads } from "@tollway/waymark/kit/uploads";
import { startServer } from "../server.ts";
import { ask } from "./support.fixture.ts";

const limits: UploadLimits = { fileSize: 100_000, fieldSize: 10, parts: 5 };
let seen: string[] = [];

class Form extends Controller {
  static override bodyLimit = 1_000_000;
  async POST() {
    const parts: unknown[] = [];
    for await (const part of uploads(this, limits)) {
      seen.push(part.name);
      if (part.kind === "field") parts.push([part.name, part.value]);
      else {
        let size = 0;
        for await (const piece of part.content) size += piece.length;
        parts.push([part.name, part.filename, part.type, size]);
      }
    }
    return parts;
  }
  /** Skips files. */
  async PUT() {
    const names: string[] = [];
    for await (const { name } of uploads(this)) names.push(name);
    return names;
  }
  /** Stops at the first file. */
  async PATCH() {
    for await (const part of uploads(this)) return part.name;
    return "none";
  }
}

class Raw extends Controller {
  static override rawBody = true;
  async PUT(name: string, { note = "" }: { note?: string }) {
    return [name, note, new TextDecoder().decode(await this.bytes())];
  }
}

const application = new Application({ controllers: { Form, Raw }, log: () => undefined });

function formOf(fields: Record<string, string | Blob>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value as string);
  return form;
}

async function send(
  method: string,
  body: NonNullable<RequestInit["body"]>,
  headers = {},
): Promise<[number, unknown]> {
  // The platform's stream of a form rejects without a handler if its reader stops early.
  const whole = new Response(body, { headers });
  const type = whole.headers.get("content-type")!;
  const response = await ask(application, "/form", {
    method,
    body: await whole.bytes(),
    headers: { "content-type": type },
  });
  const value = (await response.json()) as { detail?: string };
  return [response.status, response.ok ? value : value.detail];
}

const TYPE = { "content-type": "multipart/form-data; boundary=b" };
const FILE = '--b\r\ncontent-disposition: form-data; name="f"; filename="a"\r\n\r\n';

test("fields and files in their order, whole, empty and skipped", async () => {
  const form = formOf({
    a: "1",
    f: new File(["x".repeat(90_000)], "../é.txt", { type: "text/plain" }),
    b: "é",
    e: new File([], "empty"),
  });
  assert.deepEqual(await send("POST", form), [
    200,
    [
      ["a", "1"],
      ["f", "é.txt", "text/plain", 90_000],
      ["b", "é"],
      ["e", "empty", "application/octet-stream", 0],
    ],
  ]);
  assert.deepEqual(await send("PUT", form), [200, ["a", "f", "b", "e"]]);
  assert.deepEqual(await send("PATCH", `${FILE}${"x".repeat(500_000)}\r\n--b--\r\n`, TYPE), [200, "f"]);
});

test("a malformed or too large form is refused", async () => {
  const rows: [NonNullable<RequestInit["body"]>, Record<string, string>, number, RegExp][] = [
    ["{}", { "content-type": "application/json" }, 415, /must be multipart/],
    ["x", { "content-type": "multipart/form-data" }, 400, /no boundary/],
    ["nonsense", TYPE, 400, /malformed/],
    [`${FILE}cut off`, TYPE, 400, /malformed/],
    [`${FILE}cut off\r\n--b`, TYPE, 400, /malformed/],
    ["--b\r\ncontent-disposition: form-data\r\n\r\nx\r\n--b--\r\n", TYPE, 400, /no name/],
    [formOf({ a: "x".repeat(11) }), {}, 413, /the field a is larger than 10 bytes/],
    [formOf({ f: new File(["x".repeat(100_001)], "a") }), {}, 413, /the file f is larger than 100000 bytes/],
    [formOf({ f: new File(["x".repeat(1_000_001)], "a") }), {}, 413, /larger than/],
    [
      formOf(Object.fromEntries([1, 2, 3, 4, 5, 6].map((each) => [`n${each}`, ""]))),
      {},
      400,
      /more than 5 parts/,
    ],
  ];
  for (const [body, headers, status, detail] of rows) {
    const answer = await send("POST", body, headers);
    assert.equal(answer[0], status, JSON.stringify(answer));
    assert.match(String(answer[1]), detail);
  }
});

test("a part is there before the rest of the body has arrived, and a client that leaves ends the loop", async () => {
  const running = await startServer(application, { host: "127.0.0.1", port: 0 });
  const socket = connect(running.port, "127.0.0.1");
  const field = '--b\r\ncontent-disposition: form-data; name="early"\r\n\r\n1\r\n';
  seen = [];
  socket.write(
    `POST /form HTTP/1.1\r\nhost: x\r\ncontent-type: ${TYPE["content-type"]}\r\ncontent-length: 100000\r\n\r\n${field}${FILE}x`,
  );
  while (!seen.includes("f")) await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(seen, ["early", "f"]);
  socket.destroy();
  await once(socket, "close");
  await running.stop();
});

test("static rawBody: arguments in path and query, and a body of any type beside them", async () => {
  const own = new Application({ controllers: { Raw } });
  for (const type of [
    "application/json",
    "application/x-www-form-urlencoded",
    "multipart/form-data",
    "image/png",
  ]) {
    const init = { method: "PUT", body: "{a=1}", headers: { "content-type": type } };
    const response = await ask(own, "/raw/avatar?note=n", init);
    assert.deepEqual(await response.json(), ["avatar", "n", "{a=1}"], type);
  }
});
