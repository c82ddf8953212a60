/** The public types of `@tollway/tollgate/limits`: correct use compiles, incorrect use does not. */
import {
  type Caller,
  createLimits,
  type Descriptors,
  type DescriptorValues,
  type Limits,
  type LimitsOptions,
} from "@tollway/tollgate/limits";
import { Controller } from "@tollway/waymark";
import type { Holds, Same } from "../../../../tools/type-checks.ts";

export type Results = [
  Holds<Same<ReturnType<typeof createLimits>, Limits>>,
  Holds<Same<ReturnType<Limits["check"]>, Promise<void>>>,
  Holds<Controller extends Caller ? true : false>,
];

const options: LimitsOptions = {
  domain: "shop",
  address: "unix:/run/tollgate.sock",
  failure: "closed",
  tls: {},
};
const values: DescriptorValues = { user: undefined, plan: "free", tries: 3, trusted: false };

export class Orders extends Controller {
  readonly #limits = createLimits(options);

  async POST(user: string): Promise<void> {
    const both: Descriptors = [values, { user }];
    await this.#limits.check(this, both, 2);
    await this.#limits.check({ response: { headers: new Headers() } }, { user });
    this.#limits.close();
  }
}

export function wrongUse(limits: Limits, caller: Caller): void {
  // @ts-expect-error: the domain is required
  createLimits({});
  // @ts-expect-error: a failure is open or closed
  createLimits({ domain: "shop", failure: "half" });
  // @ts-expect-error: the timeout is a number of milliseconds
  createLimits({ domain: "shop", timeout: "250ms" });
  // @ts-expect-error: a descriptor has values, not lists
  void limits.check(caller, { user: ["a", "b"] });
  // @ts-expect-error: the caller has a response
  void limits.check({}, { user: "a" });
  // @ts-expect-error: hits are a number
  void limits.check(caller, { user: "a" }, "2");
}
