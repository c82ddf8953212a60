import assert from "node:assert/strict";
import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { test } from "node:test";
import { NodeIncoming } from "./node-incoming.ts";

/** @param length undefined: the body is chunked */
function incoming(length: number | undefined, pieces: readonly string[], complete: boolean) {
  const request = new IncomingMessage(new Socket());
  request.method = "POST";
  request.url = "/";
  if (length === undefined) request.headers["transfer-encoding"] = "chunked";
  else request.headers["content-length"] = String(length);
  for (const piece of pieces) request.push(Buffer.from(piece));
  request.complete = complete;
  if (complete) request.push(null);
  return { request, incoming: new NodeIncoming(request, new ServerResponse(request), false) };
}

test("a complete body is read synchronously, whatever its pieces", () => {
  for (const pieces of [["whole"], ["who", "le"], ["w", "h", "o", "l", "e"]]) {
    assert.equal(String(incoming(5, pieces, true).incoming.read(5)), "whole");
  }
  assert.deepEqual(incoming(undefined, [], true).incoming.read(5), new Uint8Array());
});

test("a complete body that is too large is rejected", () => {
  assert.throws(() => incoming(undefined, ["who", "le"], true).incoming.read(4), { status: 413 });
  assert.throws(() => incoming(5, [], false).incoming.read(4), { status: 413 });
});

test("a body that is still arriving is awaited", async () => {
  const { request, incoming: own } = incoming(5, ["who"], false);
  const read = own.read(5);
  assert.ok(read instanceof Promise);
  request.push(Buffer.from("le"));
  request.push(null);
  assert.equal(String(await read), "whole");
});

test("the client may leave before or while its body is read", async () => {
  const gone = incoming(5, ["who"], false);
  gone.request.destroy();
  assert.throws(() => gone.incoming.read(5), { status: 400 });
  const going = incoming(5, ["who"], false);
  const read = going.incoming.read(5);
  going.request.destroy();
  await assert.rejects(Promise.resolve(read), { status: 400 });
});

test("a body is read once", () => {
  const { incoming: own } = incoming(5, ["whole"], true);
  own.read(5);
  assert.throws(() => own.read(5), TypeError);
});

test("a request without a body has no bytes, whatever has happened to its stream", async () => {
  for (const destroy of [false, true]) {
    const { request, incoming: own } = incoming(0, [], true);
    if (destroy) request.destroy();
    assert.deepEqual(own.read(0), new Uint8Array());
    assert.equal((await own.stream(0).next()).done, true);
  }
});
