import type { Controller, SecurityScheme } from "../controller/controller.ts";
import { Slot } from "../controller/exchange.ts";
import { HttpError } from "../http/http-error.ts";

/**
 * Says who sent a request. `await users(this)` is the user, or the answer is a 401. As a guard, `static guard = users`, it
 * runs before the methods of a class, and its scheme is in the OpenAPI document.
 */
export interface Authenticator<User> {
  /** The user of the request. Throws a 401 without valid credentials. Asks only once for each request. */
  (controller: Controller): Promise<User>;
  /** The user, or undefined if the request has no credentials. Throws a 401 for invalid ones. */
  readonly optional: OptionalAuthenticator<User>;
  /** The user that an earlier call or the guard has found. */
  of(controller: Controller): User;
  /** How OpenAPI describes these credentials. */
  readonly securityScheme: SecurityScheme;
}

/** An authenticator that lets a request without credentials through. */
export interface OptionalAuthenticator<User> {
  (controller: Controller): Promise<User | undefined>;
  /** Always true: requests without credentials pass. */
  readonly isOptional: true;
  /** The security scheme for the OpenAPI document. */
  readonly securityScheme: SecurityScheme;
}

/** The application's verdict on credentials: a user, or that they are not valid. */
export type Verdict<User> = User | undefined | null | false;

/** The user of a verdict. */
export function userOf<User>(verdict: Verdict<User>): Exclude<User, undefined | null | false> | undefined {
  return verdict === null || verdict === false
    ? undefined
    : (verdict as Exclude<User, undefined | null | false> | undefined);
}

/** How a scheme finds out who sent a request. */
interface Scheme<User> {
  /** The value of `www-authenticate`, without an error. */
  readonly challenge: string;
  readonly securityScheme: SecurityScheme;
  /** The user, the reason for a 401, or undefined if the request has no credentials. */
  read(controller: Controller): Promise<User | Refusal | undefined>;
}

/** How a scheme reads the header `authorization`. */
interface HeaderScheme<User> {
  /** The name in the header, in lower case. */
  readonly name: string;
  readonly challenge: string;
  readonly securityScheme: SecurityScheme;
  read(credentials: string, controller: Controller): Promise<User | Refusal>;
}

/** The reason for a 401. */
export class Refusal {
  readonly detail: string;
  /** Parameters for `www-authenticate`: `error="invalid_token"`. */
  readonly parameters: string;

  constructor(detail: string, parameters = "") {
    this.detail = detail;
    this.parameters = parameters;
  }
}

/** Longer credentials are no credentials. Bounds the work that a stranger can cause. */
const LONGEST = 8192;

/** An authenticator by the header `authorization`. */
export function headerAuthenticator<User>({
  name,
  read,
  ...scheme
}: HeaderScheme<User>): Authenticator<User> {
  return authenticator({
    ...scheme,
    async read(controller) {
      const header = controller.headers.get("authorization");
      if (header === null) return undefined;
      const [, sent, credentials] =
        /^([!#$%&'*+.^_`|~\w-]+) +(\S.*?)\s*$/.exec(header.slice(0, LONGEST + 1)) ?? [];
      if (sent?.toLowerCase() !== name || credentials === undefined)
        return new Refusal(`credentials of the scheme ${name} are missing`);
      if (header.length > LONGEST) return new Refusal("the credentials are too long");
      return read(credentials, controller);
    },
  });
}

export function authenticator<User>(scheme: Scheme<User>): Authenticator<User> {
  const users = new Slot<{ readonly user: User }>();
  const pending = new Slot<Promise<User | undefined>>();
  const read = async (controller: Controller): Promise<User | undefined> => {
    const user = await scheme.read(controller);
    if (user instanceof Refusal) throw refused(scheme, user);
    if (user !== undefined) users.set(controller, { user });
    return user;
  };
  const either = async (controller: Controller) => {
    const asked = pending.get(controller) ?? read(controller);
    pending.set(controller, asked);
    return asked;
  };
  const authenticate = async (controller: Controller) => {
    const user = await either(controller);
    if (user === undefined) throw refused(scheme, new Refusal("credentials are missing"));
    return user;
  };
  const of = (controller: Controller) => {
    const known = users.get(controller);
    if (known === undefined)
      throw new TypeError(
        "the request is not authenticated: make the authenticator the class's static guard, or await it in before()",
      );
    return known.user;
  };
  const { securityScheme } = scheme;
  const optional = Object.assign(either, { securityScheme, isOptional: true } as const);
  return Object.assign(authenticate, { optional, of, securityScheme });
}

function refused<User>({ challenge }: Scheme<User>, { detail, parameters }: Refusal): HttpError {
  const joined =
    parameters === "" ? challenge : `${challenge}${challenge.includes(" ") ? "," : ""} ${parameters}`;
  return new HttpError(401, detail, { headers: { "www-authenticate": joined, "cache-control": "no-store" } });
}

/** The parameter `realm` of a challenge. */
export function realmOf(realm: string | undefined): string {
  if (realm === undefined) return "";
  if (!/^[\x20\x21\x23-\x5b\x5d-\x7e]*$/.test(realm))
    throw new TypeError(
      `realm must be printable ASCII without quotes and backslashes, not ${JSON.stringify(realm)}`,
    );
  return ` realm="${realm}"`;
}

/**
 * Compares secrets without showing by its time how much of them is equal.
 * @example
 * ```ts
 * import { sameSecret } from "@tollway/waymark/kit";
 *
 * export const isToken = (given: string) => sameSecret(given, process.env.TOKEN!);
 * ```
 */
export async function sameSecret(one: string, other: string): Promise<boolean> {
  const [a, b] = await Promise.all([one, other].map(digest));
  let difference = 0;
  for (let at = 0; at < a!.length; at++) difference |= a![at]! ^ b![at]!;
  return difference === 0;
}

async function digest(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
}
