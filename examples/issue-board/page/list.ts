import { api, attempt, type Issue, type Status } from "./api.ts";
import { byId, element, valuesOf } from "./dom.ts";

/** The list of issues, with its filter. */
export class List {
  readonly #items = byId("issues", HTMLUListElement);
  readonly #filter = byId("filter", HTMLFormElement);
  readonly #more = byId("more", HTMLButtonElement);
  #next: number | null = null;
  #latest = 0;

  constructor() {
    this.#filter.addEventListener("input", () => attempt(() => this.load()));
    this.#filter.addEventListener("submit", (event) => event.preventDefault());
    this.#more.addEventListener("click", () => attempt(() => this.#load(this.#next)));
  }

  /** Loads the first page. */
  load(): Promise<void> {
    return this.#load(null);
  }

  /** Marks the issue that is shown. */
  mark(id: number | undefined): void {
    for (const link of this.#items.querySelectorAll("a")) {
      if (link.hash === `#${id}`) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  }

  async #load(before: number | null): Promise<void> {
    const { q = "", status = "" } = valuesOf(this.#filter);
    const asked = ++this.#latest;
    const { items, next } = await api.issues.GET({
      ...(q !== "" && { q }),
      ...(status !== "" && { status: status as Status }),
      ...(before !== null && { before }),
    });
    // A slow answer must not replace the one of a later question.
    if (asked !== this.#latest) return;
    const rows = items.map(row);
    if (before === null) this.#items.replaceChildren(...rows);
    else this.#items.append(...rows);
    this.#next = next;
    this.#more.hidden = next === null;
    this.mark(Number(location.hash.slice(1)) || undefined);
  }
}

function row({ id, title, status, labels, assignee }: Issue): HTMLLIElement {
  const details = [`#${id}`, status, ...labels, ...(assignee === null ? [] : [`for ${assignee.name}`])];
  const link = element(
    "a",
    { href: `#${id}` },
    title,
    element("br"),
    element("small", {}, details.join(" · ")),
  );
  return element("li", {}, link);
}
