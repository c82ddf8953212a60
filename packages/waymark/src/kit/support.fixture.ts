import { Application, type ApplicationOptions, Controller, HttpError } from "@tollway/waymark";
import type { Part } from "../controller/part.ts";

/** Answers of every kind. */
export class Default extends Controller {
  GET(kind = "json") {
    if (kind === "html") {
      this.response.headers.set("content-type", "text/html");
      return "<p>";
    }
    if (kind === "error") throw new HttpError(409, "taken");
    if (kind === "stream") return pieces();
    if (kind === "nothing") return undefined;
    return { kind };
  }
}

async function* pieces() {
  yield "one";
  yield "two";
}

export type Controllers = NonNullable<ApplicationOptions["controllers"]>;

/** An application with parts, for requests without a server. */
export function applicationWith(use: readonly Part[], controllers: Controllers = { Default }): Application {
  return new Application({ controllers, use, log: () => undefined });
}

export function ask(application: Application, path: string, init: RequestInit = {}): Promise<Response> {
  return application.fetch(new Request(new URL(path, "http://localhost"), init));
}
