import { create, type DescFile, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { file_envoy_service_ratelimit_v3_rls } from "./gen/envoy/service/ratelimit/v3/rls_pb.ts";
import { file_grpc_health_v1_health } from "./gen/grpc/health/v1/health_pb.ts";
import { file_grpc_reflection_v1_reflection } from "./gen/grpc/reflection/v1/reflection_pb.ts";
import { file_grpc_reflection_v1alpha_reflection } from "./gen/grpc/reflection/v1alpha/reflection_pb.ts";

/** One protocol file, as server reflection hands it out. */
export interface FileDescriptor {
  /** Its path as imports name it: `envoy/type/v3/ratelimit_unit.proto`. */
  readonly name: string;
  /** Serialized `google.protobuf.FileDescriptorProto`. */
  readonly bytes: Uint8Array;
  /** Full names of what the file declares: services, their methods, messages and enums, nested ones too. */
  readonly symbols: readonly string[];
  /** Names of the files that it imports. */
  readonly dependencies: readonly string[];
}

const served = [
  file_envoy_service_ratelimit_v3_rls,
  file_grpc_health_v1_health,
  file_grpc_reflection_v1_reflection,
  file_grpc_reflection_v1alpha_reflection,
];

/** The files of every service that the gRPC door serves, and all that they import; each stands after its imports. */
export function fileDescriptors(): FileDescriptor[] {
  return [...filesInOrder()].map((file) => ({
    name: file.proto.name,
    bytes: toBinary(FileDescriptorProtoSchema, file.proto),
    symbols: symbolsOf(file),
    dependencies: [...file.proto.dependency],
  }));
}

function filesInOrder(): Set<DescFile> {
  const found = new Set<DescFile>();
  const add = (file: DescFile): void => {
    if (found.has(file)) return;
    for (const dependency of file.dependencies) add(dependency);
    found.add(file);
  };
  for (const file of served) add(file);
  return found;
}

/** A serialized `google.protobuf.FileDescriptorSet` of {@link fileDescriptors}. */
export function fileDescriptorSet(): Uint8Array {
  const file = [...filesInOrder()].map(({ proto }) => proto);
  return toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, { file }));
}

/** Full names of the services that the gRPC door serves. */
export function serviceNames(): string[] {
  return served.flatMap((file) => file.services.map((service) => service.typeName));
}

function symbolsOf(file: DescFile): string[] {
  const names: string[] = file.enums.map((declared) => declared.typeName);
  const messages = [...file.messages];
  for (const message of messages) {
    names.push(message.typeName, ...message.nestedEnums.map((declared) => declared.typeName));
    messages.push(...message.nestedMessages);
  }
  for (const service of file.services)
    names.push(service.typeName, ...service.methods.map((method) => `${service.typeName}.${method.name}`));
  return names;
}
