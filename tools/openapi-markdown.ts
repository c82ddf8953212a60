/** Writes an OpenAPI 3.1 document as a page of Markdown: a section for each operation, a table for each schema. */

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly items?: Schema;
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly required?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly pattern?: string;
}

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema?: Schema }>>;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema?: Schema;
}

interface Operation {
  readonly summary?: string;
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: Content;
  readonly responses?: Readonly<Record<string, Content & { readonly description?: string }>>;
}

type PathItem = Readonly<Record<string, Operation>> & { readonly parameters?: readonly Parameter[] };

/** The parts of an OpenAPI 3.1 document that a page shows. */
export interface Document {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string; readonly description?: string };
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly components?: { readonly schemas?: Readonly<Record<string, Schema>> };
}

const VERBS = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

/** Keywords of a schema that bound its values, as the page shows them. */
const BOUNDS: readonly (readonly [keyword: keyof Schema, words: string, unit: string])[] = [
  ["minimum", "At least", ""],
  ["maximum", "At most", ""],
  ["minLength", "At least", " characters"],
  ["maxLength", "At most", " characters"],
  ["minItems", "At least", " items"],
  ["maxItems", "At most", " items"],
];

/**
 * The operations of a document, and the schemas that they use.
 * @param document an OpenAPI 3.1 document whose references are all to `#/components/schemas/`
 * @returns Markdown whose first heading is of the second level
 * @throws {Error} for a reference to a schema that the document does not have
 */
export function markdownOf(document: Document): string {
  const schemas = document.components?.schemas ?? {};
  const linked = (schema: Schema) => typeOf(schema, schemas);
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    VERBS.flatMap((verb) => {
      const operation = item[verb];
      if (operation === undefined) return [];
      const parameters = [...(item.parameters ?? []), ...(operation.parameters ?? [])];
      return [{ title: `${verb.toUpperCase()} ${path}`, operation: { ...operation, parameters } }];
    }),
  );
  const common = commonAnswers(operations.map(({ operation }) => answersOf(operation, linked)));
  return [
    "## Operations",
    indexOf(operations),
    ...operations.flatMap(({ title, operation }) => operationOf(title, operation, linked, common)),
    ...(common.size === 0 ? [] : ["### Errors of every call", [HEAD, RULE, ...common].join("\n")]),
    "## Schemas",
    ...Object.entries(schemas).flatMap(([name, schema]) => [`### ${name}`, ...schemaOf(schema, linked)]),
  ].join("\n\n");
}

type Typed = (schema: Schema) => string;

const HEAD = "| status | type | meaning |";
const RULE = "| --- | --- | --- |";

/** A table of all operations, with links to them. */
function indexOf(operations: readonly { readonly title: string; readonly operation: Operation }[]): string {
  const rows = operations.map(({ title, operation }) => {
    const anchor = title
      .toLowerCase()
      .replaceAll(/[^\w -]/g, "")
      .replaceAll(" ", "-");
    return `| [\`${title}\`](#${anchor}) | ${operation.summary ?? ""} |`;
  });
  return ["| call | what it does |", "| --- | --- |", ...rows].join("\n");
}

/** The rows of an operation's answers. */
function answersOf({ responses = {} }: Operation, typed: Typed): string[] {
  const rows = Object.entries(responses).map(([status, response]) => [
    status === "default" ? "other" : status,
    contentOf(response, typed),
    response.description ?? "",
  ]);
  return table("status", rows).split("\n").slice(2);
}

/** The answers that several operations share, if all have them: the page shows them once. */
function commonAnswers(operations: readonly (readonly string[])[]): ReadonlySet<string> {
  const [first = [], ...others] = operations;
  return new Set(
    others.length === 0 ? [] : first.filter((row) => others.every((rows) => rows.includes(row))),
  );
}

