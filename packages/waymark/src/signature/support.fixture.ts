import { fileURLToPath } from "node:url";
import { BindFaults } from "./bind/bind-faults.ts";
import { type Binder, type BinderOptions, compileBinder } from "./bind/binder.ts";
import type { BindInput, FormFields } from "./model/input.ts";
import type { MethodSignature } from "./model/signature.ts";
import { readMethod } from "./source/method.ts";
import { ParsedModule } from "./source/module.ts";
import { SourceModules } from "./source/modules.ts";
import { SourceText } from "./source/text.ts";

/** A file that does not exist, in the fixtures' folder, so that test sources can import the fixtures. */
export const VIRTUAL_FILE = fileURLToPath(
  new URL("../../test/fixtures/signature/virtual.ts", import.meta.url),
);

export interface SignatureOptions {
  readonly file?: string;
  readonly schemaNames?: readonly string[];
  readonly unreadableTypes?: "error" | "raw";
  readonly warn?: (message: string) => void;
}

/** The signature of the first method in a source text. */
export function signatureOf(text: string, options: SignatureOptions = {}): MethodSignature {
  const module = new ParsedModule(new SourceText(options.file ?? VIRTUAL_FILE, text));
  const method = [...module.functions.values()].find(({ member }) => member && member.kind === "method");
  if (!method) throw new Error("the text has no method");
  const key = method.member!.key;
  return readMethod("name" in key ? String(key.name) : "GET", method, new SourceModules(), {
    unreadableTypes: options.unreadableTypes ?? "error",
    schemaNames: new Set(options.schemaNames ?? []),
    warn: options.warn ?? (() => {}),
  });
}

/** The binder of a method such as `GET(id: number)`, with the declarations that it needs. */
export function binderOf(
  method: string,
  declarations = "",
  options: BinderOptions & SignatureOptions = {},
): Binder {
  const schemaNames = options.schemaNames ?? Object.keys(options.schemas ?? {});
  const signature = signatureOf(`${declarations}\nexport class Example { ${method} {} }`, {
    ...options,
    schemaNames,
  });
  // A signature from a manifest must bind the same way.
  return compileBinder(JSON.parse(JSON.stringify(signature)) as MethodSignature, options);
}

/** `12/a?x=1` as segments and query, with an optional body. */
export function input(target: string, body?: BindInput["body"]): BindInput {
  const at = target.indexOf("?");
  const path = at < 0 ? target : target.slice(0, at);
  return {
    segments: path
      .split("/")
      .filter((segment) => segment !== "")
      .map(decodeURIComponent),
    query: at < 0 ? "" : target.slice(at + 1),
    body,
  };
}

export const json = (value: unknown): BindInput["body"] => ({ kind: "json", value });
export function form(...fields: FormFields): BindInput["body"] {
  return {
    kind: "form",
    fields,
  };
}

/** One line for each fault: `400 query.page must be a number`. */
export function faultsOf(result: unknown): string[] {
  if (!(result instanceof BindFaults)) throw new Error(`no fault, but ${JSON.stringify(result)}`);
  return result.faults.map((fault) => `${result.status} ${fault.in}.${fault.name} ${fault.message}`);
}

/** A copy with ordinary prototypes, to compare with a literal. */
export function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (value === null || typeof value !== "object") return value;
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([key, own]) => [key, plain(own)]));
}

/** The bound arguments of a request, or its faults. */
export function bound(binder: Binder, request: BindInput): unknown {
  const result = binder.bind(request);
  if (result instanceof Promise) throw new Error("a promise, although no schema is asynchronous");
  return result instanceof BindFaults ? faultsOf(result) : plain(result);
}
