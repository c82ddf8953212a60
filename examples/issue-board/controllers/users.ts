import { Controller, type Problem, problem } from "@tollway/waymark";
import { services, visits } from "../services.ts";
import type { User } from "../store.ts";

interface SignUp {
  /** @minLength 1 @maxLength 40 @pattern ^[\p{L}\p{N}](?:[ ._\p{L}\p{N}-]*[\p{L}\p{N}])?$ */
  name: string;
  /** @minLength 8 @maxLength 200 @format password */
  password: string;
}

/** `/users` */
export class Default extends Controller {
  /** Everybody to whom an issue can be assigned. */
  GET(): User[] {
    return services().store.users();
  }

  /** Signs up, and logs in. */
  async POST({ name, password }: SignUp): Promise<User | Problem<409, { code: "NAME_TAKEN" }>> {
    const { store, passwords } = services();
    const user = store.addUser(name, await passwords.hash(password));
    if (user === undefined) return problem(409, `somebody is called ${name} already`, { code: "NAME_TAKEN" });
    const session = await visits.of(this);
    session.renew();
    session.data = { user: user.id };
    this.response.status = 201;
    return user;
  }
}
