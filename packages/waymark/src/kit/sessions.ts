import type { Controller } from "../controller/controller.ts";
import { type Exchange, Slot } from "../controller/exchange.ts";
import type { Part } from "../controller/part.ts";
import { type CookieOptions, deleteCookieHeader, setCookieHeader } from "../http/set-cookie.ts";
import { expiringBox } from "./cookies.ts";
import { type Authenticator, authenticator, userOf, type Verdict } from "./credentials.ts";
import { encryption, type Secrets, toText } from "./sealing.ts";

/** The session of one request. What changes in `data` is saved with the answer. */
export interface Session<Data extends object> {
  /** Plain JSON. Empty for a new session. */
  data: Partial<Data>;
  /** True if the request brought no valid session. */
  readonly isNew: boolean;
  /** Gives the session a new identity. Call it when somebody logs in, so that nobody can plant a session before. */
  renew(): void;
  /** Ends the session: deletes the cookie, and the data of a store. */
  destroy(): void;
}

/** Keeps sessions on the server. Each `get` resolves with what the last `set` of that id was given. */
export interface SessionStore {
  /** The text that was kept under an id, or undefined if there is none or its time is over. */
  get(id: string): Promise<string | undefined> | string | undefined;
  /** Keeps a text for a time in seconds. */
  set(id: string, text: string, maxAge: number): unknown;
  /** Forgets an id. An unknown id is no error. */
  delete(id: string): unknown;
}

/** Options of {@link sessions}. */
export interface SessionOptions {
  /** A random text of at least 32 characters. With several, the first one seals, and all of them open. */
  readonly secret: Secrets;
  /** Default `session`. */
  readonly cookie?: string;
  /** Seconds without a request after which a session ends. Default one day. */
  readonly maxAge?: number;
  /** Seconds after which a session ends in any case. Default 30 days. */
  readonly lifetime?: number;
  /** Default: the encrypted cookie itself keeps the data, up to about 2,500 characters. */
  readonly store?: SessionStore;
  /** Attributes of the cookie. Default: for scripts invisible, `SameSite=Lax`, over HTTPS `Secure`. */
  readonly attributes?: Omit<CookieOptions, "maxAge" | "expires">;
}

/** The part that {@link sessions} returns. */
export interface Sessions<Data extends object> extends Part {
  /** The session of a request. Reads it once. */
  of(controller: Controller): Promise<Session<Data>>;
  /** An authenticator: the user of the session's data. Undefined, null or false: nobody is logged in. */
  users<User>(
    find: (data: Partial<Data>, controller: Controller) => Verdict<User> | Promise<Verdict<User>>,
  ): Authenticator<Exclude<User, undefined | null | false>>;
}

/** The content of the cookie: the id for a store or the data, and the times in seconds. */
interface Kept<Data> {
  readonly id?: string;
  readonly data?: Data;
  readonly created: number;
  readonly saved: number;
}

interface State<Data extends object> extends Session<Data> {
  /** The data as read, to see whether it has changed. */
  readonly before: string;
  readonly kept: Kept<Partial<Data>> | undefined;
  fate: "keep" | "renew" | "destroy";
}

/**
 * Sessions in an encrypted cookie, or in a store. Belongs into `use`, and saves with the answer.
 * @example
 * ```ts
 * import { Application, Controller } from "@tollway/waymark";
 * import { sessions } from "@tollway/waymark/kit";
 *
 * const visits = sessions<{ user: string }>({ secret: process.env.SECRET! });
 *
 * class Login extends Controller {
 *   async POST({ user }: { user: string }) {
 *     const session = await visits.of(this);
 *     session.renew();
 *     session.data.user = user;
 *   }
 * }
 *
 * export const application = new Application({ controllers: { Login }, use: [visits] });
 * ```
 */
