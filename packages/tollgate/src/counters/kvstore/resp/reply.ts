/** Replies of the Redis protocol (RESP2). */

/** An error reply of Redis 6 to a script, with the error of one of its commands. */
const scriptError = /^ERR Error running script .*?: -([A-Z]+) /;

/** An error reply. Its first word is the code: `MOVED 866 10.0.0.1:6379`. */
export class ErrorReply {
  readonly message: string;
  constructor(message: string) {
    this.message = message;
  }
  /** `OOM`, `MOVED`, `ERR`. */
  get code(): string {
    const ofScript = scriptError.exec(this.message);
    if (ofScript !== null) return ofScript[1]!;
    const space = this.message.indexOf(" ");
    return space < 0 ? this.message : this.message.slice(0, space);
  }
}

/**
 * Integers beyond 2^53 - 1 are bigints; a bulk or simple string is a string; nil is null.
 */
export type Reply = number | bigint | string | null | ErrorReply | readonly Reply[];

/** @throws {Error} if the text is not an integer */
export function toInteger(text: string): number | bigint {
  if (!/^-?\d{1,20}$/.test(text)) throw new Error(`not an integer: ${JSON.stringify(text.slice(0, 40))}`);
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : BigInt(text);
}
