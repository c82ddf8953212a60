/** The public types of Waymark: correct use compiles, incorrect use does not. */
import {
  type Answer,
  Application,
  type ApplicationOptions,
  Controller,
  type ControllerClass,
  type CorsOptions,
  type ErrorContext,
  HttpError,
  type HttpErrorOptions,
  type Incoming,
  type JsonLimits,
  type OpenApiOptions,
  parseJson,
  type RequestFault,
  type ServerLimits,
} from "@tollway/waymark";
import type { Holds, Same } from "../../../../tools/type-checks.ts";

export type Results = [
  Holds<Same<HttpError["code"], "ERR_HTTP">>,
  Holds<Same<HttpError["detail"], string | undefined>>,
  Holds<Same<Controller["signal"], AbortSignal>>,
  Holds<Same<Controller["request"], Request>>,
  Holds<Same<ReturnType<Controller["bytes"]>, Promise<Uint8Array>>>,
  Holds<Same<ReturnType<Controller["redirect"]>, Response>>,
  Holds<Same<ReturnType<Application["handle"]>, Answer | Promise<Answer>>>,
  Holds<Same<ReturnType<Application["stop"]>, Promise<void>>>,
  Holds<Same<ReturnType<typeof parseJson>, unknown>>,
  Holds<Same<RequestFault["in"], "path" | "query" | "body">>,
];

class Books extends Controller {
  static override bodyLimit = 1024;
  static override unknownKeywords = "ignore" as const;

  override async before(): Promise<Response | undefined> {
    return this.headers.get("authorization") === undefined ? this.redirect("/login", 307) : undefined;
  }
  GET(id: number, options: { verbose?: boolean } = {}): object {
    if (id > 10) throw new HttpError(404, `there is no book ${id}`, { headers: { "retry-after": "1" } });
    this.response.status = 201;
    this.response.headers.set("x-verbose", String(options.verbose));
    return { id };
  }
}

const cors: CorsOptions = { origins: ["https://example.com"] };
const server: ServerLimits = { requestTimeout: 30_000, maxConnections: 100 };
const openapi: OpenApiOptions = { title: "Books", page: false };
const limits: JsonLimits = {};
const problem: HttpErrorOptions = { title: "Conflict", version: 3, cause: new Error("hidden") };

export const options: ApplicationOptions = {
  controllers: { books: { Books } },
  cors,
  server,
  openapi,
  before: (controller) => controller.method,
  after: (response) => response.status,
  onError: (error, controller) => [error, controller?.method],
  log: (error, context: ErrorContext) => void [error, context.target],
};

export async function rightUse(incoming: Incoming, bytes: Uint8Array): Promise<void> {
  const application = new Application(options);
  const response: Response = await application.fetch(new Request("http://localhost/books/1"));
  await application.handle(incoming);
  const value = parseJson(bytes, limits);
  if (HttpError.is(value)) value.status.toFixed();
  const books: ControllerClass = Books;
  void [new HttpError(409, undefined, problem), response, books];
}

export async function wrongUse(controller: Controller, bytes: Uint8Array): Promise<void> {
  // @ts-expect-error: there is no such option
  new Application({ controllerPrefixes: "app" });
  // @ts-expect-error: a limit is a number of bytes
  new Application({ bodyLimit: "1 MiB" });
  // @ts-expect-error: unknown keywords are rejected or ignored
  new Application({ unknownKeywords: "allow" });
  // @ts-expect-error: a hook is a function
  new Application({ before: true });
  // @ts-expect-error: a status is a number
  new HttpError("404");
  // @ts-expect-error: headers are texts
  new HttpError(429, "too many", { headers: { "retry-after": 5 } });
  // @ts-expect-error: 200 is not a redirect
  controller.redirect("/", 200);
  // @ts-expect-error: the method is read-only
  controller.method = "GET";
  // @ts-expect-error: cookies are read-only
  controller.cookies.session = "";
  // @ts-expect-error: a parsed value has no type before it is checked
  parseJson(bytes).name;
  // @ts-expect-error: a member of an unknown value
  const title: string = parseJson(bytes).title;
  void title;
}

/** A class that overrides a member of its base with another type. */
export class Wrong extends Controller {
  // @ts-expect-error: the base has a method of this name
  override after = 1;
}
