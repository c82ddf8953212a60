import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { BindingPattern, TSType } from "oxc-parser";
import { CheckedTypeReader } from "./compiler/checked-type-reader.ts";
import { CompilerUnavailable } from "./compiler/load-typescript.ts";
import { compilerAccess } from "./compiler/questions.ts";
import type { DefinedType } from "./compiler/same-type.ts";
import { TypeScriptProgram } from "./compiler/typescript.ts";
import type { MethodSignature } from "./model/signature.ts";
import { readMethod } from "./source/method.ts";
import { SourceModules } from "./source/modules.ts";
import { SourceTypeReader } from "./source/source-type-reader.ts";

/** The compiler that reads a case: the real one, none, or one that is not installed. */
export type Compiler = "with" | "without" | "missing";

/** Files in a folder of their own, which one compiler reads. */
export class CompiledFiles {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), "waymark-types-")));
  readonly #names: readonly string[];
  #program: TypeScriptProgram | undefined;

  constructor(files: Readonly<Record<string, string>>) {
    this.#names = Object.keys(files);
    symlinkSync(
      fileURLToPath(new URL("../../../../node_modules", import.meta.url)),
      join(this.folder, "node_modules"),
    );
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(this.path(name)), { recursive: true });
      writeFileSync(this.path(name), text);
    }
  }

  get program(): TypeScriptProgram {
    this.#program ??= new TypeScriptProgram(
      this.folder,
      this.#names.filter((name) => /\.[cm]?[jt]s$/.test(name)).map((name) => this.path(name)),
    );
    return this.#program;
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  /** The signature of the first method of a file. */
  signature(name: string, compiler: Compiler): MethodSignature {
    const modules = new SourceModules();
    const module = modules.read(this.path(name));
    const method = [...module.functions.values()].find(({ member }) => member?.kind === "method")!;
    const open = (): TypeScriptProgram => {
      if (compiler === "missing") throw new CompilerUnavailable("TypeScript is not installed: run `npm i`");
      return this.program;
    };
    return readMethod("POST", method, modules, {
      unreadableTypes: "error",
      schemaNames: new Set(),
      warn: () => {},
      compiler: compiler === "without" ? undefined : compilerAccess({ open, place: undefined }),
    });
  }

  /** The type of the first parameter of a file's first method, from the compiler alone. */
  checkedType(name: string): DefinedType {
    const modules = new SourceModules();
    const module = modules.read(this.path(name));
    const method = [...module.functions.values()].find(({ member }) => member?.kind === "method")!;
    const [parameter] = method.node.params as BindingPattern[];
    const annotated = parameter as { typeAnnotation?: { typeAnnotation: TSType } | null };
    const node = annotated.typeAnnotation!.typeAnnotation;
    const reader = new SourceTypeReader(modules, method.scope);
    const { file } = module.source;
    const type = this.program.typeOf({ file, start: node.start, end: node.end })!;
    const asked = { node, scope: method.scope };
    const read = new CheckedTypeReader(this.program, reader).read(type, asked);
    return { type: read, definitions: reader.definitions };
  }

  close(): void {
    this.#program?.close();
    rmSync(this.folder, { recursive: true });
  }
}
