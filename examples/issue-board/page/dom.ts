/** Makes an element. Children are nodes and texts, never markup, so that no text can become a script. */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  properties: Partial<HTMLElementTagNameMap[Tag]> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

/** A label with its field. */
export function field(name: string, control: HTMLElement, className = ""): HTMLLabelElement {
  return element("label", { className }, name, control);
}

/** An element of the page, by its id. */
export function byId<Kind extends HTMLElement>(id: string, kind: new () => Kind): Kind {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new TypeError(`the page has no ${kind.name} ${id}`);
  return found;
}

/** The content of a form. */
export function valuesOf(form: HTMLFormElement): Record<string, string> {
  return Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value)]));
}
