import { type Converter, INVALID, type Note } from "../convert/converter.ts";
import type { Parameter, TypeNode } from "../model/signature.ts";
import type { BindFault } from "./bind-faults.ts";
import { takeNotes } from "./keyword-object.ts";

/** A rest parameter. It takes the remaining path segments. */
export interface CompiledRest {
  readonly name: string;
  readonly argument: number;
  /** The first segment that it takes. */
  readonly from: number;
  readonly converter: Converter;
}

export function compileRest(
  parameters: readonly Parameter[],
  from: number,
  converterOf: (name: string, type: TypeNode) => Converter,
): CompiledRest | undefined {
  const argument = parameters.findIndex(({ role }) => role === "rest");
  if (argument < 0) return undefined;
  const { name, type } = parameters[argument]!;
  return { name, argument, from, converter: converterOf(name, type) };
}

export function bindRest(
  { name, argument, from, converter }: CompiledRest,
  segments: readonly string[],
  values: unknown[],
  notes: Note[],
  faults: BindFault[],
): void {
  values.length = argument;
  for (let index = from; index < segments.length; index++) {
    const value = converter.fromText(segments[index]!, notes);
    if (value === INVALID) takeNotes(notes, "path", `${name}[${index - from}]`, faults);
    values.push(value);
  }
}
