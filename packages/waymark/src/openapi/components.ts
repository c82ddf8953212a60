import type { MethodSignature } from "../signature/model/signature.ts";
import type { JsonSchema } from "./document-types.ts";
import { type SchemaContext, schemaOf } from "./json-schema.ts";

/**
 * The named schemas of the document: types that contain themselves, and the members of tagged unions. Equal types of several methods share one schema.
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
    const context: SchemaContext = {
      closesObjects,
      reference: (name) => {
        if (!names.has(name)) this.#add(name, names, context, definitions);
        return referenceTo(names.get(name)!);
      },
      share: (name, schema) => this.#share(name, schema, closesObjects),
    };
    return context;
  }

  #share(name: string, schema: JsonSchema, closesObjects: boolean): string {
    for (let count = 1; ; count++) {
      const own = componentName(name, closesObjects, count);
      const taken = this.schemas[own];
      if (taken !== undefined && JSON.stringify(taken) !== JSON.stringify(schema)) continue;
      this.schemas[own] = schema;
      return referenceTo(own);
    }
  }

  #add(
    name: string,
    names: Map<string, string>,
    context: SchemaContext,
    definitions: MethodSignature["definitions"],
  ): void {
    for (let count = 1; ; count++) {
      const own = componentName(name, context.closesObjects, count);
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
function componentName(name: string, closesObjects: boolean, count: number): string {
  const safe = name.replace(/[^\w.-]/g, "_") || "_";
  return `${safe}${closesObjects ? "" : "Output"}${count === 1 ? "" : count}`;
}

const referenceTo = (name: string): string => `#/components/schemas/${name}`;
