import type { Node } from "oxc-parser";
import type { IndexPattern, ObjectNode, TupleItem, TypeNode } from "../model/signature.ts";
import { isTemporal } from "../model/temporal.ts";
import { isBrand } from "../source/brands.ts";
import { intersectionOf, literal, NON_NULL, splitUndefined, UNKNOWN, unionOf } from "../source/combine.ts";
import { documentationOf } from "../source/documentation.ts";
import { readDocComment } from "../source/jsdoc.ts";
import type { Scope } from "../source/scope.ts";
import type { TypeReader } from "../source/type-reader.ts";
import { mappingPattern, templatePattern } from "./template-pattern.ts";
import type { CheckedType, PropertyView, TypeProgram, TypeView } from "./type-view.ts";

/** The node for which the compiler was asked. Errors name its place. */
export interface Asked {
  readonly node: Node;
  readonly scope: Scope;
}

const isPackage = (file: string): boolean => /[\\/]node_modules[\\/]/.test(file);

const LIBRARY_SCALARS: ReadonlyMap<string, "date" | "url" | "file" | "blob" | "bytes"> = new Map([
  ["Date", "date"],
  ["URL", "url"],
  ["File", "file"],
  ["Blob", "blob"],
  ["Uint8Array", "bytes"],
]);

/** Integers in the notation of a property name. */
const INTEGER_NAME = "^(?:0|-?[1-9][0-9]{0,14})$";

/** Translates a type of the compiler. Fails for a type that a request cannot carry. */
export class CheckedTypeReader {
  readonly #program: TypeProgram;
  readonly #reader: TypeReader;
  /** The program's own files that declare a part of the type. */
  readonly files = new Set<string>();

  constructor(program: TypeProgram, reader: TypeReader) {
    this.#program = program;
    this.#reader = reader;
  }

  read(type: CheckedType, asked: Asked): TypeNode {
    return this.#reader.bounded(asked.node, asked.scope, () => this.#read(type, asked));
  }

  #read(type: CheckedType, asked: Asked): TypeNode {
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
        return { kind: "object", properties: [], index: UNKNOWN };
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
        return this.#named(type, view.name, asked, () => this.#object(view, type, asked));
      case "parameter":
        return this.#parameter(view, type, asked);
      case "error":
        return this.#fail(type, asked, "the compiler cannot resolve it: run `npx tsc --noEmit`");
      default:
        return this.#fail(type, asked, `it is ${view.what}`);
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

