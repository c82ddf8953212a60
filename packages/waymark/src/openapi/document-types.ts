/** A JSON Schema (2020-12), as OpenAPI 3.1 uses it. */
export interface JsonSchema {
  readonly [keyword: string]: unknown;
}

/** A version of OpenAPI. */
export type Spec = "3.1" | "3.2";

export interface MediaType {
  readonly schema?: JsonSchema;
  /** OpenAPI 3.2: the schema of each item of a stream. */
  readonly itemSchema?: JsonSchema;
}

export interface OpenApiParameter {
  readonly name: string;
  readonly in: "path" | "query";
  readonly required: boolean;
  readonly description?: string;
  readonly deprecated?: boolean;
  readonly schema?: JsonSchema;
  /** Instead of `schema`, for a value that is sent as JSON text. */
  readonly content?: { readonly "application/json": MediaType };
}

export interface RequestBody {
  readonly required: boolean;
  readonly description?: string;
  readonly content: { readonly [mediaType: string]: MediaType };
}

export interface OpenApiResponse {
  readonly description: string;
  readonly content?: { readonly [mediaType: string]: MediaType };
}

export interface Reference {
  readonly $ref: string;
}

export interface Operation {
  readonly operationId: string;
  readonly tags?: readonly string[];
  readonly summary?: string;
  readonly description?: string;
  readonly deprecated?: boolean;
  readonly parameters?: readonly OpenApiParameter[];
  readonly requestBody?: RequestBody;
  /** Alternatives. An empty one: nothing is needed. */
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
  readonly responses: { readonly [status: string]: OpenApiResponse | Reference };
}

/** Operations by HTTP method in lower case. Those of OpenAPI 3.2 can also have `additionalOperations`. */
export type PathItem = { readonly [method: string]: Operation };

export interface OpenApiInfo {
  readonly title: string;
  readonly version: string;
  readonly description?: string;
}

export interface OpenApiDocument {
  readonly openapi: "3.1.1" | "3.2.0";
  readonly info: OpenApiInfo;
  readonly paths: { readonly [path: string]: PathItem };
  readonly components: {
    readonly schemas: { readonly [name: string]: JsonSchema };
    readonly responses: { readonly [name: string]: OpenApiResponse };
    readonly securitySchemes?: { readonly [name: string]: Readonly<Record<string, string>> };
  };
}
