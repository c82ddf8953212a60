import { sessions } from "@tollway/waymark/kit";
import { openStore, PASSWORD_ROUNDS, SHARES_WAITING, setting } from "#platform";
import { Changes } from "./changes.ts";
import { Passwords } from "./passwords.ts";
import type { Store } from "./store.ts";

interface Services {
  readonly store: Store;
  readonly changes: Changes;
  readonly passwords: Passwords;
  readonly secret: string;
}

let open: Services | undefined;

/** The services of the controllers. The application opens and closes them. */
export function services(): Services {
  if (open === undefined) throw new Error("the application has not started");
  return open;
}

export function openServices(): void {
  const secret = setting("BOARD_SECRET");
  if (secret === undefined || secret.length < 32)
    throw new Error("set BOARD_SECRET to the output of: openssl rand -base64 32");
  const store = openStore();
  const rounds = Number(setting("BOARD_PASSWORD_ROUNDS") ?? PASSWORD_ROUNDS);
  open = { store, changes: new Changes(store, SHARES_WAITING), passwords: new Passwords(rounds), secret };
}

export function closeServices(): void {
  open?.store.close();
  open = undefined;
}

interface Visit {
  /** The id of a user. */
  user: number;
}

const WEEK = 7 * 24 * 60 * 60;

/** Who is logged in, in an encrypted cookie. */
export const visits = sessions<Visit>({ secret: () => services().secret, maxAge: WEEK });

/** The user of a request, or a 401. */
export const members = visits.users(({ user }) => user !== undefined && services().store.user(user));
