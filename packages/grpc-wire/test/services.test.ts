/** Health and reflection, over a real client that decodes their answers with a protobuf runtime. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { create, createFileRegistry, fromBinary, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import grpc from "@grpc/grpc-js";
import { GrpcServer, HealthService, ReflectionService } from "../src/index.ts";
import { lengthField, numberField, readFields, stringField } from "../src/services/protobuf.ts";
import { echoFile } from "./support/echo-service.ts";

const bytes = (value: Buffer) => value;
const none = Buffer.alloc(0);

/** A set of one file that imports another and extends a message of it. */
const baseFile = toBinary(
  FileDescriptorProtoSchema,
  create(FileDescriptorProtoSchema, {
    name: "base.proto",
    package: "base",
    syntax: "proto2",
    messageType: [
      {
        name: "Outer",
        nestedType: [{ name: "Inner" }],
        enumType: [{ name: "Kind", value: [{ name: "ONE", number: 1 }] }],
        extensionRange: [{ start: 100, end: 200 }],
      },
    ],
  }),
);
const topFile = toBinary(
  FileDescriptorProtoSchema,
  create(FileDescriptorProtoSchema, {
    name: "top.proto",
    package: "top",
    syntax: "proto2",
    dependency: ["base.proto"],
    extension: [{ name: "extra", number: 123, extendee: ".base.Outer", type: 5, label: 1 }],
  }),
);

async function start() {
  const server = new GrpcServer().unary("/test.Echo/Simple", (message) => message);
  const health = new HealthService();
  health.addTo(server);
  new ReflectionService(
    Buffer.concat([echoFile, topFile, baseFile].map((file) => lengthField(1, file))),
  ).addTo(server);
  const bound = await server.listen({ port: 0 });
  if (bound.kind !== "tcp") throw new Error("no port");
  const client = new grpc.Client(`127.0.0.1:${bound.port}`, grpc.credentials.createInsecure());
  return { server, health, client };
}

describe("health", () => {
  let it: Awaited<ReturnType<typeof start>>;
  before(async () => {
    it = await start();
  });
  after(async () => {
    it.client.close();
    await it.server.close();
  });

  const unary = (method: string, message: Uint8Array) =>
    new Promise<Buffer>((resolve, reject) => {
      it.client.makeUnaryRequest(
        `/grpc.health.v1.Health/${method}`,
        bytes,
        bytes,
        Buffer.from(message),
        (error, answer) => (error ? reject(error) : resolve(answer!)),
      );
    });
  const check = async (service: string) =>
    readFields(await unary("Check", lengthField(1, service)))[0]?.value ?? 0;

  test("Check returns the status that was set", async () => {
    assert.equal(await check(""), 1);
    it.health.set("a.B", "NOT_SERVING");
    assert.equal(await check("a.B"), 2);
    it.health.set("a.B", "SERVING");
    assert.equal(await check("a.B"), 1);
    it.health.set("a.B", "UNKNOWN");
    assert.equal(await check("a.B"), 0);
    it.health.delete("a.B");
    await assert.rejects(check("a.B"), { code: grpc.status.NOT_FOUND });
  });

  test("an invalid protobuf message is INVALID_ARGUMENT", async () => {
    for (const hex of ["ff", "0aff01", "0b", "0a01ff"])
      await assert.rejects(unary("Check", Buffer.from(hex, "hex")), { code: grpc.status.INVALID_ARGUMENT });
  });

  test("List names every service", async () => {
    it.health.set("list.Me", "NOT_SERVING");
    const listed = readFields(await unary("List", none)).map(({ bytes: entry }) =>
      stringField(readFields(entry), 1),
    );
    assert.deepEqual(listed, ["", "list.Me"]);
    it.health.delete("list.Me");
  });

  test("Watch sends the status and each change, and ends with the server's drain", async () => {
    const own = await start();
    const call = own.client.makeServerStreamRequest(
      "/grpc.health.v1.Health/Watch",
      bytes,
      bytes,
      Buffer.from(lengthField(1, "w.W")),
    );
    const seen: number[] = [];
    const failed = new Promise<grpc.ServiceError>((resolve) => call.on("error", resolve));
    const changes = call[Symbol.asyncIterator]();
    const next = async () => {
      const { value } = await changes.next();
      seen.push(readFields(value as Buffer)[0]?.value ?? 0);
    };
    await next();
    own.health.set("w.W", "SERVING");
    await next();
    own.health.set("other", "SERVING");
    own.health.set("w.W", "NOT_SERVING");
    await next();
    assert.deepEqual(seen, [3, 1, 2]);
    const ended = changes.next().catch(() => undefined);
    await own.server.drain();
    await ended;
    assert.equal((await failed).code, grpc.status.UNAVAILABLE);
    own.client.close();
  });
});

