import { Store } from "./store.ts";

/** The services of the controllers. The application opens and closes them. */
export const services = {
  store: undefined as unknown as Store,
  token: "",
};

export function openServices(path: string, token: string): void {
  services.store = new Store(path);
  services.token = token;
}
