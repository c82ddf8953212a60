import type { HealthComponent } from "../observe/health.ts";
import type { Logger } from "../observe/log.ts";
import type { Counter, Statistics } from "../observe/statistics.ts";
import { type Diagnostic, formatDiagnostic } from "../rules/diagnostic.ts";
import { describeRule } from "../rules/dump.ts";
import type { IndexedRuleSet } from "../rules/rule-set.ts";

/** The rules in force: what a source last loaded without a fault. Readers take the whole set at once. */
export class ActiveRules {
  #current: IndexedRuleSet | undefined;
  readonly #log: Logger;
  readonly #statistics: Statistics;
  readonly #successes: Counter;
  readonly #errors: Counter;
  readonly #health: HealthComponent | undefined;
  readonly #first = Promise.withResolvers<void>();

  readonly #onReplaced: (ruleSet: IndexedRuleSet) => void;

  /**
   * @param health the configuration's component, where it is on: ill while no domain is loaded
   * @param onReplaced hears of every set that comes into force
   */
  constructor(
    log: Logger,
    statistics: Statistics,
    health: HealthComponent | undefined,
    onReplaced: (ruleSet: IndexedRuleSet) => void,
  ) {
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

  /** Resolves with the first set that loads. */
  get first(): Promise<void> {
    return this.#first.promise;
  }

  replace(ruleSet: IndexedRuleSet, warnings: readonly Diagnostic[]): void {
    // So that dashboards see a rule before it is first hit.
    for (const { metricKey } of ruleSet.fixedMatches()) this.#statistics.rule(metricKey, false);
    this.#current = ruleSet;
    this.#onReplaced(ruleSet);
    if (this.#log.enabled("debug")) this.#logRules(ruleSet);
    this.#successes.value++;
    for (const warning of warnings) this.#log.warn(formatDiagnostic(warning));
    if (ruleSet.domains.length > 0) this.#health?.heal();
    else this.#health?.fail("no domain is configured");
    const domains = ruleSet.domains.length === 1 ? "1 domain" : `${ruleSet.domains.length} domains`;
    this.#log.info(`Successfully loaded new configuration: ${domains}`);
    this.#first.resolve();
  }

  /** As the Go service says it. */
  #logRules(ruleSet: IndexedRuleSet): void {
    for (const domain of ruleSet.domains) this.#log.debug(`loading domain: ${domain}`);
    for (const rule of ruleSet.rules()) {
      const { key, location, unit, requests_per_unit, shadow_mode, quota_mode } = describeRule(rule);
      const limit = `requests_per_unit=${requests_per_unit}, unit=${unit}, unlimited=${rule.unlimited}`;
      const modes = `shadow_mode=${shadow_mode}, quota_mode=${quota_mode}`;
      this.#log.debug(`loading descriptor: key=${key} ratelimit={${limit}, ${modes}} from ${location}`);
    }
  }

  /** Keeps what was in force. */
  refuse(diagnostics: readonly Diagnostic[]): void {
    this.countRefusal();
    const kept = this.#current === undefined ? "no configuration is loaded" : "the old one stays in force";
    this.#log.error(`Error loading new configuration; ${kept}`);
    for (const diagnostic of diagnostics) {
      const line = formatDiagnostic(diagnostic);
      if (diagnostic.severity === "error") this.#log.error(line);
      else this.#log.warn(line);
    }
  }

  /** Counts a failed load without a line in the log. */
  countRefusal(): void {
    this.#errors.value++;
  }
}
