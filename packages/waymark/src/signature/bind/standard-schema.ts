/**
 * The part of Standard Schema (https://standardschema.dev, version 1) that a binder uses. Schemas of zod, valibot and
 * arktype implement it.
 */
export interface StandardSchema {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult | Promise<SchemaResult>;
  };
}

export type SchemaResult =
  | { readonly value: unknown; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** Schemas by keyword or parameter name: the `static schema` of one verb. */
export type SchemaTable = { readonly [name: string]: StandardSchema };