describe("reflection", () => {
  let it: Awaited<ReturnType<typeof start>>;
  before(async () => {
    it = await start();
  });
  after(async () => {
    it.client.close();
    await it.server.close();
  });

  /** Asks one stream several things; gives each answer's member number and content. */
  async function ask(version: string, ...requests: Uint8Array[]) {
    const call = it.client.makeBidiStreamRequest(
      `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`,
      bytes,
      bytes,
    );
    for (const request of requests) call.write(Buffer.from(request));
    call.end();
    const answers: { number: number; bytes: Uint8Array }[] = [];
    for await (const answer of call)
      answers.push(readFields(answer as Buffer).find(({ number }) => number >= 4)!);
    return answers;
  }
  const filesIn = (answer: { bytes: Uint8Array }) => readFields(answer.bytes).map(({ bytes: file }) => file);
  const namesIn = (answer: { bytes: Uint8Array }) =>
    filesIn(answer).map((file) => fromBinary(FileDescriptorProtoSchema, file).name);

  for (const version of ["v1", "v1alpha"]) {
    test(`${version} lists the services`, async () => {
      const [answer] = await ask(version, lengthField(7, ""));
      assert.equal(answer!.number, 6);
      const services = filesIn(answer!).map((service) => stringField(readFields(service), 1));
      assert.deepEqual(services, [
        "grpc.health.v1.Health",
        "grpc.reflection.v1.ServerReflection",
        "grpc.reflection.v1alpha.ServerReflection",
        "test.Echo",
      ]);
    });
  }

  const lookups: [what: string, request: Uint8Array, names: string[]][] = [
    ["a service", lengthField(4, "test.Echo"), ["test/echo.proto"]],
    ["a method", lengthField(4, "test.Echo.Simple"), ["test/echo.proto"]],
    ["a field", lengthField(4, "test.Text.value"), ["test/echo.proto"]],
    ["a nested message", lengthField(4, "base.Outer.Inner"), ["base.proto"]],
    ["an enum's value", lengthField(4, "base.Outer.ONE"), ["base.proto"]],
    ["an extension, with the file that it needs", lengthField(4, "top.extra"), ["top.proto", "base.proto"]],
    ["a file name", lengthField(3, "top.proto"), ["top.proto", "base.proto"]],
    [
      "an extension by number",
      lengthField(5, [lengthField(1, "base.Outer"), numberField(2, 123)]),
      ["top.proto", "base.proto"],
    ],
    ["health itself", lengthField(4, "grpc.health.v1.Health"), ["grpc/health/v1/health.proto"]],
  ];
  for (const [what, request, names] of lookups)
    test(`finds ${what}`, async () => assert.deepEqual(namesIn((await ask("v1", request))[0]!), names));

  test("lists a type's extensions", async () => {
    const [answer] = await ask("v1", lengthField(6, "base.Outer"));
    assert.equal(answer!.number, 5);
    assert.deepEqual(
      readFields(answer!.bytes)
        .filter(({ number }) => number === 2)
        .map(({ value }) => value),
      [123],
    );
  });

  test("an unknown name gets an error response, and the stream continues", async () => {
    const answers = await ask(
      "v1",
      lengthField(3, "no.proto"),
      lengthField(4, "no.Symbol"),
      lengthField(6, "no.Type"),
      none,
      lengthField(7, ""),
    );
    const codes = answers
      .slice(0, 4)
      .map(({ number, bytes: error }) => [number, readFields(error)[0]!.value]);
    assert.deepEqual(codes, [
      [7, 5],
      [7, 5],
      [7, 5],
      [7, 3],
    ]);
    assert.equal(answers[4]!.number, 6);
  });

  test("a protobuf runtime can build the descriptors of the package", async () => {
    const symbols = [
      "grpc.health.v1.Health",
      "grpc.reflection.v1.ServerReflection",
      "grpc.reflection.v1alpha.ServerReflection",
    ];
    const answers = await ask("v1", ...symbols.map((symbol) => lengthField(4, symbol)));
    const file = answers.flatMap(filesIn).map((each) => fromBinary(FileDescriptorProtoSchema, each));
    const registry = createFileRegistry(create(FileDescriptorSetSchema, { file }));
    assert.deepEqual(
      registry.getService("grpc.health.v1.Health")!.methods.map(({ name, methodKind }) => [name, methodKind]),
      [
        ["Check", "unary"],
        ["List", "unary"],
        ["Watch", "server_streaming"],
      ],
    );
    assert.equal(
      registry.getService("grpc.reflection.v1.ServerReflection")!.methods[0]!.methodKind,
      "bidi_streaming",
    );
    const request = registry.getMessage("grpc.reflection.v1alpha.ServerReflectionRequest")!;
    assert.equal(request.oneofs[0]!.fields.length, 5);
    assert.equal(registry.getMessage("grpc.health.v1.HealthListResponse")!.fields[0]!.fieldKind, "map");
  });

  test("the constructor rejects an invalid descriptor set", () => {
    assert.throws(() => new ReflectionService(Buffer.from("0aff", "hex")), { code: "ERR_GRPC_WIRE_DECODE" });
  });
});
