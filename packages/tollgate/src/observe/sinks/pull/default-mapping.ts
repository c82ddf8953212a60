import { CATALOGUE, describe, plainMetric } from "../../catalogue.ts";
import type { Tag } from "../../names.ts";
import { RESPONSE_TIME_BOUNDS } from "../../timer.ts";
import { labelName, type Mapping, type ObserverShape } from "./mapping.ts";

export interface DefaultMappingOptions {
  /** `PULLSTATS_RESPONSE_TIME_AS_MILLISECONDS`: response times keep their name and are in milliseconds. Default false. */
  readonly responseTimeAsMilliseconds?: boolean;
}

const RULE_METRIC = "ratelimit_service_rate_limit_";
const ruleHelp = new Map(
  CATALOGUE.filter(({ metric }) => metric.startsWith(RULE_METRIC)).map(({ metric, meaning }) => [
    metric,
    meaning,
  ]),
);

/** The names of the contract. Labels of rules come from the rules, so a dot in a domain or a value is no trouble. */
export function defaultMapping(options: DefaultMappingOptions = {}): Mapping {
  const inMilliseconds = options.responseTimeAsMilliseconds ?? false;
  const seconds: ObserverShape = { type: "histogram", bounds: RESPONSE_TIME_BOUNDS };
  const milliseconds: ObserverShape = {
    type: "histogram",
    bounds: RESPONSE_TIME_BOUNDS.map((bound) => Number((bound * 1000).toPrecision(6))),
  };
  return (subject) => {
    const scaled = subject.kind === "timer" && !inMilliseconds;
    const common = { scale: scaled ? 0.001 : 1, observer: inMilliseconds ? milliseconds : seconds, ttl: 0 };
    if (subject.rule !== undefined) {
      const metric = RULE_METRIC + subject.stat;
      const own = [
        { key: "domain", value: subject.rule.domain },
        { key: "key1", value: subject.rule.key1 },
        { key: "key2", value: subject.rule.key2 },
      ].filter(({ key, value }) => key === "domain" || value !== "");
      return { metric, labels: merge(own, subject.tags), help: ruleHelp.get(metric) ?? "", ...common };
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

/** A tag never takes the place of a label of the contract. */
function merge(own: readonly Tag[], tags: readonly Tag[]): readonly Tag[] {
  const labels = [...own];
  for (const { key, value } of tags) {
    const name = labelName(key);
    if (!labels.some((label) => label.key === name)) labels.push({ key: name, value });
  }
  return labels;
}
