import { createLogger, type Logger } from "../../src/observe/log.ts";
import type { CompiledRules } from "../../src/rules/compiled-rules.ts";
import { type Diagnostic, formatDiagnostic } from "../../src/rules/diagnostic.ts";
import type { RuleSet } from "../../src/rules/rule.ts";
import { IndexedRuleSet } from "../../src/rules/rule-set.ts";
import type { SourceEvents } from "../../src/sources/source.ts";

/** One event of a source, in a form that tests can compare. */
export interface Recorded {
  /** Sorted names of the domains; undefined for a failed load. */
  readonly domains: readonly string[] | undefined;
  readonly ruleSet: RuleSet | undefined;
  readonly diagnostics: readonly string[];
}

/** Records the events of a source. Tests can wait for them. */
export class Recorder implements SourceEvents {
  readonly all: Recorded[] = [];
  /** Number of failed loads, including repeated ones. */
  failures = 0;
  #taken = 0;
  #waiting: PromiseWithResolvers<void> | undefined;

  onRules(compiled: CompiledRules, diagnostics: readonly Diagnostic[]): void {
    const ruleSet = new IndexedRuleSet(compiled);
    this.#add({ domains: [...ruleSet.domains], ruleSet, diagnostics: diagnostics.map(formatDiagnostic) });
  }

  onError(diagnostics: readonly Diagnostic[]): void {
    this.failures++;
    this.#add({ domains: undefined, ruleSet: undefined, diagnostics: diagnostics.map(formatDiagnostic) });
  }

  onRepeatedError(): void {
    this.failures++;
  }

  /** Returns the next event. */
  async next(): Promise<Recorded> {
    while (this.#taken === this.all.length) {
      this.#waiting ??= Promise.withResolvers();
      await this.#waiting.promise;
    }
    return this.all[this.#taken++]!;
  }

  /** Waits for a load of exactly these domains. Skips other events. */
  async domains(...names: string[]): Promise<Recorded> {
    for (;;) {
      const recorded = await this.next();
      if (recorded.domains?.join() === names.join()) return recorded;
    }
  }

  /** Waits for a failed load whose diagnostics match. Skips other events: a poll may see one edit twice. */
  async failure(pattern: RegExp): Promise<Recorded> {
    for (;;) {
      const recorded = await this.next();
      if (recorded.domains === undefined && pattern.test(recorded.diagnostics.join())) return recorded;
    }
  }

  /** Number of events that the test has not taken. */
  get left(): number {
    return this.all.length - this.#taken;
  }

  #add(recorded: Recorded): void {
    this.all.push(recorded);
    this.#waiting?.resolve();
    this.#waiting = undefined;
  }
}

/** Creates a logger with lines that a test can read. */
export function memoryLog(): { readonly log: Logger; readonly lines: string[] } {
  const lines: string[] = [];
  const log = createLogger({
    level: "debug",
    writer: { write: (line) => void lines.push(line), flush: async () => {}, dropped: 0 },
  });
  return { log, lines };
}