  #fail(type: CheckedType, { node, scope }: Asked, reason: string): never {
    const text = this.#program.text(type);
    const shown = text.length > 60 ? `${text.slice(0, 57)}...` : text;
    const own = scope.module.source.slice(node).replace(/\s+/g, " ");
    return this.#reader.fail(node, scope, own === shown ? reason : `\`${shown}\`: ${reason}`);
  }

  #pattern(pattern: string | undefined, type: CheckedType, asked: Asked): TypeNode {
    if (pattern === undefined)
      return this.#fail(type, asked, "its parts have no pattern (use a JSDoc `@pattern` on string)");
    return { kind: "string", refinements: { pattern } };
  }

  #union(members: readonly CheckedType[], asked: Asked): TypeNode {
    return unionOf(members.map((member) => this.read(member, asked)));
  }

  #intersection(type: CheckedType, members: readonly CheckedType[], asked: Asked): TypeNode {
    const views = members.map((member) => this.#program.view(member));
    const isObject = (view: TypeView) => view.kind === "object" || view.kind === "object keyword";
    const isOpen = (view: TypeView) => view.kind === "object" && view.indexes.length > 0;
    if (views.every(isObject) && !views.some(isOpen))
      return this.#object(this.#program.merged(type), type, asked);
    const brands = views.filter((view) => view.kind === "object");
    const read = members.filter((_, index) => views.every(isObject) || !isObject(views[index]!));
    const combined = intersectionOf(read.map((member) => this.read(member, asked)));
    if (!combined) return this.#fail(type, asked, "Waymark cannot combine its parts");
    const isPlain = views.every(isObject) || brands.every((view) => isBrandOf(combined, view));
    return isPlain
      ? combined
      : this.#fail(type, asked, "it is a condition on a list or a text, and no brand");
  }

  #tuple({ items }: Extract<TypeView, { kind: "tuple" }>, type: CheckedType, asked: Asked): TypeNode {
    const read: TupleItem[] = [];
    let rest: TypeNode | undefined;
    for (const item of items) {
      if (item.kind === "variadic") return this.#fail(type, asked, "its length is open");
      if (rest) return this.#fail(type, asked, "nothing may follow the rest of a tuple");
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
    return this.#fail(type, asked, `a request cannot carry a ${name}`);
  }

  #parameter(
    { name, constraint }: Extract<TypeView, { kind: "parameter" }>,
    type: CheckedType,
    asked: Asked,
  ): TypeNode {
    if (this.#reader.methodScope.types.get(name)?.kind !== "parameter")
      return this.#fail(
        type,
        asked,
        "it is a type parameter of a class or function, and this class gives it no type",
      );
    return constraint ? this.read(constraint, asked) : UNKNOWN;
  }

  #object(view: Extract<TypeView, { kind: "object" }>, type: CheckedType, asked: Asked): TypeNode {
    if (view.isCode) return this.#fail(type, asked, "a request cannot carry a function");
    if (view.isClass)
      return this.#fail(
        type,
        asked,
        "it is a class; a request carries plain data, so write an interface or a type",
      );
    // a symbol is a brand, which exists only for the compiler
    const data = view.properties.filter(({ name }) => !name.startsWith("__@"));
    const foreign = data.find(({ isLibrary }) => isLibrary);
    if (foreign)
      return this.#fail(
        type,
        asked,
        `it has the property ${foreign.name} of TypeScript's own library (a mapped type splits a Date or a list into its methods)`,
      );
    const properties = data.map((property) => this.#property(property, asked));
    const index = this.#indexes(view, type, asked);
    if (properties.length === 0 && !index.index && !index.patterns)
      return view.properties.length > 0
        ? this.#fail(type, asked, "a request cannot carry a symbol")
        : NON_NULL;
    return { kind: "object", ...(view.name && { name: view.name }), properties, ...index };
  }

  #property(property: PropertyView, asked: Asked): ObjectNode["properties"][number] {
    const { type, optional } = splitUndefined(this.read(property.type, asked));
    let refined = type;
    const docs = property.declarations.flatMap(({ file, start }) => {
      if (!isPackage(file)) this.files.add(file);
      const module = this.#reader.modules.read(file);
      const doc = readDocComment(module, start);
      refined = this.#reader.refine(refined, doc.refinements, module);
      return [doc];
    });
    return {
      name: property.name,
      type: refined,
      optional: property.optional || optional,
      ...documentationOf(docs),
    };
  }

  #indexes(
    { indexes }: Extract<TypeView, { kind: "object" }>,
    type: CheckedType,
    asked: Asked,
  ): { readonly index?: TypeNode; readonly patterns?: readonly IndexPattern[] } {
    let index: TypeNode | undefined;
    const patterns: IndexPattern[] = [];
    for (const { key, value } of indexes) {
      const view = this.#program.view(key);
      if (view.kind === "other") continue; // symbols are no names of a request
      const own = splitUndefined(this.read(value, asked)).type;
      if (view.kind === "string") index = own;
      else if (view.kind === "number") patterns.push({ pattern: INTEGER_NAME, type: own });
      else {
        const pattern =
          view.kind === "template" ? templatePattern(view.texts, view.types, this.#program) : undefined;
        if (pattern === undefined) return this.#fail(type, asked, "its names have no pattern");
        patterns.push({ pattern, type: own });
      }
    }
    const all = new Set(
      [...patterns.map((one) => one.type), ...(index ? [index] : [])].map((one) => JSON.stringify(one)),
    );
    if (all.size > 1) return this.#fail(type, asked, "several of its index signatures may apply to one name");
    return index ? { index } : patterns.length > 0 ? { patterns } : {};
  }
}

function isBrandOf(type: TypeNode, { properties, indexes }: Extract<TypeView, { kind: "object" }>): boolean {
  const names = properties.map(({ name }) => name).filter((name) => !name.startsWith("__@"));
  const members = type.kind === "union" ? type.members : [type];
  return indexes.length === 0 && members.every((member) => isBrand(member, names));
}
