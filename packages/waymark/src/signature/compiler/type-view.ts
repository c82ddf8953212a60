/** A type of the compiler. Only {@link TypeProgram} looks inside. */
export interface CheckedType {
  readonly id: number;
}

/** A node of a source file, by its offsets. */
export interface NodePlace {
  readonly file: string;
  readonly start: number;
  readonly end: number;
}

/** The place of a class, and one of its methods. */
export interface MethodPlace {
  readonly owner: NodePlace;
  readonly method: string;
}

export interface PropertyView {
  readonly name: string;
  readonly optional: boolean;
  readonly type: CheckedType;
  /** The property's declarations: one for each part of an intersection or of a merged interface. */
  readonly declarations: readonly Pick<NodePlace, "file" | "start">[];
  /** Whether TypeScript's own library declares it. */
  readonly isLibrary: boolean;
}

export interface TupleItemView {
  readonly type: CheckedType;
  readonly kind: "required" | "optional" | "rest" | "variadic";
}

export interface ObjectView {
  readonly kind: "object";
  readonly name: string | undefined;
  readonly properties: readonly PropertyView[];
  readonly indexes: readonly { readonly key: CheckedType; readonly value: CheckedType }[];
  /** Whether the type can be called. */
  readonly isCode: boolean;
  readonly isClass: boolean;
  /** Whether the compiler computed the properties, so that nothing has checked them against the index signatures. */
  readonly isMapped: boolean;
}

/** A named type with its type arguments. */
export interface ReferenceView {
  readonly name: string;
  /** Whether TypeScript's own library or Node's declares it. */
  readonly isLibrary: boolean;
  /** The files that declare it. */
  readonly files: readonly string[];
  readonly arguments: readonly CheckedType[];
}

/** One level of a type, as far as a request can carry it. */
export type TypeView =
  | {
      readonly kind:
        | "string"
        | "number"
        | "bigint"
        | "boolean"
        | "null"
        | "undefined"
        | "unknown"
        | "never"
        | "object keyword";
    }
  | { readonly kind: "literal"; readonly value: string | number | boolean | bigint }
  | { readonly kind: "template"; readonly texts: readonly string[]; readonly types: readonly CheckedType[] }
  | { readonly kind: "mapping"; readonly name: string; readonly type: CheckedType }
  | { readonly kind: "union"; readonly members: readonly CheckedType[] }
  | { readonly kind: "intersection"; readonly members: readonly CheckedType[] }
  | { readonly kind: "array"; readonly items: CheckedType }
  | { readonly kind: "tuple"; readonly items: readonly TupleItemView[] }
  | { readonly kind: "library"; readonly name: string }
  | ObjectView
  | { readonly kind: "parameter"; readonly name: string; readonly constraint: CheckedType | undefined }
  /** A type that the program's errors leave undetermined. */
  | { readonly kind: "error" }
  | { readonly kind: "other"; readonly what: string };

export interface CompilerError {
  readonly offset: number;
  readonly text: string;
  /** The error of an import, which may affect any type of the file. */
  readonly isImport: boolean;
}

/** The TypeScript compiler with the controllers of one start. */
export interface TypeProgram {
  /** The type of a type's syntax. Undefined if the compiler sees no such node. */
  typeOf(node: NodePlace): CheckedType | undefined;
  /** The type of a parameter at an offset. */
  parameterAt(place: Pick<NodePlace, "file" | "start">): CheckedType | undefined;
  /** The type of a method's parameter as a class has it, with the type arguments of its base classes. */
  parameterOf(place: MethodPlace, index: number): CheckedType | undefined;
  /** The return type of a method as a class has it. Undefined for an overloaded method. */
  returnOf(place: MethodPlace): CheckedType | undefined;
  view(type: CheckedType): TypeView;
  /** The class or interface of an object type. Undefined for any other type. */
  reference(type: CheckedType): ReferenceView | undefined;
  /** An intersection of object types as one object type. */
  merged(type: CheckedType): ObjectView;
  text(type: CheckedType): string;
  /** The errors of a file that leave types undetermined. */
  errorsOf(file: string): readonly CompilerError[];
}
