/**
 * Masks the credentials of every URL in a text: `redis://user:pa@ss@host` becomes `redis://*****@host`. A password may
 * contain `@` or `/`, so everything up to the last `@` of the word is masked. Linear in the text's length.
 */
export function maskCredentials(text: string): string {
  let from = text.indexOf("://");
  if (from === -1) return text;
  let masked = "";
  let copied = 0;
  while (from !== -1) {
    const start = from + 3;
    const end = wordEnd(text, start);
    const at = text.lastIndexOf("@", end - 1);
    if (at >= start) {
      masked += `${text.slice(copied, start)}*****`;
      copied = at;
    }
    from = text.indexOf("://", end);
  }
  return masked + text.slice(copied);
}

function wordEnd(text: string, from: number): number {
  for (let i = from; i < text.length; i++) {
    const c = text.charCodeAt(i);
    // white space, quotes, a comma
    if (c <= 0x20 || c === 0x22 || c === 0x27 || c === 0x2c || c === 0x60) return i;
  }
  return text.length;
}
