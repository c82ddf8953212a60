import type { TypeNode } from "../model/signature.ts";
import { SignatureError } from "../model/signature-error.ts";
import type { Asked } from "../source/asked.ts";
import { UNKNOWN, unionOf } from "../source/combine.ts";
import { ERROR_NAME, OWN_TYPES, PROMISES, problemOf, STREAMS } from "../source/returns.ts";
import type { TypeReader } from "../source/type-reader.ts";
import { CheckedTypeReader } from "./checked-type-reader.ts";
import type { CheckedType, TypeProgram } from "./type-view.ts";

/** Bounds the time for the type of a large library, which no document needs. */
const MAXIMUM_PARTS = 2_000;

/** Classes of Node whose objects are sent as bytes. */
const NODE_STREAMS =
  /^(?:Readable|Duplex|Transform|PassThrough|ReadStream|IncomingMessage|Socket|(?:Gun|Un)zip|Gzip|Inflate(?:Raw)?|Deflate(?:Raw)?|Brotli(?:C|Dec)ompress)$/;

/**
 * The inferred return type of a method, without its `Promise`. Undefined if it says nothing: `any`, or a type of which
 * no part can be represented. A problem remains known beside a type that cannot be represented.
 */
export function readReturned(
  type: CheckedType,
  asked: Asked,
  reader: TypeReader,
  program: TypeProgram,
): TypeNode | undefined {
  const checked = new CheckedTypeReader(program, reader, MAXIMUM_PARTS);
  const returns = new ReturnReader(checked, asked, program).read(type);
  const members = returns.kind === "union" ? returns.members : [returns];
  const isSilent = ({ kind }: TypeNode): boolean => kind === "unknown" || kind === "unreadable";
  return members.every(isSilent) ? undefined : returns;
}

class ReturnReader {
  readonly #checked: CheckedTypeReader;
  readonly #asked: Asked;
  readonly #program: TypeProgram;

  constructor(checked: CheckedTypeReader, asked: Asked, program: TypeProgram) {
    this.#checked = checked;
    this.#asked = asked;
    this.#program = program;
  }

  read(type: CheckedType): TypeNode {
    const view = this.#program.view(type);
    if (view.kind === "union" && view.members.some((member) => this.#isReturned(member)))
      return unionOf(view.members.map((member) => this.read(member)));
    return this.#returned(type) ?? this.#data(type);
  }

  #isReturned(type: CheckedType): boolean {
    try {
      return this.#returned(type) !== undefined;
    } catch (error) {
      if (error instanceof SignatureError) return true;
      throw error;
    }
  }

  #data(type: CheckedType): TypeNode {
    try {
      return this.#checked.read(type, this.#asked);
    } catch (error) {
      if (!(error instanceof SignatureError)) throw error;
      return { kind: "unreadable", text: this.#program.text(type) };
    }
  }

  /** A type that only a return type can have. Undefined for data. */
  #returned(type: CheckedType): TypeNode | undefined {
    const reference = this.#program.reference(type);
    if (!reference) return undefined;
    const { name, isLibrary, files, arguments: own } = reference;
    const [first, second] = own;
    if (!isLibrary) {
      if (!files.some((file) => OWN_TYPES.test(file))) return undefined;
      if (name === "HttpError") return { kind: "problem" };
      if (name === "ServerSentEvent") return first ? this.read(first) : UNKNOWN;
      if (name !== "Problem") return undefined;
      return problemOf(first && this.#checked.read(first, this.#asked), () => this.#members(second));
    }
    if (PROMISES.has(name) && first) return this.read(first);
    if (STREAMS.has(name)) return { kind: "stream", items: first ? this.read(first) : UNKNOWN };
    if (NODE_STREAMS.test(name)) return { kind: "stream", items: { kind: "bytes" } };
    if (name === "Response") return { kind: "response" };
    if (name === "Buffer" || name === "ArrayBuffer") return { kind: "bytes" };
    return ERROR_NAME.test(name) ? { kind: "problem" } : undefined;
  }

  /** The members of a problem. Undefined without any. */
  #members(type: CheckedType | undefined): TypeNode | undefined {
    const members = type && this.#checked.read(type, this.#asked);
    return members?.kind === "object" ? members : undefined;
  }
}
