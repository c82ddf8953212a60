import type { TupleItem, TypeNode } from "../model/signature.ts";
import { isTemporal } from "../model/temporal.ts";
import type { Asked } from "../source/asked.ts";
import { isBrand } from "../source/brands.ts";
import { intersectionOf, literal, OBJECT, splitUndefined, UNKNOWN, unionOf } from "../source/combine.ts";
import type { TypeReader } from "../source/type-reader.ts";
import { CheckedObjects } from "./checked-objects.ts";
import { mappingPattern, templatePattern } from "./template-pattern.ts";
import type { CheckedType, ObjectView, TypeProgram, TypeView } from "./type-view.ts";

const LIBRARY_SCALARS: ReadonlyMap<string, "date" | "url" | "file" | "blob" | "bytes"> = new Map([
  ["Date", "date"],
  ["URL", "url"],
  ["File", "file"],
  ["Blob", "blob"],
  ["Uint8Array", "bytes"],
]);

/** Translates a type of the compiler. Fails for a type that a request cannot carry. */
export class CheckedTypeReader {
  readonly #program: TypeProgram;
  readonly #reader: TypeReader;
  readonly objects: CheckedObjects;

  readonly #maximumParts: number;
  #parts = 0;

  constructor(program: TypeProgram, reader: TypeReader, maximumParts = Number.POSITIVE_INFINITY) {
    this.#program = program;
    this.#reader = reader;
    this.#maximumParts = maximumParts;
    this.objects = new CheckedObjects(program, reader, this);
  }

  read(type: CheckedType, asked: Asked): TypeNode {
    return this.#reader.bounded(asked.node, asked.scope, () => this.#read(type, asked));
  }

  #read(type: CheckedType, asked: Asked): TypeNode {
    if (++this.#parts > this.#maximumParts) return this.fail(type, asked, "it has too many parts");
    const view = this.#program.view(type);
    switch (view.kind) {
      case "string":
      case "number":
      case "bigint":
      case "boolean":
      case "null":
      case "undefined":
      case "unknown":
      case "never":
        return { kind: view.kind };
      case "object keyword":
        return OBJECT;
      case "literal":
        return literal(view.value);
      case "template":
        return this.#pattern(templatePattern(view.texts, view.types, this.#program), type, asked);
      case "mapping":
        return this.#pattern(mappingPattern(view.name, view.type, this.#program), type, asked);
      case "union":
        return this.#named(type, undefined, asked, () => this.#union(view.members, asked));
      case "intersection":
        return this.#named(type, undefined, asked, () => this.#intersection(type, view.members, asked));
      case "array":
        return this.#named(type, undefined, asked, () => ({
          kind: "array",
          items: this.read(view.items, asked),
        }));
      case "tuple":
        return this.#named(type, undefined, asked, () => this.#tuple(view, type, asked));
      case "library":
        return this.#library(view.name, type, asked);
      case "object":
        return this.#named(type, view.name, asked, () => this.objects.read(view, type, asked));
      case "parameter":
        return this.#parameter(view, type, asked);
      case "error":
        return this.fail(type, asked, "the compiler cannot resolve it: run `npx tsc --noEmit`");
      default:
        return this.fail(type, asked, `it is ${view.what}`);
    }
  }

  #named(
    type: CheckedType,
    name: string | undefined,
    { node, scope }: Asked,
    read: () => TypeNode,
  ): TypeNode {
    return this.#reader.named({ key: `checked ${type.id}`, name: name ?? "Type", node, scope }, read);
  }

  fail(type: CheckedType, { node, scope }: Asked, reason: string): never {
    const text = this.#program.text(type);
    const shown = text.length > 60 ? `${text.slice(0, 57)}...` : text;
    const own = scope.module.source.slice(node).replace(/\s+/g, " ");
    return this.#reader.fail(node, scope, own === shown ? reason : `\`${shown}\`: ${reason}`);
  }

  #pattern(pattern: string | undefined, type: CheckedType, asked: Asked): TypeNode {
    if (pattern === undefined)
      return this.fail(type, asked, "its parts have no pattern (use a JSDoc `@pattern` on string)");
    return { kind: "string", refinements: { pattern }, isTemplate: true };
  }

  #union(members: readonly CheckedType[], asked: Asked): TypeNode {
    return unionOf(members.map((member) => this.read(member, asked)));
  }

  #intersection(type: CheckedType, members: readonly CheckedType[], asked: Asked): TypeNode {
    const views = members.map((member) => this.#program.view(member));
    const objects = views.filter((view) => view.kind === "object");
    const code = objects.find((view) => view.isCode || view.isClass);
    if (code) return this.objects.read(code, type, asked);
    const isObject = (view: TypeView) => view.kind === "object" || view.kind === "object keyword";
    if (!views.every(isObject)) {
      if (!objects.every(isBrandView)) {
        return this.fail(
          type,
          asked,
          "its object part is not a brand, so no value of a request fits it (the name of a brand is a symbol, `brand` or `tag`, or begins with _ or $)",
        );
      }
    } else if (objects.every((view) => view.indexes.length === 0)) {
      return this.objects.readMerged(objects, type, asked);
    }
    const data = members.filter((_, index) => views.every(isObject) || !isObject(views[index]!));
    const combined = intersectionOf(data.map((member) => this.read(member, asked)));
    return combined ?? this.fail(type, asked, "Waymark cannot combine its parts");
  }

  #tuple({ items }: Extract<TypeView, { kind: "tuple" }>, type: CheckedType, asked: Asked): TypeNode {
    const read: TupleItem[] = [];
    let rest: TypeNode | undefined;
    for (const item of items) {
      if (item.kind === "variadic") return this.fail(type, asked, "its length is open");
      if (rest) return this.fail(type, asked, "nothing may follow the rest of a tuple");
      if (item.kind === "rest") {
        rest = this.read(item.type, asked);
      } else {
        const optional = item.kind === "optional";
        const own = this.read(item.type, asked);
        read.push({ type: optional ? splitUndefined(own).type : own, optional });
      }
    }
    return { kind: "tuple", items: read, ...(rest && { rest }) };
  }

  #library(name: string, type: CheckedType, asked: Asked): TypeNode {
    const scalar = LIBRARY_SCALARS.get(name);
    if (scalar) return { kind: scalar };
    const temporal = name.startsWith("Temporal.") ? name.slice("Temporal.".length) : "";
    if (isTemporal(temporal)) return { kind: "temporal", type: temporal };
    return this.fail(type, asked, `a request cannot carry a ${name}`);
  }

  #parameter(
    { name, constraint }: Extract<TypeView, { kind: "parameter" }>,
    type: CheckedType,
    asked: Asked,
  ): TypeNode {
    if (this.#reader.methodScope.types.get(name)?.kind !== "parameter")
      return this.fail(
        type,
        asked,
        "it is a type parameter of a class or function, and this class gives it no type",
      );
    return constraint ? this.read(constraint, asked) : UNKNOWN;
  }
}

function isBrandView({ properties, indexes }: ObjectView): boolean {
  const names = properties.map(({ name }) => name).filter((name) => !name.startsWith("__@"));
  return indexes.length === 0 && isBrand(names);
}
