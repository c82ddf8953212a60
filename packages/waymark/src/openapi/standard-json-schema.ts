import type { JsonSchema } from "./document-types.ts";

/** The part of Standard JSON Schema (https://standardschema.dev/json-schema, version 1) that is asked here. */
interface StandardJsonSchema {
  readonly "~standard": {
    readonly jsonSchema?: {
      readonly input: (options: { readonly target: "draft-2020-12" }) => JsonSchema;
    };
  };
}

/** What a schema that stands in for a type says of its input; `{}`, anything, where it cannot say. */
export function standardJsonSchema(schema: unknown): JsonSchema | undefined {
  if (schema === undefined) return undefined;
  try {
    const described = (schema as StandardJsonSchema)["~standard"].jsonSchema?.input({
      target: "draft-2020-12",
    });
    const { $schema: _, ...own } = described ?? {};
    return own;
  } catch {
    // it says so by throwing, for instance of a transformation
    return {};
  }
}
