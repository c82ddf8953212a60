import type { JsonSchema } from "./document-types.ts";

/** The part of Standard JSON Schema (https://standardschema.dev/json-schema, version 1) that Waymark uses. */
interface StandardJsonSchema {
  readonly "~standard": {
    readonly jsonSchema?: {
      readonly input: (options: { readonly target: "draft-2020-12" }) => JsonSchema;
    };
  };
}

/** The input schema of a Standard Schema that replaces a type. `{}` (anything) if it cannot describe itself. */
export function standardJsonSchema(schema: unknown): JsonSchema | undefined {
  if (schema === undefined) return undefined;
  try {
    const described = (schema as StandardJsonSchema)["~standard"].jsonSchema?.input({
      target: "draft-2020-12",
    });
    const { $schema: _, ...own } = described ?? {};
    return own;
  } catch {
    // It throws if it cannot describe itself, for instance because of a transformation.
    return {};
  }
}
