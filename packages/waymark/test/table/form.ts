export const BOUNDARY = "----tollway";
export const MULTIPART = `multipart/form-data; boundary=${BOUNDARY}`;

/** A part of a form: its name, its content, and a file's name and type. */
export interface Part {
  readonly name: string;
  readonly content: string;
  readonly filename?: string;
  readonly type?: string;
}

/** Formats a `multipart/form-data` body. */
export function multipart(...parts: readonly Part[]): string {
  const written = parts.map(({ name, content, filename, type }) => {
    const file = filename === undefined ? "" : `; filename="${filename}"`;
    const kind = type === undefined ? "" : `\r\ncontent-type: ${type}`;
    return `--${BOUNDARY}\r\ncontent-disposition: form-data; name="${name}"${file}${kind}\r\n\r\n${content}\r\n`;
  });
  return `${written.join("")}--${BOUNDARY}--\r\n`;
}
