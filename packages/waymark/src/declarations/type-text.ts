import type { ObjectNode, TypeNode } from "../signature/model/signature.ts";

/** A property name as TypeScript writes it. */
export function propertyKey(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
}

const NAMES: { readonly [kind: string]: string | undefined } = {
  date: "Date",
  url: "URL",
  file: "File",
  blob: "Blob",
  bytes: "Uint8Array",
  untyped: "unknown",
  unreadable: "unknown",
  response: "Response",
  // As text, which the server accepts: not every runtime has Temporal.
  temporal: "string",
  nonNull: "{}",
};

/** A type as TypeScript source. `nameOf` gives the name of a type that contains itself. */
export function typeSource(type: TypeNode, nameOf: (reference: string) => string): string {
  const inner = (each: TypeNode) => typeSource(each, nameOf);
  switch (type.kind) {
    case "literal":
      return typeof type.value === "object" ? `${type.value.bigint}n` : JSON.stringify(type.value);
    case "union":
      return type.members.length === 0 ? "never" : type.members.map(inner).join(" | ");
    case "array":
      return `${grouped(type.items, inner)}[]`;
    case "tuple": {
      const items = type.items.map((item) => grouped(item.type, inner) + (item.optional ? "?" : ""));
      if (type.rest !== undefined) items.push(`...${grouped(type.rest, inner)}[]`);
      return `[${items.join(", ")}]`;
    }
    case "object":
      return objectSource(type, inner);
    case "reference":
      return nameOf(type.name);
    case "stream":
      return `AsyncGenerator<${inner(type.items)}>`;
    case "problem":
      return `Problem<${type.status ?? "number"}, ${type.members === undefined ? "{}" : inner(type.members)}>`;
    default:
      return NAMES[type.kind] ?? type.kind;
  }
}

function grouped(type: TypeNode, inner: (type: TypeNode) => string): string {
  return type.kind === "union" ? `(${inner(type)})` : inner(type);
}

function objectSource(
  { properties, index: open, patterns = [] }: ObjectNode,
  inner: (type: TypeNode) => string,
): string {
  const members = properties.map(
    ({ name, optional, type }) => `${propertyKey(name)}${optional ? "?" : ""}: ${inner(type)}`,
  );
  const others = [...(open === undefined ? [] : [open]), ...patterns.map(({ type }) => type)];
  const index: TypeNode | undefined = others.length > 1 ? { kind: "union", members: others } : others[0];
  // A named property may have another type than the index signature.
  const indexed = index === undefined ? undefined : `{ [name: string]: ${inner(index)} }`;
  if (members.length === 0) return indexed ?? "{}";
  const named = `{ ${members.join("; ")} }`;
  return indexed === undefined ? named : `(${named} & ${indexed})`;
}
