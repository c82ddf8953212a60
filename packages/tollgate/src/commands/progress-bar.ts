import type { CommandIo } from "./io.ts";

/** Milliseconds between two pictures. */
const INTERVAL = 100;
const WIDTH = 24;

/** A bar on a terminal's standard error. Prints nothing elsewhere. */
export class ProgressBar {
  readonly #stderr: CommandIo["stderr"];
  readonly #total: number | undefined;
  readonly #begin = performance.now();
  #drawn = Number.NEGATIVE_INFINITY;

  /** @param total undefined if it is unknown, as for standard input */
  constructor(stderr: CommandIo["stderr"], total: number | undefined) {
    this.#stderr = stderr;
    this.#total = total;
  }

  /** @param done of the total  @param lines lines so far */
  update(done: number, lines: number): void {
    const now = performance.now();
    if (this.#stderr.isTTY !== true || now - this.#drawn < INTERVAL) return;
    this.#drawn = now;
    const seconds = (now - this.#begin) / 1000;
    const rate = `${lines.toLocaleString("en")} lines, ${Math.round(lines / Math.max(seconds, 0.001)).toLocaleString("en")} a second`;
    this.#stderr.write(`\r\u001b[K${this.#bar(done, seconds)}${rate}`);
  }

  #bar(done: number, seconds: number): string {
    if (this.#total === undefined || this.#total === 0) return "";
    const part = Math.min(done / this.#total, 1);
    const full = Math.round(part * WIDTH);
    const left = part > 0.01 ? `, ${Math.ceil((seconds * (1 - part)) / part)} s left` : "";
    return `${"█".repeat(full)}${"░".repeat(WIDTH - full)} ${Math.floor(part * 100)} %${left}, `;
  }

  /** Removes the bar. */
  clear(): void {
    if (this.#drawn > 0) this.#stderr.write("\r\u001b[K");
  }
}
