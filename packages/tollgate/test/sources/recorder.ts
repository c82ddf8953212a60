import { createLogger, type Logger } from "../../src/observe/log.ts";
import { type Diagnostic, formatDiagnostic } from "../../src/rules/diagnostic.ts";
import type { RuleSet } from "../../src/rules/rule.ts";
import type { SourceEvents } from "../../src/sources/source.ts";

/** One call of a source, as plain text to compare. */
export interface Recorded {
  /** Sorted names of the domains; undefined for a failed load. */
  readonly domains: readonly string[] | undefined;
  readonly ruleSet: RuleSet | undefined;
  readonly diagnostics: readonly string[];
}

/** Keeps what a source says, and lets a test wait for it. */
export class Recorder implements SourceEvents {
  readonly all: Recorded[] = [];
  /** Failed loads, the repeated ones included. */
  failures = 0;
  #taken = 0;
  #waiting: PromiseWithResolvers<void> | undefined;

  onRules(ruleSet: RuleSet, diagnostics: readonly Diagnostic[]): void {
    this.#add({ domains: [...ruleSet.domains], ruleSet, diagnostics: diagnostics.map(formatDiagnostic) });
  }

  onError(diagnostics: readonly Diagnostic[]): void {
    this.failures++;
    this.#add({ domains: undefined, ruleSet: undefined, diagnostics: diagnostics.map(formatDiagnostic) });
  }

  onRepeatedError(): void {
    this.failures++;
  }

  /** The next call that nobody has waited for yet. */
  async next(): Promise<Recorded> {
    while (this.#taken === this.all.length) {
      this.#waiting ??= Promise.withResolvers();
      await this.#waiting.promise;
    }
    return this.all[this.#taken++]!;
  }

  /** Waits, past other calls, for one that loaded exactly these domains. */
  async domains(...names: string[]): Promise<Recorded> {
    for (;;) {
      const recorded = await this.next();
      if (recorded.domains?.join() === names.join()) return recorded;
    }
  }

  /** How many calls nobody has waited for. */
  get left(): number {
    return this.all.length - this.#taken;
  }

  #add(recorded: Recorded): void {
    this.all.push(recorded);
    this.#waiting?.resolve();
    this.#waiting = undefined;
  }
}

/** A logger whose lines a test can read. */
export function memoryLog(): { readonly log: Logger; readonly lines: string[] } {
  const lines: string[] = [];
  const log = createLogger({
    level: "debug",
    writer: { write: (line) => void lines.push(line), flush: async () => {}, dropped: 0 },
  });
  return { log, lines };
}
