import { api, attempt, type User } from "./api.ts";
import { byId, element, field, valuesOf } from "./dom.ts";

/** Shows who is logged in, or a form. Calls back with the user at the start and after each change. */
export async function showSession(onUser: (user: User | undefined) => void): Promise<void> {
  const place = byId("session", HTMLElement);
  const show = (user: User | undefined) => {
    place.replaceChildren(...(user === undefined ? [loginForm(show)] : [greeting(user, show)]));
    onUser(user);
  };
  show((await api.session.GET()) ?? undefined);
}

function greeting({ name }: User, show: (user: undefined) => void): HTMLElement {
  const leave = element("button", { type: "button", textContent: "Log out" });
  leave.addEventListener("click", () =>
    attempt(async () => {
      await api.session.DELETE();
      show(undefined);
    }),
  );
  return element("p", {}, `${name} `, leave);
}

function loginForm(show: (user: User) => void): HTMLFormElement {
  const name = element("input", { name: "name", required: true, maxLength: 40, autocomplete: "username" });
  const password = element("input", {
    name: "password",
    type: "password",
    required: true,
    minLength: 8,
    maxLength: 200,
    autocomplete: "current-password",
  });
  const signUp = element("button", { value: "sign-up", textContent: "Sign up" });
  const logIn = element("button", { value: "log-in", textContent: "Log in" });
  const form = element("form", {}, field("Name", name), field("Password", password), logIn, signUp);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const isNew = event.submitter === signUp;
    const login = valuesOf(form) as { name: string; password: string };
    void attempt(async () => show(await (isNew ? api.users.POST(login) : api.session.POST(login))));
  });
  return form;
}
