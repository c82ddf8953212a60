import type { ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Node, SourceFile, TypeNode } from "typescript/unstable/ast";
import type * as TypeScript from "typescript/unstable/sync";
import { configText, type UserConfig } from "./config.ts";
import { COMPILER_VERSION, CompilerUnavailable, loadTypeScript } from "./load-typescript.ts";
import type {
  CheckedType,
  CompilerError,
  MethodPlace,
  NodePlace,
  ObjectView,
  ReferenceView,
  TypeProgram,
  TypeView,
} from "./type-view.ts";
import { mergedView, referenceView, typeView } from "./typescript-views.ts";

type Module = typeof TypeScript;

/** The private parts of the interface that hold the compiler's process. */
interface SpawnedClient {
  readonly client?: { readonly channel?: { readonly child?: ChildProcess } };
}

/** The name of a tsconfig.json that exists only in this process. */
const CONFIG = "tsconfig.waymark-start.json";

/**
 * The only user of TypeScript's compiler. Opens it for the first type that needs it: 0.3 s, and then some 2 ms for
 * each type. One compiler process serves a whole start and ends with {@link TypeScriptProgram.close}.
 */
export class TypeScriptProgram implements TypeProgram {
  readonly version: string;
  readonly #module: Module;
  readonly #api: TypeScript.API;
  readonly #roots = new Set<string>();
  readonly #folder: string;
  readonly #config: string;
  readonly #user: UserConfig | undefined;
  readonly #origins = new Set<string>();
  readonly #errors = new Map<string, readonly CompilerError[]>();
  #project: TypeScript.Project | undefined;

  /**
   * @param roots the files with the controllers. Other files may follow
   * @throws CompilerUnavailable without a usable compiler
   */
  constructor(directory: string, roots: Iterable<string>) {
    const { module, version, path } = loadTypeScript<Module>(directory, "typescript/unstable/sync");
    this.#module = module;
    this.version = version;
    this.#origins.add(path);
    for (const root of roots) this.#roots.add(root);
    const user = findUp(directory, "tsconfig.json");
    if (user) this.#origins.add(user);
    this.#folder = user ? dirname(user) : directory;
    this.#config = join(this.#folder, CONFIG);
    try {
      this.#api = new module.API({
        cwd: this.#folder,
        fs: {
          fileExists: (file) => (this.#isConfig(file) ? true : undefined),
          readFile: (file) => (this.#isConfig(file) ? configText(this.#user, [...this.#roots]) : undefined),
        },
      });
      this.#user = user === undefined ? undefined : (this.#api.parseConfigFile(user) as UserConfig);
    } catch (error) {
      throw new CompilerUnavailable(
        `the compiler of TypeScript ${version} does not start (${(error as Error).message.split("\n")[0]}): run \`npm i -D typescript@${COMPILER_VERSION}\``,
      );
    }
  }

  /** Ends the compiler process. */
  close(): void {
    const child = (this.#api as unknown as SpawnedClient).client?.channel?.child;
    if (child) {
      // The compiler would print "context canceled" for the SIGTERM that `close` sends at its end.
      const kill = child.kill.bind(child);
      child.kill = () => kill("SIGKILL");
    }
    this.#api.close();
  }

  typeOf(place: NodePlace): CheckedType | undefined {
    const node = this.#find(place);
    if (node) this.#addNames(node);
    return node && this.#checker.getTypeFromTypeNode(node as TypeNode);
  }

  parameterAt({ file, start }: Pick<NodePlace, "file" | "start">): CheckedType | undefined {
    const node = this.#find({ file, start, end: -1 });
    return node && this.#checker.getTypeAtLocation(node);
  }

  parameterOf(place: MethodPlace, index: number): CheckedType | undefined {
    const parameter = this.#signatures(place)[0]?.getParameters()[index];
    return parameter && this.#checker.getTypeOfSymbol(parameter);
  }

  returnOf(place: MethodPlace): CheckedType | undefined {
    const [signature, overload] = this.#signatures(place);
    return signature && !overload ? this.#checker.getReturnTypeOfSignature(signature) : undefined;
  }

  #signatures({ owner, method }: MethodPlace): readonly TypeScript.Signature[] {
    const { SignatureKind } = this.#module;
    const node = this.#findClass(owner);
    const type = node && this.#checker.getTypeAtLocation(node);
    if (!type) return [];
    const [construct] = this.#checker.getSignaturesOfType(type, SignatureKind.Construct);
    const instance = construct ? this.#checker.getReturnTypeOfSignature(construct) : type;
    const symbol = instance && this.#checker.getPropertyOfType(instance, method);
    const own = symbol && this.#checker.getTypeOfSymbol(symbol);
    return own ? this.#checker.getSignaturesOfType(own, SignatureKind.Call) : [];
  }

