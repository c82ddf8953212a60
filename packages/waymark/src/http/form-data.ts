import { boundaryOf, type FormField, MAX_FIELDS, malformed } from "./form.ts";

/**
 * Reads a `multipart/form-data` body with the platform's own parser, which has no limits and accepts forms that are cut
 * off. So the parts are found first, with their types. Throws 400 for a malformed body.
 */
export async function formData(bytes: Uint8Array, contentType: string): Promise<FormField[]> {
  const { types, isClosed } = outline(bytes, new TextEncoder().encode(`--${boundaryOf(contentType)}`));
  if (types.length > MAX_FIELDS) throw malformed(`more than ${MAX_FIELDS} parts`);
  if (!isClosed) throw malformed("it has no end");
  let form: FormData;
  try {
    const body = new Response(bytes as Uint8Array<ArrayBuffer>, { headers: { "content-type": contentType } });
    form = await body.formData();
  } catch (error) {
    throw malformed(error instanceof Error ? error.message : String(error));
  }
  const fields: FormField[] = [];
  let part = 0;
  for (const [name, value] of form as unknown as Iterable<[string, string | File]>) {
    const own = types[part++];
    if (typeof value === "string") fields.push([name, value]);
    else if (value.size > 0 || value.name !== "") {
      // An HTML form sends an unused file input as a nameless, empty file.
      const content = new Uint8Array(await value.arrayBuffer());
      // Bun's parser takes the type from the file's name.
      const type = own ?? value.type;
      fields.push([name, { filename: value.name, type, bytes: content }]);
    }
  }
  if (part !== types.length) throw malformed("its parts are not separated by the boundary alone");
  return fields;
}

const CARRIAGE_RETURN = 0x0d;
const DASH = 0x2d;
const LINE_FEED = 0x0a;
/** Longest head of a part. Real ones are far shorter. */
const LONGEST_HEAD = 8_192;

interface Outline {
  /** The media type of each part, in order. Undefined for a part without one. */
  readonly types: (string | undefined)[];
  readonly isClosed: boolean;
}

/** Finds the lines that begin with the delimiter, and looks for the closing one (RFC 2046 section 5.1.1). */
function outline(bytes: Uint8Array, delimiter: Uint8Array): Outline {
  const types: (string | undefined)[] = [];
  for (let at = bytes.indexOf(DASH); at !== -1; at = bytes.indexOf(DASH, at + 1)) {
    if (at > 0 && (bytes[at - 1] !== LINE_FEED || bytes[at - 2] !== CARRIAGE_RETURN)) continue;
    if (!delimiter.every((byte, index) => bytes[at + index] === byte)) continue;
    const end = at + delimiter.length;
    if (bytes[end] === DASH && bytes[end + 1] === DASH) return { types, isClosed: true };
    types.push(typeOfPart(bytes.subarray(end, end + LONGEST_HEAD)));
    if (types.length > MAX_FIELDS) break;
  }
  return { types, isClosed: false };
}

function typeOfPart(start: Uint8Array): string | undefined {
  const text = new TextDecoder().decode(start);
  const head = text.slice(0, text.indexOf("\r\n\r\n"));
  return /^content-type:[ \t]*([^;\r\n]*?)[ \t]*(?:;|$)/im.exec(head)?.[1]?.toLowerCase();
}
