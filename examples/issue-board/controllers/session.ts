import { Controller, type Problem, problem } from "@tollway/waymark";
import { members, services, visits } from "../services.ts";
import type { User } from "../store.ts";

interface Login {
  /** @maxLength 40 */
  name: string;
  /** @maxLength 200 @format password */
  password: string;
}

/** `/session` */
export class Default extends Controller {
  static override guard = { GET: members.optional, POST: "public", DELETE: members.optional } as const;

  /** The user who is logged in. */
  async GET(): Promise<User | null> {
    return (await members.optional(this)) ?? null;
  }

  /** Logs in. */
  async POST({ name, password }: Login): Promise<User | Problem<403, { code: "WRONG_LOGIN" }>> {
    const { store, passwords } = services();
    const login = store.login(name);
    if (!(await passwords.isRight(password, login?.password)))
      return problem(403, "the name or the password is wrong", { code: "WRONG_LOGIN" });
    const session = await visits.of(this);
    session.renew();
    session.data = { user: login!.user.id };
    return login!.user;
  }

  /** Logs out. */
  async DELETE(): Promise<void> {
    (await visits.of(this)).destroy();
  }
}
