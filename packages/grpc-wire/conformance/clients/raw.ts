/** The cases for tools that speak HTTP/2 and know nothing of gRPC: these functions frame and read the messages for them. */
import assert from "node:assert/strict";
import { gunzipSync, gzipSync } from "node:zlib";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { assertZipped, type Case, samples, type Target, type Trial } from "../client.ts";
import {
  decodeNote,
  encodeNote,
  healthRequestSchema,
  healthResponseSchema,
  reflectionRequestSchema,
  reflectionResponseSchema,
} from "../schema.ts";

/** The response to one POST: headers and trailers in one map, and the body. */
export interface HttpAnswer {
  readonly fields: ReadonlyMap<string, string>;
  readonly body: Buffer;
}

export type Post = (
  target: Target,
  path: string,
  body: Buffer,
  headers?: readonly [name: string, value: string][],
) => Promise<HttpAnswer>;

/** A message with gRPC's prefix. */
export function frame(message: Uint8Array, zips = false): Buffer {
  const content = zips ? gzipSync(message) : message;
  const prefix = Buffer.alloc(5);
  prefix[0] = zips ? 1 : 0;
  prefix.writeUInt32BE(content.length, 1);
  return Buffer.concat([prefix, content]);
}

/** The whole messages at the start of `body`. */
export function messagesOf(body: Buffer): Buffer[] {
  const messages: Buffer[] = [];
  for (let at = 0; at + 5 <= body.length; ) {
    const end = at + 5 + body.readUInt32BE(at + 1);
    if (end > body.length) break;
    const content = body.subarray(at + 5, end);
    messages.push(body[at] === 1 ? gunzipSync(content) : content);
    at = end;
  }
  return messages;
}

export const bodies = {
  wait: (text: string) => frame(encodeNote({ text })),
  count: (count: number) => frame(encodeNote({ count })),
  health: (service: string) => frame(toBinary(healthRequestSchema, create(healthRequestSchema, { service }))),
  large: frame(encodeNote({ payload: samples.large })),
  tooLarge: frame(encodeNote({ payload: samples.tooLarge })),
  tooLargeZipped: frame(encodeNote({ payload: samples.tooLarge }), true),
  sum: Buffer.concat(
    Array.from({ length: samples.summed.count }, () =>
      frame(encodeNote({ payload: samples.summed.payload })),
    ),
  ),
  talk: Buffer.concat(Array.from({ length: 100 }, (_, count) => frame(encodeNote({ count })))),
} as const;

export const paths = {
  echo: "/conformance.Probe/Echo",
  wait: "/conformance.Probe/Wait",
  check: "/grpc.health.v1.Health/Check",
  watch: "/grpc.health.v1.Health/Watch",
} as const;

export function healthOf(message: Uint8Array): number {
  return fromBinary(healthResponseSchema, message).status;
}

function assertStatus({ fields }: HttpAnswer, status: number): void {
  assert.equal(fields.get(":status"), "200");
  assert.equal(fields.get("grpc-status"), String(status), fields.get("grpc-message") ?? "no grpc-message");
}

