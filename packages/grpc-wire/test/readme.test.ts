/** Runs the README's server unchanged. */
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import grpc from "@grpc/grpc-js";
import { Authority } from "./support/certificates.ts";

const bytes = (value: Buffer) => value;

test("the README's server runs", async () => {
  const readme = await readFile(new URL("../README.md", import.meta.url), "utf8");
  const [first, second] = [...readme.matchAll(/```ts(?: server.mts)?\n(.*?)```/gs)].map(([, code]) => code!);
  // Inside the package, so that its own name resolves.
  const folder = await mkdtemp(join(import.meta.dirname, "readme-"));
  const file = join(folder, "server.mts");
  await writeFile(file, `${first}\n${second}`);
  const child = spawn(process.execPath, [file], { stdio: ["ignore", "pipe", "inherit"] });
  try {
    const [line] = (await once(child.stdout, "data")) as [Buffer];
    const address = /listening on (\S+)/.exec(String(line))![1]!;
    const client = new grpc.Client(address, grpc.credentials.createInsecure());
    const unary = (method: string, message: string) =>
      new Promise<string>((resolve, reject) => {
        const path = `/demo.Greeter/${method}`;
        client.makeUnaryRequest(path, bytes, bytes, Buffer.from(message), (error, answer) =>
          error ? reject(error) : resolve(String(answer)),
        );
      });
    assert.equal(await unary("Greet", "Ada"), "Hello, Ada");
    assert.equal(await unary("GreetLater", "later"), "later");
    assert.equal(await unary("Echo", "in place"), "in place");
    await assert.rejects(unary("Greet", ""), {
      code: grpc.status.INVALID_ARGUMENT,
      details: "the name is empty",
    });
    const counted: number[] = [];
    const stream = client.makeServerStreamRequest("/demo.Greeter/Count", bytes, bytes, Buffer.from("abc"));
    for await (const message of stream) counted.push(message[0]);
    assert.deepEqual(counted, [1, 2, 3]);
    child.kill("SIGTERM");
    const [code] = await once(child, "exit");
    assert.equal(code, 0);
    client.close();
  } finally {
    child.kill("SIGKILL");
    await rm(folder, { recursive: true });
  }
});

test("the README's TLS, health and reflection block runs", async () => {
  const readme = await readFile(new URL("../README.md", import.meta.url), "utf8");
  const [, , third] = [...readme.matchAll(/```ts(?: server.mts)?\n(.*?)```/gs)].map(([, code]) => code!);
  const authority = new Authority("readme");
  const [old, renewed] = [authority.issue("localhost"), authority.issue("localhost")];
  const pems = { cert: old.cert, key: old.key, ca: authority.ca, newCert: renewed.cert, newKey: renewed.key };
  const given = Object.fromEntries(Object.entries(pems).map(([name, pem]) => [name, pem.toString()]));
  const folder = await mkdtemp(join(import.meta.dirname, "readme-"));
  try {
    const file = join(folder, "tls.mts");
    await writeFile(
      file,
      `import { GrpcServer, HealthService, ReflectionService } from "@tollway/grpc-wire";
const { cert, key, ca, newCert, newKey } = JSON.parse(process.env.GIVEN!);
const fileDescriptorSet = new Uint8Array();
${third}
await secure.listen({ host: "127.0.0.1", port: 0 });
await secure.close();
console.log("done");
`,
    );
    const env = { ...process.env, GIVEN: JSON.stringify(given) };
    const { stdout } = await promisify(execFile)(process.execPath, [file], { env });
    assert.equal(stdout, "done\n");
  } finally {
    await rm(folder, { recursive: true });
    authority.remove();
  }
});
