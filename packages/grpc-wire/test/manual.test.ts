/** docs/grpc-wire.md: its server runs, and its options are those of the code. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { StringValueSchema } from "@bufbuild/protobuf/wkt";
import grpc from "@grpc/grpc-js";
import { resolveLimits, resolveTimes } from "../src/options.ts";
import { manualPath, optionsOf, withOptions } from "../tools/manual.ts";

const manual = readFileSync(manualPath, "utf8");

/** The value in the notation of the documentation. */
function written(name: string, value: number): string {
  const KiB = 1024;
  if (name.endsWith("Ms")) return value === 0 ? "0" : `${value / 1000} s`;
  if (/Bytes/.test(name))
    return value % (KiB * KiB) === 0 ? `${value / KiB / KiB} MiB` : `${value / KiB} KiB`;
  return value.toLocaleString("en");
}

test("the manual's options match the types: npm run manual -w packages/grpc-wire", () => {
  assert.equal(withOptions(manual), manual);
});

for (const [interfaceName, defaults] of [
  ["LimitOptions", resolveLimits(undefined)],
  ["ConnectionOptions", resolveTimes(undefined)],
] as const)
  test(`${interfaceName}: the documented defaults match the code`, () => {
    const documented = optionsOf(interfaceName).map(({ name, defaultText }) => [
      name,
      defaultText.split(", ")[0],
    ]);
    const held = Object.entries(defaults).map(([name, value]) => [name, written(name, value).split(", ")[0]]);
    assert.deepEqual(Object.fromEntries(documented), Object.fromEntries(held));
  });

test("the manual's server runs", async () => {
  const code = /```ts server.mts\n(.*?)```/s.exec(manual)![1]!;
  // Inside the package, so that its own name resolves.
  const folder = await mkdtemp(join(import.meta.dirname, "manual-"));
  const file = join(folder, "server.mts");
  await writeFile(file, code);
  const child = spawn(process.execPath, [file], { stdio: ["ignore", "pipe", "inherit"] });
  try {
    const [line] = (await once(child.stdout, "data")) as [Buffer];
    const address = /listening on (\S+)/.exec(String(line))![1]!;
    const client = new grpc.Client(address, grpc.credentials.createInsecure());
    const encode = (value: string) =>
      Buffer.from(toBinary(StringValueSchema, create(StringValueSchema, { value })));
    const decode = (bytes: Buffer) => fromBinary(StringValueSchema, bytes).value;
    const upper = (text: string) =>
      new Promise<string>((resolve, reject) => {
        client.makeUnaryRequest("/demo.Words/Upper", encode, decode, text, (error, answer) =>
          error ? reject(error) : resolve(answer!),
        );
      });
    assert.equal(await upper("straße"), "STRASSE");
    await assert.rejects(upper(""), { code: grpc.status.INVALID_ARGUMENT });
    const words: string[] = [];
    for await (const word of client.makeServerStreamRequest("/demo.Words/Split", encode, decode, "a b c"))
      words.push(word);
    assert.deepEqual(words, ["a", "b", "c"]);
    const joined = Promise.withResolvers<string>();
    const request = client.makeClientStreamRequest("/demo.Words/Join", encode, decode, (error, answer) =>
      error ? joined.reject(error) : joined.resolve(answer!),
    );
    for (const word of words) request.write(word);
    request.end();
    assert.equal(await joined.promise, "a b c");
    child.kill("SIGTERM");
    const [exitCode] = await once(child, "exit");
    assert.equal(exitCode, 0);
    client.close();
  } finally {
    child.kill("SIGKILL");
    await rm(folder, { recursive: true });
  }
});
