/** The parts of the kit that the suite asks on every runtime. */
import {
  basic,
  bearer,
  encryptedCookie,
  requestId,
  sameSecret,
  sessions,
  signedCookie,
} from "@tollway/waymark/kit";
import { jwt } from "@tollway/waymark/kit/jwt";
import { telemetry } from "@tollway/waymark/kit/telemetry";

const secret = "a secret of the suite, which is 32 characters long";

export const ids = requestId({ trust: true });
export const visits = sessions<{ user: string }>({ secret });
export const users = bearer({
  verify: async (token) => (await sameSecret(token, "ann-s-token")) && { name: "ann" },
});
export const people = basic({
  realm: "own",
  verify: (name, password) => password === `${name}-s-word` && { name },
});
export const tokens = jwt({ algorithms: ["HS256"], key: secret, audience: "suite" });
export const cart = encryptedCookie<number[]>("cart", { secret });
export const seen = signedCookie<string>("seen", { secret });
export const spans = telemetry();
