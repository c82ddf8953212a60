import type { MethodSignature } from "../signature/model/signature.ts";
import type { JsonSchema } from "./document-types.ts";
import { type SchemaContext, schemaOf } from "./json-schema.ts";

/**
 * The named schemas of the document: types that contain themselves. Equal types of several methods share one schema.
 * Different types of one name get a number.
 */
export class Components {
  readonly schemas: Record<string, JsonSchema>;

  constructor(schemas: Readonly<Record<string, JsonSchema>>) {
    this.schemas = { ...schemas };
  }

  /** The schema context of one signature. */
  context({ definitions }: MethodSignature, closesObjects: boolean): SchemaContext {
    const names = new Map<string, string>();
    const reference = (name: string): string => {
      if (!names.has(name)) this.#add(name, names, { closesObjects, reference }, definitions);
      return `#/components/schemas/${names.get(name)}`;
    };
    return { closesObjects, reference };
  }

  #add(
    name: string,
    names: Map<string, string>,
    context: SchemaContext,
    definitions: MethodSignature["definitions"],
  ): void {
    for (let count = 1; ; count++) {
      const own = `${safeName(name)}${context.closesObjects ? "" : "Output"}${count === 1 ? "" : count}`;
      const taken = this.schemas[own];
      // The schema may refer to itself, so its name must be registered first.
      names.set(name, own);
      if (taken === undefined) {
        this.schemas[own] = {};
        this.schemas[own] = schemaOf(definitions[name]!, context);
        return;
      }
      if (JSON.stringify(schemaOf(definitions[name]!, context)) === JSON.stringify(taken)) return;
    }
  }
}

/** Replaces the characters that OpenAPI does not allow in a component's name. */
const safeName = (name: string): string => name.replace(/[^\w.-]/g, "_");
