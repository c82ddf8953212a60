import type { GrpcServer } from "../server.ts";
import { GrpcError, Status } from "../status.ts";
import { DescriptorIndex } from "./descriptors.ts";
import { descriptorSet } from "./gen/descriptor-set.ts";
import {
  DecodeError,
  type Field,
  lengthField,
  numberField,
  readFields,
  stringField,
  textOf,
} from "./protobuf.ts";

/**
 * Server reflection (`grpc.reflection.v1` and `v1alpha`): lists the server's services and returns their descriptors. The
 * package has the descriptors of health and reflection itself.
 * @example
 * ```ts
 * import { readFileSync } from "node:fs";
 * import { GrpcServer, ReflectionService } from "@tollway/grpc-wire";
 *
 * // The output of `protoc --include_imports --descriptor_set_out=demo.binpb demo.proto`.
 * new ReflectionService(readFileSync("demo.binpb")).addTo(new GrpcServer());
 * ```
 */
export class ReflectionService {
  readonly #index = new DescriptorIndex();

  /** @param fileDescriptorSet a serialized `google.protobuf.FileDescriptorSet`. Throws if it is invalid. */
  constructor(fileDescriptorSet: Uint8Array) {
    for (const set of [fileDescriptorSet, Buffer.from(descriptorSet, "base64")])
      for (const { number, bytes } of readFields(set)) if (number === 1) this.#index.add(bytes);
  }

  /** Registers the methods of both versions. */
  addTo(server: GrpcServer): void {
    for (const version of ["v1", "v1alpha"]) {
      server.bidiStreaming(`/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`, (messages) =>
        this.#answer(messages, server),
      );
    }
  }

  async *#answer(messages: AsyncIterable<Uint8Array>, server: GrpcServer): AsyncGenerator<Uint8Array> {
    for await (const message of messages) {
      yield this.#answerOne(message, server);
    }
  }

  #answerOne(message: Uint8Array, server: GrpcServer): Uint8Array {
    try {
      const fields = readFields(message);
      const response = this.#respond(fields, server);
      return Buffer.concat([lengthField(1, stringField(fields, 1)), lengthField(2, message), response]);
    } catch (error) {
      if (error instanceof DecodeError) throw new GrpcError(Status.INVALID_ARGUMENT, error.message);
      throw error;
    }
  }

  /** Returns the response's `message_response` for the request's `message_request`. */
  #respond(fields: readonly Field[], server: GrpcServer): Uint8Array {
    const asked = fields.findLast(({ number }) => number >= 3 && number <= 7);
    if (asked === undefined) return failure(Status.INVALID_ARGUMENT, "the request has no message_request");
    if (asked.number === 5) {
      const extension = readFields(asked.bytes);
      const type = stringField(extension, 1);
      const number = extension.findLast((each) => each.number === 2)?.value ?? 0;
      return this.#files(this.#index.fileOfExtension(type, number), `extension ${number} of ${type}`);
    }
    const name = textOf(asked.bytes);
    if (asked.number === 3) return this.#files(name, `file ${name}`);
    if (asked.number === 4) return this.#files(this.#index.fileOfSymbol(name), `symbol ${name}`);
    if (asked.number === 7)
      return lengthField(
        6,
        servicesOf(server).map((service) => lengthField(1, [lengthField(1, service)])),
      );
    const numbers = this.#index.extensionsOf(name);
    if (numbers === undefined) return failure(Status.NOT_FOUND, `unknown type ${name}`);
    return lengthField(5, [lengthField(1, name), ...numbers.map((number) => numberField(2, number))]);
  }

  #files(name: string | undefined, what: string): Uint8Array {
    const files = name === undefined ? undefined : this.#index.withDependencies(name);
    if (files === undefined) return failure(Status.NOT_FOUND, `unknown ${what}`);
    return lengthField(
      4,
      files.map((file) => lengthField(1, file)),
    );
  }
}

function failure(code: number, message: string): Uint8Array {
  return lengthField(7, [numberField(1, code), lengthField(2, message)]);
}

function servicesOf(server: GrpcServer): string[] {
  return [...new Set(server.paths().map((path) => path.slice(1, path.indexOf("/", 1))))].sort();
}
