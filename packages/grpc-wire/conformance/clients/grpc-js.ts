import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import grpc from "@grpc/grpc-js";
import { scaled } from "../../../../tools/time-scale.ts";
import { assertZipped, type Client, samples, type Target } from "../client.ts";
import {
  decodeNote,
  encodeNote,
  healthRequestSchema,
  healthResponseSchema,
  reflectionRequestSchema,
  reflectionResponseSchema,
} from "../schema.ts";
import { packageVersion } from "./package-version.ts";

const bytes = (value: Buffer) => value;

/** Runs with a client of the target, which is closed afterwards. */
async function using<T>(
  target: Target,
  run: (client: grpc.Client) => Promise<T>,
  options: grpc.ClientOptions = {},
): Promise<T> {
  // By name: Node takes no IP address as a TLS server name.
  const address = target.path === "" ? `localhost:${target.port}` : `unix:${target.path}`;
  const credentials =
    target.transport === "TLS with ALPN"
      ? grpc.credentials.createSsl(readFileSync(target.caFile))
      : grpc.credentials.createInsecure();
  const client = new grpc.Client(address, credentials, options);
  try {
    return await run(client);
  } finally {
    client.close();
  }
}

interface Answer {
  readonly message: Buffer;
  readonly initial: grpc.Metadata;
  readonly trailing: grpc.Metadata;
}

function call(
  client: grpc.Client,
  path: string,
  message: Buffer,
  metadata = new grpc.Metadata(),
  deadlineMs = scaled(10_000),
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let initial = new grpc.Metadata();
    let answer: Buffer | undefined;
    const options = { deadline: Date.now() + deadlineMs };
    const request = client.makeUnaryRequest(
      path,
      bytes,
      bytes,
      message,
      metadata,
      options,
      (error, value) => {
        if (error) reject(error);
        else answer = value;
      },
    );
    request.on("metadata", (value) => (initial = value));
    request.on("status", ({ metadata: trailing }) => {
      if (answer !== undefined) resolve({ message: answer, initial, trailing });
    });
  });
}

function check(client: grpc.Client, service: string): Promise<Answer> {
  return call(client, "/grpc.health.v1.Health/Check", healthRequest({ service }));
}

function healthRequest(request: MessageInitShape<typeof healthRequestSchema>): Buffer {
  return Buffer.from(toBinary(healthRequestSchema, create(healthRequestSchema, request)));
}

function statusOf(message: Buffer): number {
  return fromBinary(healthResponseSchema, message).status;
}

const echo = "/conformance.Probe/Echo";
const wait = "/conformance.Probe/Wait";

