import type { ObjectNode } from "../model.ts";
import {
  type CompileContext,
  type Converter,
  describe,
  INVALID,
  MAXIMUM_NOTES,
  type Note,
  prefixNotes,
  propertyStep,
  RANK,
  reject,
} from "./converter.ts";
import { parseJsonText } from "./json-text.ts";

interface CompiledProperty {
  readonly name: string;
  readonly step: string;
  readonly optional: boolean;
  readonly converter: Converter;
}

/**
 * An object within JSON. What comes out has a null prototype, so that no name a client chooses means
 * anything, and only names of the type: the application never sees one that it has not declared.
 */
export const objectConverter = (type: ObjectNode, context: CompileContext): Converter => {
  const properties: readonly CompiledProperty[] = type.properties.map((property) => ({
    name: property.name,
    step: propertyStep(property.name),
    optional: property.optional,
    converter: context.compile(property.type),
  }));
  const names = new Set(type.properties.map((property) => property.name));
  const index = type.index && context.compile(type.index);
  const reportsUnknown = context.unknownKeywords === "reject";

  const fromJson = (value: unknown, notes: Note[]): unknown => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      return reject(notes, `must be an object, got ${describe(value)}`);
    }
    const before = notes.length;
    const given = value as Record<string, unknown>;
    const result: Record<string, unknown> = Object.create(null);
    let taken = 0;
    for (const property of properties) {
      const start = notes.length;
      if (Object.hasOwn(given, property.name)) {
        taken++;
        result[property.name] = property.converter.fromJson(given[property.name], notes);
      } else if (!property.optional) {
        reject(notes, "is required");
      }
      if (notes.length > start) prefixNotes(notes, start, property.step);
    }
    const keys = index || reportsUnknown ? Object.keys(given) : undefined;
    if (keys && keys.length > taken) {
      for (const key of keys) {
        if (names.has(key)) continue;
        if (notes.length - before >= MAXIMUM_NOTES) break;
        const start = notes.length;
        if (index) result[key] = index.fromJson(given[key], notes);
        else reject(notes, "is not a known property");
        if (notes.length > start) prefixNotes(notes, start, propertyStep(key));
      }
    }
    return notes.length > before ? INVALID : result;
  };
  const fromText = (text: string, notes: Note[]): unknown => {
    const value = parseJsonText(text);
    return value === INVALID ? reject(notes, "must be an object, written as JSON") : fromJson(value, notes);
  };
  const fromFile = (_file: unknown, notes: Note[]): unknown => reject(notes, "must be an object, got a file");
  return {
    expected: "an object",
    rank: RANK.object,
    fromText,
    fromFile,
    fromItem: (value, notes) => (typeof value === "string" ? fromText(value, notes) : fromFile(value, notes)),
    fromList: (values, notes) => reject(notes, `must come once, came ${values.length} times`),
    fromJson,
  };
};
