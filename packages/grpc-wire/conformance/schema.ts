/** The messages and services of the conformance cases, and the descriptor set of the server. */
import {
  create,
  createFileRegistry,
  fromBinary,
  type Message,
  type MessageInitShape,
  toBinary,
} from "@bufbuild/protobuf";
import type { GenMessage, GenService } from "@bufbuild/protobuf/codegenv2";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { descriptorSet as packageDescriptorSet } from "../src/services/gen/descriptor-set.ts";
import { descriptorSet } from "./gen/descriptor-set.ts";

type Note = Message<"conformance.Note"> & { text: string; payload: Uint8Array; count: number };
type NoteSchema = GenMessage<Note>;
type HealthRequest = GenMessage<Message<"grpc.health.v1.HealthCheckRequest"> & { service: string }>;
type HealthResponse = GenMessage<Message<"grpc.health.v1.HealthCheckResponse"> & { status: number }>;
type ReflectionRequest = GenMessage<
  Message<"grpc.reflection.v1.ServerReflectionRequest"> & {
    messageRequest:
      | { case: "listServices" | "fileContainingSymbol"; value: string }
      | { case: undefined; value?: undefined };
  }
>;
type ReflectionResponse = GenMessage<
  Message<"grpc.reflection.v1.ServerReflectionResponse"> & {
    messageResponse:
      | { case: "fileDescriptorResponse"; value: Message & { fileDescriptorProto: Uint8Array[] } }
      | { case: "listServicesResponse"; value: Message & { service: (Message & { name: string })[] } }
      | { case: undefined; value?: undefined };
  }
>;
interface NoteMethod<Kind extends "unary" | "server_streaming" | "client_streaming" | "bidi_streaming"> {
  methodKind: Kind;
  input: NoteSchema;
  output: NoteSchema;
}

/** A serialized FileDescriptorSet of the Probe service. The server adds health and reflection. */
export const probeDescriptorSet: Uint8Array = Buffer.from(descriptorSet, "base64");

const files = [probeDescriptorSet, Buffer.from(packageDescriptorSet, "base64")].map((bytes) =>
  fromBinary(FileDescriptorSetSchema, bytes),
);
const registry = createFileRegistry(
  create(FileDescriptorSetSchema, { file: files.flatMap(({ file }) => file) }),
);

export const noteSchema = registry.getMessage("conformance.Note") as NoteSchema;
export const healthRequestSchema = registry.getMessage("grpc.health.v1.HealthCheckRequest") as HealthRequest;
export const healthResponseSchema = registry.getMessage(
  "grpc.health.v1.HealthCheckResponse",
) as HealthResponse;
export const reflectionRequestSchema = registry.getMessage(
  "grpc.reflection.v1.ServerReflectionRequest",
) as ReflectionRequest;
export const reflectionResponseSchema = registry.getMessage(
  "grpc.reflection.v1.ServerReflectionResponse",
) as ReflectionResponse;

export const probeService = registry.getService("conformance.Probe") as GenService<{
  echo: NoteMethod<"unary">;
  fail: NoteMethod<"unary">;
  wait: NoteMethod<"unary">;
  count: NoteMethod<"server_streaming">;
  sum: NoteMethod<"client_streaming">;
  talk: NoteMethod<"bidi_streaming">;
}>;
export const healthService = registry.getService("grpc.health.v1.Health") as GenService<{
  check: { methodKind: "unary"; input: HealthRequest; output: HealthResponse };
  watch: { methodKind: "server_streaming"; input: HealthRequest; output: HealthResponse };
}>;
export const reflectionService = registry.getService("grpc.reflection.v1.ServerReflection") as GenService<{
  serverReflectionInfo: {
    methodKind: "bidi_streaming";
    input: ReflectionRequest;
    output: ReflectionResponse;
  };
}>;

export function encodeNote(note: MessageInitShape<NoteSchema>): Buffer {
  return Buffer.from(toBinary(noteSchema, create(noteSchema, note)));
}

export function decodeNote(bytes: Uint8Array): Note {
  return fromBinary(noteSchema, bytes);
}
