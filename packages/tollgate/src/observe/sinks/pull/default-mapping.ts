import { catalogue, plainMetric } from "../../catalogue.ts";
import { describe } from "../../describe-statistic.ts";
import type { Tag } from "../../names.ts";
import type { RuleLabels } from "../../series.ts";
import { responseTimeBounds } from "../../timer.ts";
import { labelName, type Mapping, type ObserverShape } from "./mapping.ts";

export interface DefaultMappingOptions {
  /** `PULLSTATS_RESPONSE_TIME_AS_MILLISECONDS`: shows response times in milliseconds, under the same name. Default false. */
  readonly responseTimeAsMilliseconds?: boolean;
}

const RULE_METRIC = "ratelimit_service_rate_limit_";
const ruleHelp = new Map(
  catalogue
    .filter(({ metric }) => metric.startsWith(RULE_METRIC))
    .map(({ metric, meaning }) => [metric, meaning]),
);

/** The contract's mapping. Labels of rules come from the rules, so domains and values may contain dots. */
export function defaultMapping(options: DefaultMappingOptions = {}): Mapping {
  const inMilliseconds = options.responseTimeAsMilliseconds ?? false;
  const seconds: ObserverShape = { type: "histogram", bounds: responseTimeBounds };
  const milliseconds: ObserverShape = {
    type: "histogram",
    bounds: responseTimeBounds.map((bound) => Number((bound * 1000).toPrecision(6))),
  };
  let last: { readonly rule: RuleLabels; readonly labels: readonly Tag[] } | undefined;
  return (subject) => {
    const scaled = subject.kind === "timer" && !inMilliseconds;
    const common = { scale: scaled ? 0.001 : 1, observer: inMilliseconds ? milliseconds : seconds, ttl: 0 };
    if (subject.rule !== undefined) {
      const metric = RULE_METRIC + subject.stat;
      // The statistics of a rule are consecutive and have the same labels.
      if (subject.rule !== last?.rule)
        last = { rule: subject.rule, labels: ruleLabels(subject.rule, subject.tags) };
      return { metric, labels: last.labels, help: ruleHelp.get(metric) ?? "", ...common };
    }
    const described = describe(subject.name);
    if (described === undefined)
      return {
        metric: plainMetric(subject.name, subject.kind),
        labels: merge([], subject.tags),
        help: `Tollgate's statistic ${subject.name}.`,
        ...common,
      };
    const own = Object.entries(described.labels).map(([key, value]) => ({ key, value }));
    return {
      metric: described.metric,
      labels: merge(own, subject.tags),
      help: described.entry.meaning,
      ...common,
    };
  };
}

function ruleLabels({ domain, key1, key2 }: RuleLabels, tags: readonly Tag[]): readonly Tag[] {
  const own = [{ key: "domain", value: domain }];
  if (key1 !== "") own.push({ key: "key1", value: key1 });
  if (key2 !== "") own.push({ key: "key2", value: key2 });
  return merge(own, tags);
}

/** Adds tags as labels. A tag never replaces a label of the contract. */
function merge(own: readonly Tag[], tags: readonly Tag[]): readonly Tag[] {
  const labels = [...own];
  for (const { key, value } of tags) {
    const name = labelName(key);
    if (!labels.some((label) => label.key === name)) labels.push({ key: name, value });
  }
  return labels;
}
