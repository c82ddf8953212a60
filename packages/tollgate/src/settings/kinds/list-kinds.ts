import { type Kind, Refusal, unmasked } from "./kinds.ts";
import { Secret } from "./secret.ts";

/** Items separated by commas. White space around items is ignored. */
export const list: Kind<readonly string[]> = {
  label: "list",
  read: readItems,
  show: (items) => items.join(","),
  mask: unmasked,
};

function readItems(value: string): readonly string[] {
  const items = value.split(",").map((item) => item.trim());
  if (items.includes(""))
    throw new Refusal("must be a list of items separated by commas, without empty items");
  return items;
}

/** Names and values in the given order. */
export type Pairs<T> = readonly (readonly [name: string, value: T])[];

/** `k1:v1,k2:v2`. Each pair may be in angle brackets, as in the manual of the Go service. */
export const pairs: Kind<Pairs<string>> = {
  label: "k1:v1,k2:v2",
  read: (value) => readPairs(value, ":"),
  show: (value) => value.map(([name, item]) => `${name}:${item}`).join(","),
  mask: unmasked,
};

/** `k1=v1,k2=v2` */
export const assignments: Kind<Pairs<string>> = {
  label: "k1=v1,k2=v2",
  read: (value) => readPairs(value, "="),
  show: (value) => value.map(([name, item]) => `${name}=${item}`).join(","),
  mask: unmasked,
};

/** `k1:v1,k2:v2` with credentials as values. */
export const secretPairs: Kind<Pairs<Secret>> = {
  label: "k1:v1,k2:v2",
  read: (value) => readPairs(value, ":").map(([name, item]) => [name, new Secret(item)] as const),
  show: (value) => value.map(([name, item]) => `${name}:${item}`).join(","),
  mask: () => "[hidden]",
};

function readPairs(value: string, separator: ":" | "="): Pairs<string> {
  const found: [string, string][] = [];
  for (const item of value.split(",")) {
    const bare = item.trim().replace(/^<(.*)>$/, "$1");
    const at = bare.indexOf(separator);
    if (at <= 0) throw new Refusal(`must be a list like k1${separator}v1,k2${separator}v2`);
    const name = bare.slice(0, at).trim();
    if (found.some(([known]) => known === name)) throw new Refusal(`must contain ${name} only once`);
    found.push([name, bare.slice(at + 1).trim()]);
  }
  return found;
}
