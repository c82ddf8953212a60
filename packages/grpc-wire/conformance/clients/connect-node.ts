import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import {
  Code,
  ConnectError,
  createClient,
  decodeBinaryHeader,
  encodeBinaryHeader,
} from "@connectrpc/connect";
import { compressionGzip, createGrpcTransport, type GrpcTransportOptions } from "@connectrpc/connect-node";
import { assertZipped, type Client, samples, type Target } from "../client.ts";
import { healthService, probeService, reflectionService } from "../schema.ts";
import { packageVersion } from "./package-version.ts";

function transportTo(target: Target, options: Partial<GrpcTransportOptions> = {}) {
  const isTls = target.transport === "TLS with ALPN";
  return createGrpcTransport({
    baseUrl:
      target.path !== "" ? "http://localhost" : `${isTls ? "https" : "http"}://127.0.0.1:${target.port}`,
    nodeOptions: {
      ...(isTls && { ca: readFileSync(target.caFile) }),
      ...(target.path !== "" && { createConnection: () => connect(target.path) }),
    },
    ...options,
  });
}

const probeAt = (target: Target) => createClient(probeService, transportTo(target));
const failsWith = (code: Code) => (error: unknown) => error instanceof ConnectError && error.code === code;

async function* each<T>(values: Iterable<T>): AsyncGenerator<T> {
  yield* values;
}

/**
 * On Node 24 this client sometimes reports a premature close of one of 500 concurrent calls over TLS; on Node 26 it
 * never does, against the same server. Node 24's HTTP/2 client is a possible cause.
 */
const closesEarly = Number(process.versions.node.split(".")[0]) < 26;

export const connectNode: Client = {
  name: "@connectrpc/connect-node",
  version: async () => packageVersion("@connectrpc/connect-node"),
  unable: {},
  trials: {
    unary: async (target) => {
      const probe = probeAt(target);
      for (const size of [0, 1, 1000, 16_379, 16_384, 100_000]) {
        const payload = new Uint8Array(size).fill(7);
        const answer = await probe.echo({ text: samples.greeting, payload });
        assert.equal(answer.text, samples.greeting);
        assert.deepEqual(answer.payload, payload);
      }
      return undefined;
    },
    concurrent: closesEarly
      ? "closes streams early on Node 24"
      : async (target) => {
          const probe = probeAt(target);
          const answers = await Promise.all(Array.from({ length: 500 }, (_, count) => probe.echo({ count })));
          answers.forEach(({ count }, index) => {
            assert.equal(count, index);
          });
          return undefined;
        },
    deadline: async (target) => {
      const text = target.control.unique();
      const late = probeAt(target).wait({ text }, { timeoutMs: samples.deadlineMs });
      await assert.rejects(late, failsWith(Code.DeadlineExceeded));
      await target.control.gone(text);
      return undefined;
    },
    cancel: async (target) => {
      const text = target.control.unique();
      const controller = new AbortController();
      const call = probeAt(target).wait({ text }, { signal: controller.signal });
      await target.control.arrived(text);
      controller.abort();
      await assert.rejects(call, failsWith(Code.Canceled));
      await target.control.gone(text);
      return undefined;
    },
    "4 MB both ways": async (target) => {
      const { payload } = await probeAt(target).echo({ payload: samples.large });
      assert.ok(samples.large.equals(payload));
      return undefined;
    },
    "5 MB is RESOURCE_EXHAUSTED": async (target) => {
      await assert.rejects(
        probeAt(target).echo({ payload: samples.tooLarge }),
        failsWith(Code.ResourceExhausted),
      );
      return undefined;
    },
    "gzip both ways": (target) =>
      target.control.counted(target, async (counted, traffic) => {
        const transport = transportTo(counted, { sendCompression: compressionGzip });
        const { payload } = await createClient(probeService, transport).echo({ payload: samples.zippable });
        assert.ok(samples.zippable.equals(payload));
        assertZipped(traffic);
        return undefined;
      }),
    "server streaming": async (target) => {
      let seen = 0;
      for await (const { count, payload } of probeAt(target).count(samples.streamed)) {
        assert.equal(count, seen++);
        assert.equal(payload.length, samples.streamed.payload.length);
      }
      assert.equal(seen, samples.streamed.count);
      return undefined;
    },
    "client streaming": async (target) => {
      const { count, payload, text } = samples.summed;
      const note = await probeAt(target).sum(each(Array.from({ length: count }, () => ({ payload }))));
      assert.deepEqual([note.count, note.text], [count, text]);
      return undefined;
    },
    "bidirectional streaming": async (target) => {
      const notes = Array.from({ length: 100 }, (_, count) => ({ count }));
      const counts: number[] = [];
      for await (const { count } of probeAt(target).talk(each(notes))) counts.push(count);
      assert.deepEqual(
        counts,
        notes.map(({ count }) => count),
      );
      return undefined;
    },
    "metadata, -bin too": async (target) => {
      let initial = new Headers();
      let trailing = new Headers();
      await probeAt(target).echo(
        {},
        {
          headers: { "x-probe-word": samples.word, "x-probe-raw-bin": encodeBinaryHeader(samples.raw) },
          onHeader: (headers) => (initial = headers),
          onTrailer: (trailers) => (trailing = trailers),
        },
      );
      for (const [headers, prefix] of [
        [initial, "x-probe-"],
        [trailing, "x-probe-end-"],
      ] as const) {
        assert.equal(headers.get(`${prefix}word`), samples.word);
        assert.ok(samples.raw.equals(decodeBinaryHeader(headers.get(`${prefix}raw-bin`) ?? "")));
      }
      return undefined;
    },
    "status with Unicode": async (target) => {
      await assert.rejects(probeAt(target).fail({ text: samples.failure }), (error) => {
        assert.ok(error instanceof ConnectError);
        assert.equal(error.code, Code.NotFound);
        assert.equal(error.rawMessage, samples.failure);
        return true;
      });
      return undefined;
    },
    "health Check": async (target) => {
      const health = createClient(healthService, transportTo(target));
      assert.equal((await health.check({ service: "" })).status, 1);
      await assert.rejects(health.check({ service: "nobody knows" }), failsWith(Code.NotFound));
      return undefined;
    },
    "health Watch": async (target) => {
      const service = target.control.unique();
      const health = createClient(healthService, transportTo(target));
      const seen: number[] = [];
      for await (const { status } of health.watch({ service })) {
        seen.push(status);
        if (seen.length === 3) break;
        await target.control.setHealth(service, seen.length);
      }
      assert.deepEqual(seen, [3, 1, 2]);
      return undefined;
    },
    reflection: async (target) => {
      const reflection = createClient(reflectionService, transportTo(target));
      const questions = each([
        { messageRequest: { case: "listServices" as const, value: "" } },
        { messageRequest: { case: "fileContainingSymbol" as const, value: "conformance.Probe" } },
      ]);
      const answers = [];
      for await (const { messageResponse } of reflection.serverReflectionInfo(questions))
        answers.push(messageResponse);
      const [list, found] = answers;
      assert.equal(list?.case, "listServicesResponse");
      assert.ok(list.value.service.some(({ name }) => name === "conformance.Probe"));
      assert.equal(found?.case, "fileDescriptorResponse");
      const file = fromBinary(FileDescriptorProtoSchema, found.value.fileDescriptorProto[0]!);
      assert.ok(file.service[0]!.method.some(({ name }) => name === "Echo"));
      return undefined;
    },
  },
};
