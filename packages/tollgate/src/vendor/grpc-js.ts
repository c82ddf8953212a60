export type { ChannelCredentials, ClientDuplexStream, ServiceError } from "@grpc/grpc-js";
export { Client, connectivityState, credentials, Metadata } from "@grpc/grpc-js";
