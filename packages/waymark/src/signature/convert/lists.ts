import type { FieldValue } from "../model/input.ts";
import type { ArrayNode, TupleNode } from "../model/signature.ts";
import type { CompileContext } from "./compile-context.ts";
import {
  type Converter,
  describe,
  INVALID,
  MAXIMUM_NOTES,
  type Note,
  prefixNotes,
  reject,
} from "./converter.ts";
import { convertJsonText } from "./json-text.ts";
import { listCheck } from "./refinements.ts";

/** A list: a repeated name, or a JSON array. A single text is a list of one. */
export function arrayConverter(type: ArrayNode, context: CompileContext): Converter {
  const item = context.compile(type.items);
  const { keepsJson } = item;
  const check = type.refinements ? listCheck(type.refinements) : undefined;
  const finish = (list: unknown[], notes: Note[], before: number): unknown => {
    if (notes.length > before) return INVALID;
    const message = check?.(list);
    return message === undefined ? list : reject(notes, message, true);
  };
  const fromList = (values: readonly FieldValue[], notes: Note[]): unknown => {
    const before = notes.length;
    const list = values.map((value, index) => {
      const start = notes.length;
      const result = item.fromItem(value, notes);
      prefixNotes(notes, start, `[${index}]`);
      return result;
    });
    return finish(list, notes, before);
  };
  const fromJson = (value: unknown, notes: Note[]): unknown => {
    if (!Array.isArray(value)) return reject(notes, `must be a list, got ${describe(value)}`);
    const before = notes.length;
    const list: unknown[] = keepsJson ? value : new Array(value.length);
    for (let index = 0; index < value.length; index++) {
      const start = notes.length;
      const result = item.fromJson(value[index], notes);
      if (result === INVALID) {
        prefixNotes(notes, start, `[${index}]`);
        if (notes.length - before >= MAXIMUM_NOTES) break;
      } else if (!keepsJson) list[index] = result;
    }
    return finish(list, notes, before);
  };
  return {
    expected: "a list",
    rank: "list",
    keepsJson,
    fromText: (text, notes) => {
      const before = notes.length;
      return finish([item.fromItem(text, notes)], notes, before);
    },
    fromFile: (file, notes) => fromList([file], notes),
    fromList,
    fromItem: itemOf(fromJson, "a list", context),
    fromJson,
  };
}

/** A list within a list: each text of the outer list is JSON. */
function itemOf(
  fromJson: Converter["fromJson"],
  expected: string,
  context: CompileContext,
): Converter["fromItem"] {
  return (value, notes) =>
    typeof value === "string"
      ? convertJsonText(value, expected, notes, context, (list) => fromJson(list, notes))
      : reject(notes, `must be ${expected}, written as JSON`);
}

/** A tuple: a name that repeats once for each item, in order, or a JSON array. */
export function tupleConverter(type: TupleNode, context: CompileContext): Converter {
  const items = type.items.map((item) => context.compile(item.type));
  const rest = type.rest && context.compile(type.rest);
  const least = type.items.filter((item) => !item.optional).length;
  const most = rest ? Number.POSITIVE_INFINITY : items.length;
  const expected = `a list of ${lengthText(least, most)}`;
  const convert = <Value>(
    values: readonly Value[],
    notes: Note[],
    one: (converter: Converter, value: Value) => unknown,
  ): unknown => {
    if (values.length < least || values.length > most) {
      return reject(notes, `must be ${expected}, got ${values.length}`);
    }
    const before = notes.length;
    const list: unknown[] = new Array(values.length);
    for (let index = 0; index < values.length && notes.length - before < MAXIMUM_NOTES; index++) {
      const start = notes.length;
      list[index] = one(items[index] ?? rest!, values[index]!);
      prefixNotes(notes, start, `[${index}]`);
    }
    return notes.length > before ? INVALID : list;
  };
  const fromList = (values: readonly FieldValue[], notes: Note[]): unknown =>
    convert(values, notes, (converter, value) => converter.fromItem(value, notes));
  const fromJson = (value: unknown, notes: Note[]): unknown =>
    Array.isArray(value)
      ? convert(value, notes, (converter, item) => converter.fromJson(item, notes))
      : reject(notes, `must be ${expected}, got ${describe(value)}`);
  return {
    expected,
    rank: "list",
    keepsJson: false,
    fromText: (text, notes) => fromList([text], notes),
    fromFile: (file, notes) => fromList([file], notes),
    fromList,
    fromItem: itemOf(fromJson, expected, context),
    fromJson,
  };
}

function lengthText(least: number, most: number): string {
  if (least === most) return String(least);
  return most === Number.POSITIVE_INFINITY ? `${least} or more` : `${least} to ${most}`;
}
