import type { IndexPattern, ObjectNode, PropertyNode, TypeNode } from "../model/signature.ts";
import type { Asked } from "../source/asked.ts";
import { literalKind, NEVER, NON_NULL, splitUndefined, valuesOfAll } from "../source/combine.ts";
import { documentationOf } from "../source/documentation.ts";
import { readDocComment } from "../source/jsdoc.ts";
import type { TypeReader } from "../source/type-reader.ts";
import { templatePattern } from "./template-pattern.ts";
import type { CheckedType, ObjectView, PropertyView, TypeProgram } from "./type-view.ts";

/** Reads the parts of an object type. */
export interface PartReader {
  read(type: CheckedType, asked: Asked): TypeNode;
  fail(type: CheckedType, asked: Asked, reason: string): never;
}

/** Integers in the notation of a property name. */
const INTEGER_NAME = "^(?:0|-?[1-9][0-9]{0,14})$";

const CANNOT_COMBINE = "Waymark cannot combine its parts";

/** Translates object types of the compiler. */
export class CheckedObjects {
  readonly #program: TypeProgram;
  readonly #reader: TypeReader;
  readonly #parts: PartReader;
  /** The application's own files that declare a part of the type. */
  readonly files = new Set<string>();

  constructor(program: TypeProgram, reader: TypeReader, parts: PartReader) {
    this.#program = program;
    this.#reader = reader;
    this.#parts = parts;
  }

  read(view: ObjectView, type: CheckedType, asked: Asked): TypeNode {
    const fail = (reason: string): never => this.#parts.fail(type, asked, reason);
    if (view.isCode) return fail("a request cannot carry a function");
    if (view.isClass)
      return fail("it is a class; a request carries plain data, so write an interface or a type");
    // Any other symbol is a brand, which exists only for the compiler.
    const data = view.properties.filter(({ name }) => !name.startsWith("__@"));
    const foreign = data.find(({ isLibrary }) => isLibrary);
    if (foreign) {
      return fail(
        `it has the property ${foreign.name} of TypeScript's own library (a mapped type splits a Date or a list into its methods)`,
      );
    }
    if (view.properties.some(({ name }) => WELL_KNOWN_SYMBOL.test(name)))
      return fail("a request cannot carry a symbol");
    const names = this.#names(view, type, asked);
    const properties = data
      .map((property) => this.#property(property, asked))
      .map((property) => (view.isMapped ? indexed(property, names) : property) ?? fail(CANNOT_COMBINE));
    if (properties.length === 0 && !names.index && !names.patterns)
      return view.properties.length > 0 ? fail("a request cannot carry a symbol") : NON_NULL;
    return { kind: "object", ...(view.name && { name: view.name }), properties, ...names };
  }

  /** An intersection of objects without index signatures. The compiler's own property is `any` if one part says so. */
  readMerged(parts: readonly ObjectView[], type: CheckedType, asked: Asked): TypeNode {
    const merged = this.read(this.#program.merged(type), type, asked);
    // The compiler lists no properties of an intersection that has no value.
    if (merged.kind === "nonNull" && parts.some(({ properties }) => properties.length > 0)) return NEVER;
    if (merged.kind !== "object") return merged;
    const properties = merged.properties.map((property) => {
      const declared = parts.flatMap((part) => part.properties.filter(({ name }) => name === property.name));
      if (property.type.kind !== "unknown" || declared.length < 2) return property;
      const all = valuesOfAll(declared.map((one) => this.#parts.read(one.type, asked)));
      return { ...property, type: all ?? this.#parts.fail(type, asked, CANNOT_COMBINE) };
    });
    return { ...merged, properties };
  }

  #property(property: PropertyView, asked: Asked): PropertyNode {
    const { type, optional } = splitUndefined(this.#parts.read(property.type, asked));
    let refined = type;
    const docs = property.declarations.map(({ file, start }) => {
      if (!/[\\/]node_modules[\\/]/.test(file)) this.files.add(file);
      const module = this.#reader.modules.read(file);
      const doc = readDocComment(module, start);
      refined = this.#reader.refine(refined, doc.refinements, module);
      return doc;
    });
    return {
      name: property.name,
      type: refined,
      optional: property.optional || optional,
      ...documentationOf(docs),
    };
  }

  /** The types of undeclared names. */
  #names({ indexes }: ObjectView, type: CheckedType, asked: Asked): Pick<ObjectNode, "index" | "patterns"> {
    let index: TypeNode | undefined;
    const patterns: IndexPattern[] = [];
    for (const { key, value } of indexes) {
      const view = this.#program.view(key);
      if (view.kind === "other") continue; // symbols are not names of a request
      const own = splitUndefined(this.#parts.read(value, asked)).type;
      if (view.kind === "string") index = own;
      else if (view.kind === "number") patterns.push({ pattern: INTEGER_NAME, type: own });
      else {
        const pattern =
          view.kind === "template" ? templatePattern(view.texts, view.types, this.#program) : undefined;
        if (pattern === undefined) return this.#parts.fail(type, asked, "its names have no pattern");
        patterns.push({ pattern, type: own });
      }
    }
    const types = [...patterns.map((one) => one.type), ...(index ? [index] : [])];
    if (new Set(types.map((one) => JSON.stringify(one))).size > 1)
      return this.#parts.fail(type, asked, "several of its index signatures may apply to one name");
    return index ? { index } : patterns.length > 0 ? { patterns } : {};
  }
}

/** The well-known symbols, as the compiler writes them: `__@iterator@5`. */
const WELL_KNOWN_SYMBOL =
  /^__@(?:asyncDispose|asyncIterator|dispose|hasInstance|isConcatSpreadable|iterator|match|matchAll|metadata|replace|search|species|split|toPrimitive|toStringTag|unscopables)@/;

/**
 * A property with the condition of the index signature that applies to its name. A declaration that contradicts its own
 * index signature is an error of TypeScript, but a mapped type may.
 */
function indexed(
  property: PropertyNode,
  { index, patterns = [] }: Pick<ObjectNode, "index" | "patterns">,
): PropertyNode | undefined {
  const own = index ?? patterns.find(({ pattern }) => new RegExp(pattern, "u").test(property.name))?.type;
  if (!own || covers(own, property.type)) return property;
  const type = valuesOfAll([property.type, own]);
  return type && { ...property, type };
}

/** Whether each member of a type is a member of another, or a literal of one. */
function covers(wide: TypeNode, narrow: TypeNode): boolean {
  if (wide.kind === "unknown") return true;
  const members = wide.kind === "union" ? wide.members : [wide];
  const parts = narrow.kind === "union" ? narrow.members : [narrow];
  return parts.every((part) =>
    members.some(
      (member) =>
        JSON.stringify(member) === JSON.stringify(part) ||
        (part.kind === "literal" && member.kind === literalKind(part) && !("refinements" in member)),
    ),
  );
}
