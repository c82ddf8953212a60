import { boundaryOf, type FormField, MAX_FIELDS, malformed as malformedForm } from "../form.ts";

/** Reads a `multipart/form-data` body (RFC 7578). Throws 400 for a malformed one. */
export async function parseMultipart(bytes: Uint8Array, contentType: string): Promise<FormField[]> {
  boundaryOf(contentType);
  // Loaded with the first form, so that applications without forms start faster.
  const { Busboy } = await import("@fastify/busboy");
  return new Promise((resolve, reject) => {
    const fields: (FormField | undefined)[] = [];
    const malformed = (reason: string) => reject(malformedForm(reason));
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
      // An empty file ends after the next field has arrived, so its place is kept.
      const at = fields.push(undefined) - 1;
      const pieces: Uint8Array[] = [];
      stream.on("data", (piece: Uint8Array) => pieces.push(piece));
      stream.on("error", (error: Error) => malformed(error.message));
      stream.on("end", () => {
        if (name === undefined) return malformed("a part has no name");
        // An HTML form sends an unused file input as a nameless, empty file.
        if (pieces.length === 0 && !filename) return;
        fields[at] = [name, { filename: filename ?? "", type: type ?? "", bytes: joined(pieces) }];
      });
    });
    parser.on("partsLimit", () => malformed(`more than ${MAX_FIELDS} parts`));
    parser.on("error", (error) => malformed(error instanceof Error ? error.message : String(error)));
    parser.on("finish", () => resolve(fields.filter((field) => field !== undefined)));
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
