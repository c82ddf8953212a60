import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeBinary, encodeStatusMessage, metadataField } from "./metadata.ts";

const messages: [text: string, encoded: string][] = [
  ["plain text", "plain text"],
  ["100%", "100%25"],
  ["über", "%C3%BCber"],
  ["line\nbreak", "line%0Abreak"],
  ["😀", "%F0%9F%98%80"],
  [" blanks ", "%20blanks%20"],
  ["", ""],
];
for (const [text, encoded] of messages)
  test(`encodes the status message ${JSON.stringify(text)} as ${encoded}`, () =>
    assert.equal(encodeStatusMessage(text), encoded));

for (const character of ["a", "ü", "漢", "😀", "%"])
  test(`truncates a long status message of ${character} between characters, to at most 4 KiB`, () => {
    const encoded = encodeStatusMessage(`x${character.repeat(2000)}`);
    assert.ok(encoded.length <= 4096, `${encoded.length} octets`);
    assert.match(decodeURIComponent(encoded), new RegExp(`^x${character}{100,}\\ufffd?\\.\\.\\.$`, "u"));
  });

test("encodes metadata as text, or as base64 for a -bin name", () => {
  assert.deepEqual(metadataField("x-trace.id_1", "a b"), ["x-trace.id_1", "a b"]);
  assert.deepEqual(metadataField("x-bin", Uint8Array.of(0, 255)), ["x-bin", "AP8"]);
  assert.deepEqual([...decodeBinary("AP8=")], [0, 255]);
  assert.deepEqual([...decodeBinary("AP8,AQ")], [0, 255]);
});

const refused: [name: string, value: string | Uint8Array][] = [
  ["X-Upper", "a"],
  ["", "a"],
  [":path", "a"],
  ["grpc-status", "0"],
  ["content-type", "a"],
  ["a b", "a"],
  ["a", "line\nbreak"],
  ["a", "ü"],
  ["a", " a"],
  ["a", Uint8Array.of(1)],
  ["a-bin", "text"],
];
for (const [name, value] of refused)
  test(`rejects metadata ${JSON.stringify(name)}: ${JSON.stringify(value)}`, () =>
    assert.throws(() => metadataField(name, value), TypeError));
