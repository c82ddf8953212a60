/** Finds the error classes in the sources, and the values that their `code` can have. */
import { globSync, readFileSync } from "node:fs";
import { parseSync, Visitor } from "oxc-parser";

export interface ErrorClass {
  readonly file: string;
  readonly name: string;
  /** Undefined: the class has no `code`. A type other than a union of texts gives its own name. */
  readonly codes: readonly string[] | undefined;
}

type Program = ReturnType<typeof parseSync>["program"];
type Node = { readonly type: string } & Record<string, unknown>;

export function errorClasses(folder: string): ErrorClass[] {
  const sources = globSync(`${folder}/**/*.ts`, { exclude: ["**/gen/**", "**/*.test.ts", "**/fixtures/**"] });
  const classes = sources.sort().flatMap((file) => classesOf(file, parse(file)));
  const errors = new Set(["Error", "RangeError", "TypeError", "SyntaxError"]);
  // A subclass of a subclass may come first.
  for (let found = 0; found !== errors.size; ) {
    found = errors.size;
    for (const { name, parent } of classes) if (errors.has(parent)) errors.add(name);
  }
  return classes.filter(({ parent }) => errors.has(parent));
}

function parse(file: string): Program {
  const { program, errors } = parseSync(file, readFileSync(file, "utf8"));
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]!.message}`);
  return program;
}

function classesOf(file: string, program: Program): (ErrorClass & { parent: string })[] {
  const classes: (ErrorClass & { parent: string })[] = [];
  const aliases = new Map<string, Node>();
  new Visitor({
    TSTypeAliasDeclaration(node) {
      aliases.set(node.id.name, node.typeAnnotation as unknown as Node);
    },
  }).visit(program);
  const visit = (node: {
    id: { name: string } | null;
    superClass: unknown;
    body: { body: readonly unknown[] };
  }) => {
    const parent = node.superClass as Node | null;
    if (parent?.type !== "Identifier" || node.id === null) return;
    const property = (node.body.body as readonly Node[]).find(
      ({ type, key }) => type === "PropertyDefinition" && (key as Node).name === "code",
    );
    const codes = property === undefined ? undefined : codesOf(property, aliases);
    classes.push({ file, name: node.id.name, parent: String(parent.name), codes });
  };
  new Visitor({ ClassDeclaration: visit, ClassExpression: visit }).visit(program);
  return classes;
}

function codesOf(property: Node, aliases: ReadonlyMap<string, Node>): string[] {
  const value = property.value as Node | null;
  if (value?.type === "Literal") return [String(value.value)];
  const annotation = property.typeAnnotation as Node | null;
  if (annotation == null) throw new Error("a `code` needs a literal or a type");
  return textsOf(annotation.typeAnnotation as Node, aliases);
}

function textsOf(type: Node, aliases: ReadonlyMap<string, Node>): string[] {
  if (type.type === "TSUnionType") return (type.types as Node[]).flatMap((each) => textsOf(each, aliases));
  if (type.type === "TSLiteralType") return [String((type.literal as Node).value)];
  if (type.type !== "TSTypeReference") throw new Error(`a \`code\` cannot have a ${type.type}`);
  const name = String((type.typeName as Node).name);
  const alias = aliases.get(name);
  return alias === undefined || alias.type === "TSIndexedAccessType" ? [name] : textsOf(alias, aliases);
}