/** All cases that one POST can show. */
export function rawTrials(post: Post): Omit<Record<Case, Trial>, "concurrent" | "cancel" | "health Watch"> {
  const ask = async (target: Target, path: string, body: Buffer) => {
    const answer = await post(target, path, body);
    assertStatus(answer, 0);
    return messagesOf(answer.body);
  };
  return {
    unary: async (target) => {
      for (const size of [0, 1000, 16_384, 100_000]) {
        const message = encodeNote({ text: samples.greeting, payload: Buffer.alloc(size, 7) });
        assert.deepEqual(await ask(target, paths.echo, frame(message)), [message]);
      }
      return undefined;
    },
    deadline: async (target) => {
      const text = target.control.unique();
      const timeout: [string, string] = ["grpc-timeout", `${samples.deadlineMs}m`];
      assertStatus(await post(target, paths.wait, bodies.wait(text), [timeout]), 4);
      await target.control.gone(text);
      return undefined;
    },
    "4 MB both ways": async (target) => {
      const answer = await post(target, paths.echo, bodies.large);
      assertStatus(answer, 0);
      assert.ok(answer.body.equals(bodies.large));
      return undefined;
    },
    "5 MB is RESOURCE_EXHAUSTED": async (target) => {
      assertStatus(await post(target, paths.echo, bodies.tooLarge), 8);
      return undefined;
    },
    "gzip both ways": (target) =>
      target.control.counted(target, async (counted, traffic) => {
        const message = encodeNote({ payload: samples.zippable });
        const answer = await post(counted, paths.echo, frame(message, true), [
          ["grpc-encoding", "gzip"],
          ["grpc-accept-encoding", "identity,gzip"],
        ]);
        assertStatus(answer, 0);
        assert.equal(answer.fields.get("grpc-encoding"), "gzip");
        assert.deepEqual(messagesOf(answer.body), [message]);
        assertZipped(traffic);
        return undefined;
      }),
    "server streaming": async (target) => {
      const messages = await ask(target, "/conformance.Probe/Count", frame(encodeNote(samples.streamed)));
      assert.equal(messages.length, samples.streamed.count);
      messages.forEach((message, index) => {
        assert.equal(decodeNote(message).count, index);
      });
      return undefined;
    },
    "client streaming": async (target) => {
      const { count, text } = samples.summed;
      const [answer] = await ask(target, "/conformance.Probe/Sum", bodies.sum);
      const note = decodeNote(answer!);
      assert.deepEqual([note.count, note.text], [count, text]);
      return undefined;
    },
    "bidirectional streaming": async (target) => {
      const answer = await post(target, "/conformance.Probe/Talk", bodies.talk);
      assertStatus(answer, 0);
      assert.ok(answer.body.equals(bodies.talk));
      return undefined;
    },
    "metadata, -bin too": async (target) => {
      const raw = samples.raw.toString("base64").replace(/=+$/, "");
      const { fields } = await post(target, paths.echo, frame(encodeNote({})), [
        ["x-probe-word", samples.word],
        ["x-probe-raw-bin", raw],
      ]);
      for (const prefix of ["x-probe-", "x-probe-end-"]) {
        assert.equal(fields.get(`${prefix}word`), samples.word);
        assert.deepEqual(Buffer.from(fields.get(`${prefix}raw-bin`) ?? "", "base64"), samples.raw);
      }
      return undefined;
    },
    "status with Unicode": async (target) => {
      const answer = await post(
        target,
        "/conformance.Probe/Fail",
        frame(encodeNote({ text: samples.failure })),
      );
      assertStatus(answer, 5);
      assert.equal(decodeURIComponent(answer.fields.get("grpc-message") ?? ""), samples.failure);
      return undefined;
    },
    "health Check": async (target) => {
      assert.deepEqual((await ask(target, paths.check, bodies.health(""))).map(healthOf), [1]);
      assertStatus(await post(target, paths.check, bodies.health("nobody knows")), 5);
      return undefined;
    },
    reflection: async (target) => {
      const questions = [
        { messageRequest: { case: "listServices" as const, value: "" } },
        { messageRequest: { case: "fileContainingSymbol" as const, value: "conformance.Probe" } },
      ].map((each) => frame(toBinary(reflectionRequestSchema, create(reflectionRequestSchema, each))));
      const path = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
      const [list, found] = (await ask(target, path, Buffer.concat(questions))).map(
        (message) => fromBinary(reflectionResponseSchema, message).messageResponse,
      );
      assert.equal(list?.case, "listServicesResponse");
      assert.ok(list.value.service.some(({ name }) => name === "conformance.Probe"));
      assert.equal(found?.case, "fileDescriptorResponse");
      const file = fromBinary(FileDescriptorProtoSchema, found.value.fileDescriptorProto[0]!);
      assert.ok(file.service[0]!.method.some(({ name }) => name === "Echo"));
      return undefined;
    },
  };
}
