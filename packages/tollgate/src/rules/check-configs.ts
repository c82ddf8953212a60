import { Unit } from "../protocol/messages.ts";
import { withCalendarMonths } from "./calendar-months.ts";
import { checkLevel, Siblings } from "./check-level.ts";
import { checkSettings } from "./check-limits.ts";
import { Names } from "./check-names.ts";
import { formatLocation } from "./diagnostic.ts";
import type { DraftConfig, DraftDescriptor, DraftLimit } from "./draft.ts";
import { isPattern } from "./pattern.ts";
import type { Report } from "./report.ts";
import type { TextIdsBuilder } from "./text-ids-builder.ts";

/** Options for loading files of rules. */
export interface LoadOptions {
  /** `MERGE_DOMAIN_CONFIG`: several files may define one domain. Their rules are in the order of the file names. */
  readonly mergeDomains: boolean;
  /** `USE_CALENDAR_MONTH_RATE_LIMIT`: `unit: month` is a calendar month in UTC unless a limit says otherwise. */
  readonly calendarMonths?: boolean | undefined;
  /** The reason why the store supports fixed windows only; undefined if it supports every algorithm. */
  readonly fixedWindowsOnly?: string | undefined;
}

/** The options alone, as plain data that threads can exchange. */
export function loadOptionsOf({ mergeDomains, calendarMonths, fixedWindowsOnly }: LoadOptions): LoadOptions {
  return { mergeDomains, calendarMonths, fixedWindowsOnly };
}

/** One domain of all files, whose rules are checked when they are asked for. */
export class CheckedDomain {
  readonly name: string;
  readonly configs: DraftConfig[];
  readonly #names = new Names();

  constructor(name: string, config: DraftConfig) {
    this.name = name;
    this.configs = [config];
  }

  /** Checks all rules, and yields them until the first error. */
  *descriptors(options: LoadOptions, texts: TextIdsBuilder, report: Report): Generator<DraftDescriptor> {
    const siblings = new Siblings(undefined, texts);
    for (const { descriptors } of this.configs)
      for (const read of descriptors) {
        const descriptor = options.calendarMonths ? withCalendarMonths(read) : read;
        checkDescriptor(descriptor, options, report);
        siblings.add(descriptor, report);
        checkLevel(descriptor.descriptors, { above: undefined, descriptor }, texts, report);
        this.#names.add(descriptor, report);
        if (!report.hasErrors) yield descriptor;
      }
    siblings.finish(report);
  }

  /** Checks the names when all rules of all domains are read. */
  finish(report: Report): void {
    this.#names.finish(this.name, report);
  }
}

/** Groups the configurations by domain. */
export function domainsOf(
  configs: readonly DraftConfig[],
  options: LoadOptions,
  report: Report,
): readonly CheckedDomain[] {
  const domains: CheckedDomain[] = [];
  const first = new Map<string, CheckedDomain>();
  for (const config of configs) {
    const name = config.domain;
    const known = name ? first.get(name) : undefined;
    if (known !== undefined && options.mergeDomains) {
      known.configs.push(config);
      continue;
    }
    if (name === "") {
      report.add("empty-domain", config.domainAt, "`domain` is missing or empty: give the rules a domain");
    } else if (known !== undefined) {
      const message = `the domain "${name}" is already defined in ${formatLocation(known.configs[0]!.domainAt)}: put its rules into one file, or set MERGE_DOMAIN_CONFIG=true`;
      report.add("duplicate-domain", config.domainAt, message);
    }
    const domain = new CheckedDomain(name ?? "", config);
    domains.push(domain);
    if (name && known === undefined) first.set(name, domain);
  }
  return domains;
}

function checkDescriptor(descriptor: DraftDescriptor, options: LoadOptions, report: Report): void {
  if (descriptor.key === "") {
    report.add(
      "empty-key",
      descriptor.keyAt,
      "`key` is missing or empty: a descriptor needs the key of its entry",
    );
  }
  if (descriptor.shareThreshold && !isPattern(descriptor.value) && descriptor.key !== undefined) {
    const found =
      descriptor.value === undefined ? "this rule has no `value`" : `this \`value\` is "${descriptor.value}"`;
    const message = `\`share_threshold\` needs a \`value\` with a wildcard (\`*\`), but ${found}`;
    report.add("share-threshold-without-wildcard", descriptor.shareThresholdAt, message);
  }
  if (descriptor.detailedMetric && descriptor.value !== undefined && !isPattern(descriptor.value)) {
    const message =
      "`detailed_metric` has no effect on a rule with an explicit `value`: the metric key shows it anyway";
    report.add("detailed-metric-on-value", descriptor.detailedMetricAt, message);
  }
  if (descriptor.limit !== undefined) checkLimit(descriptor.limit, report);
  checkSettings(descriptor, options.fixedWindowsOnly, report);
  for (const limit of descriptor.limits?.items ?? []) checkLimit(limit, report);
  for (const nested of descriptor.descriptors) checkDescriptor(nested, options, report);
}

function checkLimit(limit: DraftLimit, report: Report): void {
  if (limit.unlimited === true) checkUnlimited(limit, report);
  else if (limit.unlimited === false) checkLimited(limit, report);
  for (const { name, at } of limit.replaces) {
    if (name === "") {
      report.add("replaces-without-name", at, "an item of `replaces` has no name: write `- name: NAME`");
    } else if (name !== undefined && name === limit.name) {
      report.add("replaces-itself", at, `a limit cannot replace itself: "${name}" is its own name`);
    }
  }
}

function checkUnlimited(limit: DraftLimit, report: Report): void {
  if (typeof limit.unit === "number" && limit.unit !== Unit.UNKNOWN) {
    const message = "`unit` has no meaning with `unlimited: true`: leave out one of them";
    report.add("unit-with-unlimited", limit.unitAt, message);
  }
  if (typeof limit.requestsPerUnit === "number") {
    const message = "`requests_per_unit` has no effect with `unlimited: true`: leave out one of them";
    report.add("number-with-unlimited", limit.requestsPerUnitAt, message);
  }
}

function checkLimited(limit: DraftLimit, report: Report): void {
  if (limit.unit === "missing") {
    const message =
      "`unit` is missing: give second, minute, hour, day, week, month or year, or `unlimited: true`";
    report.add("missing-unit", limit.unitAt, message);
  }
  if (limit.requestsPerUnit === "missing") {
    const message =
      "`requests_per_unit` is missing: give the number of requests (0 blocks all), or `unlimited: true`";
    report.add("missing-requests-per-unit", limit.requestsPerUnitAt, message);
  }
}