  /** The files that declare the types of the answers, the user's tsconfig.json, and the compiler's package. */
  files(): string[] {
    return [...this.#origins];
  }

  view(type: CheckedType): TypeView {
    for (const symbol of symbolsOf(type as TypeScript.Type)) this.#addOrigin(symbol);
    return typeView(type as TypeScript.Type, this.#module, this.#checker);
  }

  reference(type: CheckedType): ReferenceView | undefined {
    return referenceView(type as TypeScript.Type, this.#module, this.#checker);
  }

  merged(type: CheckedType): ObjectView {
    return mergedView(type as TypeScript.Type, this.#module, this.#checker);
  }

  text(type: CheckedType): string {
    return this.#checker.typeToString(type as TypeScript.Type);
  }

  errorsOf(file: string): readonly CompilerError[] {
    let errors = this.#errors.get(file);
    if (!errors) {
      const found = this.#source(file) ? this.#program.program.getSemanticDiagnostics(file) : [];
      errors = found
        .filter(({ code }) => UNRESOLVED_IMPORTS.has(code) || UNRESOLVED_TYPES.has(code))
        .map(({ pos, code, text }) => ({ offset: pos, text, isImport: UNRESOLVED_IMPORTS.has(code) }));
      this.#errors.set(file, errors);
    }
    return errors;
  }

  /** The lines (from 1) with an error of any kind. For tests that compare Waymark with the compiler. */
  linesWithErrors(file: string): number[] {
    const text = this.#source(file)?.text ?? "";
    const { program } = this.#program;
    const errors = [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)];
    return [...new Set(errors.map(({ pos }) => text.slice(0, pos).split("\n").length))];
  }

  /** The declarations of the names in a type's syntax, some of which its result no longer shows. */
  #addNames(node: Node): void {
    const names: Node[] = [];
    const visit = (part: Node): void => {
      if ("escapedText" in part || "text" in part) names.push(part);
      part.forEachChild(visit);
    };
    visit(node);
    const { SymbolFlags } = this.#module;
    for (const symbol of this.#checker.getSymbolAtLocation(names)) {
      if (!symbol) continue;
      this.#addOrigin(symbol.flags & SymbolFlags.Alias ? this.#checker.getAliasedSymbol(symbol) : symbol);
    }
  }

  #addOrigin(symbol: TypeScript.Symbol): void {
    for (const { path } of symbol.declarations) if (existsSync(path)) this.#origins.add(path);
  }

  get #program(): TypeScript.Project {
    if (!this.#project) {
      const snapshot = this.#api.updateSnapshot({ openProjects: [this.#config] });
      this.#project = snapshot.getProject(this.#config);
      if (!this.#project) throw new CompilerUnavailable(`TypeScript ${this.version} opens no project`);
    }
    return this.#project;
  }

  get #checker(): TypeScript.Checker {
    return this.#program.checker;
  }

  #isConfig(file: string): boolean {
    return basename(file) === CONFIG && dirname(file) === this.#folder;
  }

  /** A file of the program. A file that neither the user's tsconfig.json nor an import includes becomes a root. */
  #source(file: string): SourceFile | undefined {
    const known = this.#program.program.getSourceFile(file);
    if (known || this.#roots.has(file)) return known;
    this.#roots.add(file);
    const snapshot = this.#api.updateSnapshot({
      openProjects: [this.#config],
      fileChanges: { changed: [this.#config] },
    });
    this.#project = snapshot.getProject(this.#config);
    return this.#program.program.getSourceFile(file);
  }

  /** The class that ends at the given offset. A declaration of the compiler begins with its modifiers. */
  #findClass({ file, start, end }: NodePlace): Node | undefined {
    const source = this.#source(file);
    let found: Node | undefined;
    const visit = (node: Node): void => {
      if (found || node.pos > start || node.end < end) return;
      if (node.end === end && "members" in node) found = node;
      else node.forEachChild(visit);
    };
    source?.forEachChild(visit);
    return found;
  }

  /** The outermost node at an offset, with the given end unless it is negative. */
  #find({ file, start, end }: NodePlace): Node | undefined {
    const source = this.#source(file);
    if (!source) return undefined;
    let found: Node | undefined;
    const visit = (node: Node): void => {
      if (found || node.pos > start || node.end < Math.max(start, end)) return;
      if (node.getStart(source) === start && (end < 0 || node.end === end)) {
        found = node;
      } else {
        node.forEachChild(visit);
      }
    };
    source.forEachChild(visit);
    return found;
  }
}

function symbolsOf(type: TypeScript.Type): TypeScript.Symbol[] {
  return [type.getSymbol(), type.getAliasSymbol()].filter((symbol) => symbol !== undefined);
}

/** Modules and exports that do not exist. The compiler replaces the imported types by `any`. */
const UNRESOLVED_IMPORTS: ReadonlySet<number> = new Set([2305, 2306, 2307, 2459, 2614, 2724, 2792]);

/** Names and type arguments that do not exist, and types that are circular or too deep. */
const UNRESOLVED_TYPES: ReadonlySet<number> = new Set([
  2304, 2310, 2312, 2313, 2314, 2315, 2344, 2456, 2503, 2536, 2552, 2589, 2590, 2615, 2694, 2707, 2749,
]);

function findUp(folder: string, name: string): string | undefined {
  const path = join(folder, name);
  if (existsSync(path)) return path;
  const parent = dirname(folder);
  return parent === folder ? undefined : findUp(parent, name);
}
