import { boundaryOf, type FormField, MAX_FIELDS, malformed } from "./form.ts";

/**
 * Reads a `multipart/form-data` body with the platform's own parser, which has no limits and accepts forms that are cut
 * off. So the parts are counted first. Throws 400 for a malformed body.
 */
export async function formData(bytes: Uint8Array, contentType: string): Promise<FormField[]> {
  const { parts, isClosed } = outline(bytes, new TextEncoder().encode(`--${boundaryOf(contentType)}`));
  if (parts > MAX_FIELDS) throw malformed(`more than ${MAX_FIELDS} parts`);
  if (!isClosed) throw malformed("it has no end");
  let form: FormData;
  try {
    const body = new Response(bytes as Uint8Array<ArrayBuffer>, { headers: { "content-type": contentType } });
    form = await body.formData();
  } catch (error) {
    throw malformed(error instanceof Error ? error.message : String(error));
  }
  const fields: FormField[] = [];
  for (const [name, value] of form as unknown as Iterable<[string, string | File]>) {
    if (typeof value === "string") fields.push([name, value]);
    else if (value.size > 0 || value.name !== "") {
      // An HTML form sends an unused file input as a nameless, empty file.
      const content = new Uint8Array(await value.arrayBuffer());
      fields.push([name, { filename: value.name, type: value.type, bytes: content }]);
    }
  }
  return fields;
}

const DASH = 0x2d;
const LINE_FEED = 0x0a;

/** Counts the lines that begin with the delimiter, and looks for the closing one (RFC 2046 section 5.1.1). */
function outline(bytes: Uint8Array, delimiter: Uint8Array): { parts: number; isClosed: boolean } {
  let parts = 0;
  for (let at = bytes.indexOf(DASH); at !== -1; at = bytes.indexOf(DASH, at + 1)) {
    if (at > 0 && bytes[at - 1] !== LINE_FEED) continue;
    if (!delimiter.every((byte, index) => bytes[at + index] === byte)) continue;
    const end = at + delimiter.length;
    if (bytes[end] === DASH && bytes[end + 1] === DASH) return { parts, isClosed: true };
    parts++;
  }
  return { parts, isClosed: false };
}
