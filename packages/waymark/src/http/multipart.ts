import { HttpError } from "./http-error.ts";

/** A file of a form, completely read. */
export interface FormFile {
  readonly filename: string;
  /** Its media type. Empty if the client sent none. */
  readonly type: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export type FormField = readonly [name: string, value: string | FormFile];

/** Bounds the work that one request can cause. Real forms have fewer fields. */
const MAX_FIELDS = 1_000;

/** One to seventy characters (RFC 2046 section 5.1.1). */
const BOUNDARY = /;\s*boundary=(?:"[^"]{1,70}"|[^\s;"]{1,70})\s*(?:;|$)/i;

/** Reads a `multipart/form-data` body (RFC 7578). Throws 400 for a malformed one. */
export async function parseMultipart(bytes: Uint8Array, contentType: string): Promise<FormField[]> {
  if (!BOUNDARY.test(contentType))
    throw new HttpError(
      400,
      "malformed multipart body: the content type has no boundary of 1 to 70 characters",
    );
  // Loaded with the first form, so that applications without forms start faster.
  const { Busboy } = await import("@fastify/busboy");
  return new Promise((resolve, reject) => {
    const fields: FormField[] = [];
    const malformed = (reason: string) => reject(new HttpError(400, `malformed multipart body: ${reason}`));
    let parser: InstanceType<typeof Busboy>;
    try {
      parser = new Busboy({
        headers: { "content-type": contentType },
        limits: { parts: MAX_FIELDS, fieldSize: bytes.length + 1, headerPairs: 100, fieldNameSize: 1_000 },
      });
    } catch (error) {
      malformed((error as Error).message);
      return;
    }
    parser.on("field", (name: string | undefined, value: string) => {
      if (name === undefined) malformed("a part has no name");
      else fields.push([name, value]);
    });
    parser.on("file", (name: string | undefined, stream, filename: string | undefined, _encoding, type) => {
      const pieces: Uint8Array[] = [];
      stream.on("data", (piece: Uint8Array) => pieces.push(piece));
      stream.on("error", (error: Error) => malformed(error.message));
      stream.on("end", () => {
        if (name === undefined) return malformed("a part has no name");
        // An HTML form sends an unused file input as a nameless, empty file.
        if (pieces.length === 0 && !filename) return;
        fields.push([name, { filename: filename ?? "", type: type ?? "", bytes: joined(pieces) }]);
      });
    });
    parser.on("partsLimit", () => malformed(`more than ${MAX_FIELDS} parts`));
    parser.on("error", (error) => malformed(error instanceof Error ? error.message : String(error)));
    parser.on("finish", () => resolve(fields));
    parser.end(bytes);
  });
}

function joined(pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(pieces.reduce((size, piece) => size + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