export function sessions<Data extends object>(options: SessionOptions): Sessions<Data> {
  const { cookie = "session", maxAge = 86_400, lifetime = 30 * 86_400, store, attributes = {} } = options;
  for (const [name, seconds] of Object.entries({ maxAge, lifetime }))
    if (!Number.isInteger(seconds) || seconds <= 0)
      throw new TypeError(`${name} must be a number of seconds above 0, not ${seconds}`);
  const box = expiringBox<Kept<Partial<Data>>>(cookie, encryption(options.secret));
  const states = new Slot<Promise<State<Data>>>();
  let isUsed = false;

  async function load(controller: Controller): Promise<State<Data>> {
    const sent = controller.cookies[cookie];
    const kept = sent === undefined ? undefined : await box.open(sent);
    if (kept === undefined || kept.created + lifetime <= seconds()) return stateOf<Data>("{}", undefined);
    if (store === undefined) return stateOf<Data>(JSON.stringify(kept.data), kept);
    const text = await store.get(kept.id!);
    return text === undefined ? stateOf<Data>("{}", undefined) : stateOf<Data>(text, kept);
  }

  async function save(exchange: Exchange, state: State<Data>): Promise<void> {
    const { kept, fate } = state;
    const isSecure = exchange.scheme === "https";
    if (fate === "destroy") {
      if (kept?.id !== undefined) await store?.delete(kept.id);
      const isSent = exchange.header("cookie")?.includes(`${cookie}=`) === true;
      if (isSent) exchange.headers.append("set-cookie", deleteCookieHeader(cookie, attributes, isSecure));
      return;
    }
    const text = JSON.stringify(state.data);
    const now = seconds();
    // An unchanged session is saved again only from time to time, so that most answers set no cookie.
    const isStale = kept !== undefined && kept.saved + maxAge / 10 < now;
    if (fate === "keep" && text === state.before && !isStale) return;
    const created = fate === "renew" ? now : (kept?.created ?? now);
    const left = Math.min(maxAge, created + lifetime - now);
    let content: Pick<Kept<Partial<Data>>, "id" | "data">;
    if (store === undefined) content = { data: state.data };
    else {
      const isSame = fate === "keep" && kept?.id !== undefined;
      const id = isSame ? kept.id! : toText(crypto.getRandomValues(new Uint8Array(32)));
      if (!isSame && kept?.id !== undefined) await store.delete(kept.id);
      await store.set(id, text, left);
      content = { id };
    }
    const sealed = await box.seal({ ...content, created, saved: now }, left);
    exchange.headers.append(
      "set-cookie",
      setCookieHeader(cookie, sealed, { ...attributes, maxAge: left }, isSecure),
    );
  }

  const sessionsOfRequests: Sessions<Data> = {
    users: (find) =>
      authenticator({
        challenge: `Cookie cookie-name="${cookie}"`,
        securityScheme: { type: "apiKey", in: "cookie", name: cookie },
        async read(controller) {
          const { data } = await sessionsOfRequests.of(controller);
          return userOf(await find(data, controller));
        },
      }),
    of(controller) {
      if (!isUsed)
        throw new TypeError(
          "the application does not save sessions: add the result of sessions() to its option use",
        );
      const state = states.get(controller) ?? load(controller);
      states.set(controller, state);
      return state;
    },
    onRequest() {
      isUsed = true;
    },
    onAnswer(exchange) {
      const state = states.get(exchange);
      return state?.then((loaded) => save(exchange, loaded));
    },
  };
  return sessionsOfRequests;
}

function stateOf<Data extends object>(before: string, kept: Kept<Partial<Data>> | undefined): State<Data> {
  return {
    data: JSON.parse(before) as Partial<Data>,
    isNew: kept === undefined,
    before,
    kept,
    fate: "keep",
    renew() {
      if (this.fate === "keep") this.fate = "renew";
    },
    destroy() {
      this.fate = "destroy";
      this.data = {};
    },
  };
}

function seconds(): number {
  return Math.floor(Date.now() / 1000);
}

/**
 * Keeps sessions in this process: for tests, and for one process that may forget them. The oldest ones make room.
 * @example
 * ```ts
 * import { memoryStore, sessions } from "@tollway/waymark/kit";
 *
 * export const visits = sessions<{ user: string }>({ secret: process.env.SECRET!, store: memoryStore() });
 * ```
 */
export function memoryStore(limit = 10_000): SessionStore {
  const kept = new Map<string, { text: string; until: number }>();
  return {
    get(id) {
      const found = kept.get(id);
      if (found === undefined) return undefined;
      if (found.until > performance.now()) return found.text;
      kept.delete(id);
      return undefined;
    },
    set(id, text, maxAge) {
      kept.delete(id);
      kept.set(id, { text, until: performance.now() + maxAge * 1000 });
      if (kept.size > limit) kept.delete(kept.keys().next().value!);
    },
    delete(id) {
      kept.delete(id);
    },
  };
}
