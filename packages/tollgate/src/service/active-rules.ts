import type { LoadLog } from "../dashboard/load-log.ts";
import type { HealthComponent } from "../observe/health.ts";
import type { Logger } from "../observe/log.ts";
import type { Counter, Statistics } from "../observe/statistics.ts";
import type { CompiledRules } from "../rules/compiled-rules.ts";
import { type Diagnostic, formatDiagnostic } from "../rules/diagnostic.ts";
import { describeRule } from "../rules/dump.ts";
import { installRules, inTurns } from "../rules/install-rules.ts";
import type { IndexedRuleSet } from "../rules/rule-set.ts";
import { pageOfDiagnostic, withPage } from "../text/manual.ts";

/** The current rules: the last set that a source loaded without errors. Readers get the whole set at once. */
export class ActiveRules {
  #current: IndexedRuleSet | undefined;
  readonly #log: Logger;
  readonly #statistics: Statistics;
  readonly #successes: Counter;
  readonly #errors: Counter;
  readonly #health: HealthComponent | undefined;
  readonly #first = Promise.withResolvers<void>();

  readonly #onReplaced: (ruleSet: IndexedRuleSet) => void;
  readonly #loads: LoadLog;

  /**
   * @param health the configuration's component, if it is on; unhealthy while no domain is loaded
   * @param onReplaced called with every new set
   */
  constructor(
    log: Logger,
    statistics: Statistics,
    health: HealthComponent | undefined,
    onReplaced: (ruleSet: IndexedRuleSet) => void,
    loads: LoadLog,
  ) {
    this.#loads = loads;
    this.#onReplaced = onReplaced;
    this.#log = log;
    this.#statistics = statistics;
    this.#health = health;
    this.#successes = statistics.counter("ratelimit.service.config_load_success");
    this.#errors = statistics.counter("ratelimit.service.config_load_error");
  }

  get current(): IndexedRuleSet | undefined {
    return this.#current;
  }

  /** Resolves after the first set was loaded. */
  get first(): Promise<void> {
    return this.#first.promise;
  }

  /** Installs compiled rules in short turns of the event loop, then uses all of them at once. */
  async replace(compiled: CompiledRules, warnings: readonly Diagnostic[]): Promise<void> {
    // Dashboards show a rule before its first hit.
    const ruleSet = await installRules(compiled, (key) => this.#statistics.rule(key, false));
    this.#current = ruleSet;
    this.#onReplaced(ruleSet);
    if (this.#log.enabled("debug")) await this.#logRules(ruleSet);
    this.#successes.value++;
    this.#loads.loaded(ruleSet.domains.length, ruleSet.size, warnings);
    await inTurns(warnings, (warning) => this.#log.warn(lineOf(warning)));
    if (ruleSet.domains.length > 0) this.#health?.heal();
    else this.#health?.fail("no domain is configured");
    const domains = ruleSet.domains.length === 1 ? "1 domain" : `${ruleSet.domains.length} domains`;
    this.#log.info(`Successfully loaded new configuration: ${domains}`);
    this.#first.resolve();
  }

  /** Logs the same lines as the Go service. */
  async #logRules(ruleSet: IndexedRuleSet): Promise<void> {
    for (const domain of ruleSet.domains) this.#log.debug(`loading domain: ${domain}`);
    await inTurns(ruleSet.rules(), (rule) => {
      const { key, location, unit, requests_per_unit, shadow_mode, quota_mode } = describeRule(rule);
      const limit = `requests_per_unit=${requests_per_unit}, unit=${unit}, unlimited=${rule.unlimited}`;
      const modes = `shadow_mode=${shadow_mode}, quota_mode=${quota_mode}`;
      this.#log.debug(`loading descriptor: key=${key} ratelimit={${limit}, ${modes}} from ${location}`);
    });
  }

  /** Reports a failed load and keeps the current rules. */
  async refuse(diagnostics: readonly Diagnostic[]): Promise<void> {
    this.#errors.value++;
    this.#loads.failed(diagnostics);
    const kept = this.#current === undefined ? "no configuration is loaded" : "the previous one stays in use";
    this.#log.error(`Error loading new configuration; ${kept}`);
    await inTurns(diagnostics, (diagnostic) => {
      const line = lineOf(diagnostic);
      if (diagnostic.severity === "error") this.#log.error(line);
      else this.#log.warn(line);
    });
  }

  /** Counts a load that failed with the same errors as the last one, without a line in the log. */
  countRefusal(): void {
    this.#errors.value++;
    this.#loads.repeated();
  }
}

function lineOf(diagnostic: Diagnostic): string {
  return withPage(formatDiagnostic(diagnostic), pageOfDiagnostic(diagnostic.code));
}