function operationOf(
  title: string,
  operation: Operation,
  typed: Typed,
  common: ReadonlySet<string>,
): string[] {
  const { summary, description, parameters = [], requestBody } = operation;
  return [
    `### \`${title}\``,
    ...[summary, description].filter((text) => text !== undefined),
    ...(parameters.length === 0 ? [] : [table("parameter", parametersOf(parameters, typed))]),
    ...(requestBody === undefined ? [] : [`Body: ${contentOf(requestBody, typed)}`]),
    [HEAD, RULE, ...answersOf(operation, typed).filter((row) => !common.has(row))].join("\n"),
  ];
}

function parametersOf(parameters: readonly Parameter[], typed: Typed): string[][] {
  return parameters.map(({ name, in: place, required = false, description = "", schema = {} }) => [
    `\`${name}\``,
    typed(schema),
    sentences(`In the ${place}${required ? ", required" : ""}.`, description, boundsOf(schema)),
  ]);
}

function contentOf({ content = {} }: Content, typed: Typed): string {
  const types = Object.entries(content).map(([type, { schema = {} }]) => `\`${type}\`, ${typed(schema)}`);
  return types.join(" or ") || "none";
}

function schemaOf(schema: Schema, typed: Typed): string[] {
  const { description, properties, required = [] } = schema;
  const about = description === undefined ? [] : [description];
  if (properties === undefined) return [...about, sentences(`${typed(schema)}.`, boundsOf(schema))];
  const rows = Object.entries(properties).map(([name, member]) => [
    `\`${name}\`${required.includes(name) ? "" : "?"}`,
    typed(member),
    sentences(member.description, boundsOf(member)),
  ]);
  return [...about, table("property", rows)];
}

/** The type of a value, with links to the schemas of the page. */
function typeOf(schema: Schema, schemas: Readonly<Record<string, Schema>>): string {
  const inner = (each: Schema) => typeOf(each, schemas);
  const { $ref, enum: values, items, properties, additionalProperties, type } = schema;
  if ($ref !== undefined) {
    const name = $ref.replace(/^#\/components\/schemas\//, "");
    if (!Object.hasOwn(schemas, name)) throw new Error(`the document has no schema ${$ref}`);
    return `[${name}](#${name.toLowerCase()})`;
  }
  const literals = "const" in schema ? [schema.const] : values;
  if (literals !== undefined) return literals.map((value) => `\`${JSON.stringify(value)}\``).join(", ");
  const choices = schema.oneOf ?? schema.anyOf;
  if (choices !== undefined) return choices.map(inner).join(" or ");
  if (items !== undefined) return `list of ${inner(items)}`;
  if (properties !== undefined) {
    const members = Object.entries(properties).map(([name, member]) => `\`${name}\` ${inner(member)}`);
    return `object: ${members.join(", ")}`;
  }
  if (typeof additionalProperties === "object") return `object of ${inner(additionalProperties)}`;
  if (type === undefined) return "any value";
  return [type].flat().join(" or ") + (schema.format === undefined ? "" : ` (${schema.format})`);
}

function boundsOf(schema: Schema): string {
  return sentences(
    ...BOUNDS.map(([keyword, words, unit]) => {
      const bound = schema[keyword];
      if (typeof bound !== "number") return "";
      return `${words} ${bound.toLocaleString("en")}${bound === 1 ? unit.replace(/s$/, "") : unit}.`;
    }),
    schema.pattern === undefined ? "" : `Pattern \`${schema.pattern}\`.`,
    schema.default === undefined ? "" : `Default \`${JSON.stringify(schema.default)}\`.`,
    schema.examples === undefined
      ? ""
      : `Example: ${schema.examples.map((value) => `\`${JSON.stringify(value)}\``).join(", ")}.`,
  );
}

const sentences = (...texts: readonly (string | undefined)[]) =>
  texts.filter((text) => text !== undefined && text !== "").join(" ");

function table(first: string, rows: readonly (readonly string[])[]): string {
  const cells = [[first, "type", "meaning"], ["---", "---", "---"], ...rows];
  return cells.map((row) => `| ${row.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`).join("\n");
}
