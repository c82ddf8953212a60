export type {
  ApplicationOptions,
  ErrorContext,
  OpenApiOptions,
  ServerLimits,
} from "./application/options.ts";
export { Application } from "./application.ts";
export type { ControllerClass } from "./controller.ts";
export { Controller } from "./controller.ts";
export type { Answer } from "./http/answer.ts";
export type { CorsOptions } from "./http/cors.ts";
export type { HttpErrorOptions, RequestFault } from "./http/error.ts";
export { HttpError } from "./http/error.ts";
export type { Incoming } from "./http/incoming.ts";
export type { JsonLimits } from "./http/json.ts";
export { parseJson } from "./http/json.ts";
