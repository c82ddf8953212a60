import { Store } from "./store.ts";

/** What the controllers work with; opened and closed by the application. */
export const services = {
  store: undefined as unknown as Store,
  token: "",
};

export function openServices(path: string, token: string): void {
  services.store = new Store(path);
  services.token = token;
}
