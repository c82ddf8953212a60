/**
 * The descriptors of the services that this package brings (health.proto and reflection.proto of
 * github.com/grpc/grpc-proto), so that a caller with reflection alone can use them. Field numbers of
 * descriptors: google/protobuf/descriptor.proto.
 */
import { lengthField, numberField } from "./protobuf.ts";

const TYPE = { int32: 5, string: 9, message: 11, bytes: 12, enum: 14 } as const;

interface FieldSpec {
  readonly name: string;
  readonly number: number;
  readonly type: keyof typeof TYPE;
  /** The full name of a message or enum, with its leading dot. */
  readonly of?: string;
  readonly repeated?: boolean;
  /** Member of the message's only oneof. */
  readonly oneof?: boolean;
}

function field({ name, number, type, of, repeated = false, oneof = false }: FieldSpec): Uint8Array {
  return lengthField(2, [
    lengthField(1, name),
    numberField(3, number),
    numberField(4, repeated ? 3 : 1),
    numberField(5, TYPE[type]),
    ...(of === undefined ? [] : [lengthField(6, of)]),
    // oneof_index 0 must be written: its presence says that the field is a member.
    ...(oneof ? [Uint8Array.of(9 * 8, 0)] : []),
  ]);
}

interface MessageSpec {
  readonly name: string;
  readonly fields: FieldSpec[];
  readonly oneof?: string;
  /** More parts of the DescriptorProto: nested types, enums, options. */
  readonly more?: Uint8Array[];
}

function messageParts({ name, fields, oneof, more = [] }: MessageSpec): Uint8Array[] {
  const oneofs = oneof === undefined ? [] : [lengthField(8, [lengthField(1, oneof)])];
  return [lengthField(1, name), ...fields.map(field), ...more, ...oneofs];
}

interface MethodSpec {
  readonly name: string;
  readonly input: string;
  readonly output: string;
  readonly clientStreams?: boolean;
  readonly serverStreams?: boolean;
}

function service(name: string, methods: MethodSpec[]): Uint8Array {
  return lengthField(6, [
    lengthField(1, name),
    ...methods.map(({ name: method, input, output, clientStreams, serverStreams }) =>
      lengthField(2, [
        lengthField(1, method),
        lengthField(2, input),
        lengthField(3, output),
        numberField(5, clientStreams ? 1 : 0),
        numberField(6, serverStreams ? 1 : 0),
      ]),
    ),
  ]);
}

function file(name: string, inPackage: string, messages: MessageSpec[], services: Uint8Array[]): Uint8Array {
  return Buffer.concat([
    lengthField(1, name),
    lengthField(2, inPackage),
    ...messages.map((message) => lengthField(4, messageParts(message))),
    ...services,
    lengthField(12, "proto3"),
  ]);
}

function health(): Uint8Array {
  const of = (name: string) => `.grpc.health.v1.${name}`;
  const values = ["UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN"].map((name, number) =>
    lengthField(2, [lengthField(1, name), number === 0 ? Uint8Array.of(2 * 8, 0) : numberField(2, number)]),
  );
  const statusEnum = lengthField(4, [lengthField(1, "ServingStatus"), ...values]);
  const entry = lengthField(3, [
    ...messageParts({
      name: "StatusesEntry",
      fields: [
        { name: "key", number: 1, type: "string" },
        { name: "value", number: 2, type: "message", of: of("HealthCheckResponse") },
      ],
    }),
    // MessageOptions.map_entry
    lengthField(7, [numberField(7, 1)]),
  ]);
  return file(
    "grpc/health/v1/health.proto",
    "grpc.health.v1",
    [
      { name: "HealthCheckRequest", fields: [{ name: "service", number: 1, type: "string" }] },
      {
        name: "HealthCheckResponse",
        fields: [{ name: "status", number: 1, type: "enum", of: of("HealthCheckResponse.ServingStatus") }],
        more: [statusEnum],
      },
      { name: "HealthListRequest", fields: [] },
      {
        name: "HealthListResponse",
        fields: [
          {
            name: "statuses",
            number: 1,
            type: "message",
            of: of("HealthListResponse.StatusesEntry"),
            repeated: true,
          },
        ],
        more: [entry],
      },
    ],
    [
      service("Health", [
        { name: "Check", input: of("HealthCheckRequest"), output: of("HealthCheckResponse") },
        { name: "List", input: of("HealthListRequest"), output: of("HealthListResponse") },
        {
          name: "Watch",
          input: of("HealthCheckRequest"),
          output: of("HealthCheckResponse"),
          serverStreams: true,
        },
      ]),
    ],
  );
}

function reflection(version: "v1" | "v1alpha"): Uint8Array {
  const of = (name: string) => `.grpc.reflection.${version}.${name}`;
  const member = (name: string, number: number, type: FieldSpec["type"], message?: string): FieldSpec => ({
    name,
    number,
    type,
    oneof: true,
    ...(message === undefined ? {} : { of: of(message) }),
  });
  return file(
    `grpc/reflection/${version}/reflection.proto`,
    `grpc.reflection.${version}`,
    [
      {
        name: "ServerReflectionRequest",
        oneof: "message_request",
        fields: [
          { name: "host", number: 1, type: "string" },
          member("file_by_filename", 3, "string"),
          member("file_containing_symbol", 4, "string"),
          member("file_containing_extension", 5, "message", "ExtensionRequest"),
          member("all_extension_numbers_of_type", 6, "string"),
          member("list_services", 7, "string"),
        ],
      },
      {
        name: "ExtensionRequest",
        fields: [
          { name: "containing_type", number: 1, type: "string" },
          { name: "extension_number", number: 2, type: "int32" },
        ],
      },
      {
        name: "ServerReflectionResponse",
        oneof: "message_response",
        fields: [
          { name: "valid_host", number: 1, type: "string" },
          { name: "original_request", number: 2, type: "message", of: of("ServerReflectionRequest") },
          member("file_descriptor_response", 4, "message", "FileDescriptorResponse"),
          member("all_extension_numbers_response", 5, "message", "ExtensionNumberResponse"),
          member("list_services_response", 6, "message", "ListServiceResponse"),
          member("error_response", 7, "message", "ErrorResponse"),
        ],
      },
      {
        name: "FileDescriptorResponse",
        fields: [{ name: "file_descriptor_proto", number: 1, type: "bytes", repeated: true }],
      },
      {
        name: "ExtensionNumberResponse",
        fields: [
          { name: "base_type_name", number: 1, type: "string" },
          { name: "extension_number", number: 2, type: "int32", repeated: true },
        ],
      },
      {
        name: "ListServiceResponse",
        fields: [{ name: "service", number: 1, type: "message", of: of("ServiceResponse"), repeated: true }],
      },
      { name: "ServiceResponse", fields: [{ name: "name", number: 1, type: "string" }] },
      {
        name: "ErrorResponse",
        fields: [
          { name: "error_code", number: 1, type: "int32" },
          { name: "error_message", number: 2, type: "string" },
        ],
      },
    ],
    [
      service("ServerReflection", [
        {
          name: "ServerReflectionInfo",
          input: of("ServerReflectionRequest"),
          output: of("ServerReflectionResponse"),
          clientStreams: true,
          serverStreams: true,
        },
      ]),
    ],
  );
}

/** Serialized FileDescriptorProtos of health and both versions of reflection. */
export function wellKnownFiles(): Uint8Array[] {
  return [health(), reflection("v1"), reflection("v1alpha")];
}
