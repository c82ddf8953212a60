import { sameSecret } from "@tollway/waymark/kit";

/** Passwords as hashes of PBKDF2-SHA-256, which every runtime has. A hash contains its rounds and its salt. */
export class Passwords {
  readonly #rounds: number;
  #running = 0;

  constructor(rounds: number) {
    this.#rounds = rounds;
  }

  async hash(password: string): Promise<string> {
    const salt = crypto.getRandomValues(new Uint8Array(16));
    return `${this.#rounds}:${hex(salt)}:${await this.#derive(password, salt, this.#rounds)}`;
  }

  /** Checks a password. Takes the same time without a hash, for an unknown name. */
  async isRight(password: string, hash: string | undefined): Promise<boolean> {
    const [rounds, salt = "", expected = ""] = hash?.split(":") ?? [String(this.#rounds), "00"];
    const found = await this.#derive(password, bytes(salt), Number(rounds));
    return (await sameSecret(found, expected)) && hash !== undefined;
  }

  async #derive(password: string, salt: Uint8Array<ArrayBuffer>, iterations: number): Promise<string> {
    // A hash takes a thread for a good part of a second, so strangers must not queue them without end.
    if (this.#running >= MOST_RUNNING) throw new PasswordsBusy();
    this.#running += 1;
    try {
      const secret = new TextEncoder().encode(password.normalize("NFKC"));
      const key = await crypto.subtle.importKey("raw", secret, "PBKDF2", false, ["deriveBits"]);
      const rules = { name: "PBKDF2", hash: "SHA-256", salt, iterations };
      return hex(new Uint8Array(await crypto.subtle.deriveBits(rules, key, 256)));
    } finally {
      this.#running -= 1;
    }
  }
}

/** Too many passwords are being checked. */
export class PasswordsBusy extends Error {
  constructor() {
    super("too many people log in at this moment");
  }
}

const MOST_RUNNING = 32;

function hex(of: Uint8Array): string {
  return [...of].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

function bytes(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}