export const grpcJs: Client = {
  name: "@grpc/grpc-js",
  version: async () => packageVersion("@grpc/grpc-js"),
  unable: {},
  trials: {
    unary: (target) =>
      using(target, async (client) => {
        for (const size of [0, 1, 1000, 16_379, 16_384, 100_000]) {
          const message = encodeNote({ text: samples.greeting, payload: Buffer.alloc(size, 7) });
          assert.deepEqual((await call(client, echo, message)).message, message);
        }
        return undefined;
      }),
    concurrent: (target) =>
      using(target, async (client) => {
        const messages = Array.from({ length: 500 }, (_, count) => encodeNote({ count }));
        const answers = await Promise.all(messages.map((message) => call(client, echo, message)));
        answers.forEach(({ message }, index) => {
          assert.equal(decodeNote(message).count, index);
        });
        return undefined;
      }),
    deadline: (target) =>
      using(target, async (client) => {
        const text = target.control.unique();
        const late = call(client, wait, encodeNote({ text }), undefined, samples.deadlineMs);
        await assert.rejects(late, { code: grpc.status.DEADLINE_EXCEEDED });
        await target.control.gone(text);
        return undefined;
      }),
    cancel: (target) =>
      using(target, async (client) => {
        const text = target.control.unique();
        const ended = Promise.withResolvers<grpc.ServiceError | null>();
        const request = client.makeUnaryRequest(wait, bytes, bytes, encodeNote({ text }), ended.resolve);
        await target.control.arrived(text);
        request.cancel();
        assert.equal((await ended.promise)?.code, grpc.status.CANCELLED);
        await target.control.gone(text);
        return undefined;
      }),
    "4 MB both ways": (target) =>
      using(target, async (client) => {
        const message = encodeNote({ payload: samples.large });
        assert.ok((await call(client, echo, message)).message.equals(message));
        return undefined;
      }),
    "5 MB is RESOURCE_EXHAUSTED": (target) =>
      using(target, async (client) => {
        const message = encodeNote({ payload: samples.tooLarge });
        await assert.rejects(call(client, echo, message), { code: grpc.status.RESOURCE_EXHAUSTED });
        return undefined;
      }),
    "gzip both ways": (target) =>
      target.control.counted(target, (counted, traffic) =>
        using(
          counted,
          async (client) => {
            const message = encodeNote({ payload: samples.zippable });
            assert.ok((await call(client, echo, message)).message.equals(message));
            assertZipped(traffic);
            return undefined;
          },
          { "grpc.default_compression_algorithm": 2 },
        ),
      ),
    "server streaming": (target) =>
      using(target, async (client) => {
        const stream = client.makeServerStreamRequest(
          "/conformance.Probe/Count",
          bytes,
          bytes,
          encodeNote(samples.streamed),
        );
        let seen = 0;
        for await (const message of stream) {
          const note = decodeNote(message);
          assert.equal(note.count, seen++);
          assert.equal(note.payload.length, samples.streamed.payload.length);
        }
        assert.equal(seen, samples.streamed.count);
        return undefined;
      }),
    "client streaming": (target) =>
      using(target, async (client) => {
        const { count, payload, text } = samples.summed;
        const ended = Promise.withResolvers<Buffer>();
        const stream = client.makeClientStreamRequest(
          "/conformance.Probe/Sum",
          bytes,
          bytes,
          (error, answer) => (error ? ended.reject(error) : ended.resolve(answer!)),
        );
        for (let index = 0; index < count; index++) stream.write(encodeNote({ payload }));
        stream.end();
        const note = decodeNote(await ended.promise);
        assert.deepEqual([note.count, note.text], [count, text]);
        return undefined;
      }),
    "bidirectional streaming": (target) =>
      using(target, async (client) => {
        const stream = client.makeBidiStreamRequest("/conformance.Probe/Talk", bytes, bytes);
        stream.write(encodeNote({ count: 0 }));
        let seen = 0;
        for await (const message of stream) {
          assert.equal(decodeNote(message).count, seen++);
          if (seen < 100) stream.write(encodeNote({ count: seen }));
          else stream.end();
        }
        assert.equal(seen, 100);
        return undefined;
      }),
    "metadata, -bin too": (target) =>
      using(target, async (client) => {
        const metadata = new grpc.Metadata();
        metadata.set("x-probe-word", samples.word);
        metadata.set("x-probe-raw-bin", samples.raw);
        const { initial, trailing } = await call(client, echo, encodeNote({}), metadata);
        assert.deepEqual(initial.get("x-probe-word"), [samples.word]);
        assert.deepEqual(initial.get("x-probe-raw-bin"), [samples.raw]);
        assert.deepEqual(trailing.get("x-probe-end-word"), [samples.word]);
        assert.deepEqual(trailing.get("x-probe-end-raw-bin"), [samples.raw]);
        return undefined;
      }),
    "status with Unicode": (target) =>
      using(target, async (client) => {
        await assert.rejects(call(client, "/conformance.Probe/Fail", encodeNote({ text: samples.failure })), {
          code: grpc.status.NOT_FOUND,
          details: samples.failure,
        });
        return undefined;
      }),
    "health Check": (target) =>
      using(target, async (client) => {
        assert.equal(statusOf((await check(client, "")).message), 1);
        await assert.rejects(check(client, "nobody knows"), { code: grpc.status.NOT_FOUND });
        return undefined;
      }),
    "health Watch": (target) =>
      using(target, async (client) => {
        const service = target.control.unique();
        const path = "/grpc.health.v1.Health/Watch";
        const stream = client.makeServerStreamRequest(path, bytes, bytes, healthRequest({ service }));
        const seen: number[] = [];
        try {
          for await (const message of stream) {
            seen.push(statusOf(message));
            if (seen.length < 3) await target.control.setHealth(service, seen.length);
            else stream.cancel();
          }
        } catch (error) {
          assert.equal((error as grpc.ServiceError).code, grpc.status.CANCELLED);
        }
        assert.deepEqual(seen, [3, 1, 2]);
        return undefined;
      }),
    reflection: (target) =>
      using(target, async (client) => {
        const path = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
        const stream = client.makeBidiStreamRequest(path, bytes, bytes);
        const ask = (messageRequest: MessageInitShape<typeof reflectionRequestSchema>["messageRequest"]) =>
          stream.write(
            Buffer.from(
              toBinary(
                reflectionRequestSchema,
                create(reflectionRequestSchema, { messageRequest: messageRequest! }),
              ),
            ),
          );
        ask({ case: "listServices", value: "" });
        ask({ case: "fileContainingSymbol", value: "conformance.Probe" });
        stream.end();
        const answers = [];
        for await (const message of stream) answers.push(fromBinary(reflectionResponseSchema, message));
        const [list, found] = answers.map(({ messageResponse }) => messageResponse);
        assert.equal(list?.case, "listServicesResponse");
        assert.ok(list.value.service.some(({ name }) => name === "conformance.Probe"));
        assert.equal(found?.case, "fileDescriptorResponse");
        const [file] = found.value.fileDescriptorProto.map((each) =>
          fromBinary(FileDescriptorProtoSchema, each),
        );
        assert.ok(file!.service[0]!.method.some(({ name }) => name === "Echo"));
        return undefined;
      }),
  },
};
