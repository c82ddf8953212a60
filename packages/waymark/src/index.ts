/** The entry `@tollway/waymark` of Node. `web.ts` is that of runtimes without `node:` modules. */
export { NodeApplication as Application } from "./application/node/node-application.ts";
export type {
  ApplicationOptions,
  ControllerTable,
  ErrorContext,
  OpenApiOptions,
} from "./application/options.ts";
export type { TestAnswer, TestClient, TestOptions, TestSend, TestValue } from "./application/test-client.ts";
export type { VersionsOptions } from "./application/versions.ts";
export type { ControllerClass, Guard, Guards, SecurityScheme } from "./controller/controller.ts";
export { Controller } from "./controller/controller.ts";
export type { Exchange } from "./controller/exchange.ts";
export type { Next, Part } from "./controller/part.ts";
export type { Answer, StreamBody } from "./http/answer.ts";
export type { AnswerHeaders } from "./http/answer-headers.ts";
export type { Keywords, ResponseState } from "./http/call.ts";
export type { CorsOptions } from "./http/cors.ts";
export type { RequestHeaders } from "./http/headers.ts";
export type { HttpErrorOptions, Problem, RequestFault } from "./http/http-error.ts";
export { HttpError, problem } from "./http/http-error.ts";
export type { Incoming } from "./http/incoming.ts";
export type { JsonLimits } from "./http/parse-json.ts";
export { parseJson } from "./http/parse-json.ts";
export type { TrustProxy } from "./http/proxy.ts";
export type { ServerSentEventFields } from "./http/server-sent-event.ts";
export { ServerSentEvent } from "./http/server-sent-event.ts";
export type { CookieOptions } from "./http/set-cookie.ts";
export type { Manifest, ManifestFile, ManifestModule, ManifestPackage } from "./routing/manifest.ts";
export type { AsgiApplication } from "./serve/asgi/asgi-types.ts";
export type { ServerLimits } from "./serve/server-limits.ts";
export type { WsgiApplication } from "./serve/wsgi/wsgi-types.ts";
