import { openStore, readToken } from "#platform";
import type { Store } from "./store.ts";

/** The services of the controllers. The application opens and closes them. */
export const services = {
  store: undefined as unknown as Store,
  token: "",
};

export function openServices(): void {
  services.store = openStore();
  services.token = readToken();
}
