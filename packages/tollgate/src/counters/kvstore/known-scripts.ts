import { SendMode } from "./part.ts";
import { type Script, scriptHead } from "./scripts.ts";

/**
 * The scripts that a connection has already sent. Its first call of a script carries the text, later calls the digest. So
 * the server knows the script in time: a call that is sent again would come after later counts of the same key.
 */
export class KnownScripts {
  readonly #sent = new Set<Script>();

  /** The head of a call. */
  head(script: Script, keys: number, args: number, mode: number): Buffer {
    const withText = !this.#sent.has(script) || (mode & SendMode.WITH_TEXT) !== 0;
    this.#sent.add(script);
    return scriptHead(script, keys, args, withText);
  }
}
