import type { Routes } from "../../routing/routes.ts";
import { asgiAdapter } from "../../serve/asgi/asgi-adapter.ts";
import type { AsgiApplication } from "../../serve/asgi/asgi-types.ts";
import { type NodeListener, nodeListener } from "../../serve/node/node-adapter.ts";
import { wsgiAdapter } from "../../serve/wsgi/wsgi-adapter.ts";
import type { WsgiApplication } from "../../serve/wsgi/wsgi-types.ts";
import { Application } from "../application.ts";
import type { ApplicationOptions } from "../options.ts";
import { type TestClient, testClient } from "../test-client.ts";
import { nodePlatform } from "./node-platform.ts";

/**
 * A set of controllers with their options. Reads the controllers from files, and answers requests of `node:http`, WHATWG
 * fetch, ASGI and WSGI.
 * @example
 * ```ts
 * import { Application } from "@tollway/waymark";
 *
 * export const application = new Application({ controllerPrefix: "controllers", openapi: true });
 * const response = await application.fetch(new Request("http://localhost/books/1"));
 * console.log(response.status);
 * ```
 */
export class NodeApplication extends Application {
  #test: TestClient | undefined = undefined;

  constructor(options: ApplicationOptions = {}) {
    super(options, nodePlatform);
  }

  /** Calls this application in tests, without a server: `await application.test.get<Book>("/books/1")`. */
  get test(): TestClient {
    this.#test ??= testClient(this.fetch);
    return this.#test;
  }

  /** A listener for any `node:http` or `node:https` server. */
  readonly listener: NodeListener = nodeListener(this);

  /** The ASGI 3 callable: `(scope, receive, send)`, for `http` and `lifespan`. */
  readonly asgi: AsgiApplication = asgiAdapter(this);

  /** The WSGI callable of PEP 3333: `(environ, startResponse)`, with promises where Python blocks. */
  readonly wsgi: WsgiApplication = wsgiAdapter(this);

  /**
   * Loads the controllers again and serves them from now on. For `waymark --watch`: no hook runs. After an error, the
   * earlier controllers go on serving.
   * @internal
   */
  async reload(): Promise<Routes> {
    const routes = await this.load();
    this.replace(routes);
    return routes;
  }

  /**
   * Like {@link load}. TypeScript's compiler must also agree on the type of every parameter.
   * @internal
   */
  async check(): Promise<Routes> {
    return this.load({ verify: true });
  }

  /**
   * Like {@link load}. TypeScript's compiler also infers the return types that are not written, if it is installed.
   * @internal
   */
  async describe(): Promise<Routes> {
    return this.load({ infer: true });
  }
}
