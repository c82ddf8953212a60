import { type Field, readFields, stringField, textOf } from "./protobuf.ts";

/** One serialized .proto file. */
interface DescriptorFile {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly dependencies: readonly string[];
}

/** The key of an extension: the extended type and the field number. */
const extensionKey = (type: string, number: number) => `${type}\0${number}`;

/** Finds the files that define a symbol or an extension. */
export class DescriptorIndex {
  readonly #files = new Map<string, DescriptorFile>();
  readonly #bySymbol = new Map<string, DescriptorFile>();
  readonly #byExtension = new Map<string, DescriptorFile>();
  readonly #extensions = new Map<string, number[]>();

  /** Adds a serialized FileDescriptorProto. Ignores a second file with the same name. Throws a `DecodeError`. */
  add(bytes: Uint8Array): void {
    const fields = readFields(bytes);
    const name = stringField(fields, 1);
    if (this.#files.has(name)) return;
    const dependencies = fields.filter(({ number }) => number === 3).map((field) => textOf(field.bytes));
    const file = { name, bytes, dependencies };
    this.#files.set(name, file);
    const inPackage = stringField(fields, 2);
    const scope = inPackage === "" ? "" : `${inPackage}.`;
    for (const field of fields) {
      if (field.number === 4) this.#addMessage(field, scope, file);
      else if (field.number === 5) this.#addEnum(field, scope, file);
      else if (field.number === 6) this.#addService(field, scope, file);
      else if (field.number === 7) this.#addExtension(field, scope, file);
    }
  }

  /** Returns the file and all files that it imports, or undefined for an unknown name. */
  withDependencies(name: string): Uint8Array[] | undefined {
    const first = this.#files.get(name);
    if (first === undefined) return undefined;
    const found = new Set([first]);
    for (const file of found) {
      for (const dependency of file.dependencies) {
        const needed = this.#files.get(dependency);
        if (needed !== undefined) found.add(needed);
      }
    }
    return [...found].map(({ bytes }) => bytes);
  }

  fileOfSymbol(symbol: string): string | undefined {
    return this.#bySymbol.get(symbol)?.name;
  }

  fileOfExtension(type: string, number: number): string | undefined {
    return this.#byExtension.get(extensionKey(type, number))?.name;
  }

  /** Returns the field numbers of a type's extensions, or undefined for an unknown type. */
  extensionsOf(type: string): number[] | undefined {
    return this.#extensions.get(type) ?? (this.#bySymbol.has(type) ? [] : undefined);
  }

  #addMessage(message: Field, scope: string, file: DescriptorFile): void {
    const fields = readFields(message.bytes);
    const name = scope + stringField(fields, 1);
    this.#bySymbol.set(name, file);
    for (const field of fields) {
      if (field.number === 2 || field.number === 8)
        this.#bySymbol.set(`${name}.${stringField(readFields(field.bytes), 1)}`, file);
      else if (field.number === 3) this.#addMessage(field, `${name}.`, file);
      else if (field.number === 4) this.#addEnum(field, `${name}.`, file);
      else if (field.number === 6) this.#addExtension(field, `${name}.`, file);
    }
  }

  #addEnum(field: Field, scope: string, file: DescriptorFile): void {
    const fields = readFields(field.bytes);
    this.#bySymbol.set(scope + stringField(fields, 1), file);
    // The values of an enum are in the scope of the enum itself.
    for (const { number, bytes } of fields)
      if (number === 2) this.#bySymbol.set(scope + stringField(readFields(bytes), 1), file);
  }

  #addService(field: Field, scope: string, file: DescriptorFile): void {
    const fields = readFields(field.bytes);
    const name = scope + stringField(fields, 1);
    this.#bySymbol.set(name, file);
    for (const { number, bytes } of fields)
      if (number === 2) this.#bySymbol.set(`${name}.${stringField(readFields(bytes), 1)}`, file);
  }

  #addExtension(field: Field, scope: string, file: DescriptorFile): void {
    const fields = readFields(field.bytes);
    const type = stringField(fields, 2).replace(/^\./, "");
    const number = fields.findLast((each) => each.number === 3)?.value ?? 0;
    this.#bySymbol.set(scope + stringField(fields, 1), file);
    this.#byExtension.set(extensionKey(type, number), file);
    this.#extensions.set(
      type,
      [...(this.#extensions.get(type) ?? []), number].sort((a, b) => a - b),
    );
  }
}
