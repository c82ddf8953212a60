/** `@tollway/waymark/client`: calls a Waymark application with the types of its controllers. */
export { client } from "./client/client.ts";
export { ProblemError } from "./client/problem-error.ts";
export type {
  Answer,
  EventData,
  Failure,
  ProblemDetails,
  ReceivedEvent,
  RequestFault,
  Result,
  Success,
} from "./client/types/answers.ts";
export type { Call, Client } from "./client/types/api.ts";
export type { CallOptions, ClientOptions, Fetcher, RetryOptions } from "./client/types/options.ts";
export type { PropertyOfClass } from "./client/types/segment.ts";
export type { DatePlan, MethodEntry, RouteTable, Table } from "./client/types/table.ts";
export type { Wire } from "./client/types/wire.ts";
