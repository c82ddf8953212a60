import { CORE_SCHEMA, load, mergeTag, YAMLException } from "js-yaml";
import type { RE2JS } from "re2js";
import { loadRe2 } from "../../re2.ts";
import { SinkConfigError } from "../../sink-config-error.ts";
import { FieldReader, type Fields, isFields } from "./field-reader.ts";
import type { ObserverShape } from "./mapping.ts";
import {
  OBSERVER_KEYS,
  type ObserverOptions,
  readDefaults,
  readObserver,
  shapeOf,
} from "./observer-options.ts";

/** One of the file's `mappings`, checked and with its defaults. */
export interface MapperRule {
  /** The parts between dots, with `*` for any one part; for `match_type: regex` the expression. */
  readonly match: readonly string[] | RE2JS;
  /** May contain `$1` and `${1}`; empty if the rule drops the statistic. */
  readonly name: string;
  readonly labels: readonly (readonly [label: string, template: string])[];
  readonly honorLabels: boolean;
  readonly drop: boolean;
  readonly kind: "counter" | "gauge" | "timer" | undefined;
  readonly help: string;
  readonly scale: number;
  readonly ttl: number;
  readonly observer: ObserverShape;
}

export interface MapperFile {
  /** Globs first, then expressions, each in the file's order: statsd_exporter tries them like this. */
  readonly rules: readonly MapperRule[];
  /** The observer of timers that no rule matches. */
  readonly observer: ObserverShape;
  readonly ttl: number;
}

const MAX_RULES = 10_000;

const defaultsKeys = [...OBSERVER_KEYS, "match_type", "glob_disable_ordering", "ttl"];
const ruleKeys = [
  ...OBSERVER_KEYS,
  "match",
  "match_type",
  "match_metric_type",
  "name",
  "labels",
  "honor_labels",
  "action",
  "help",
  "ttl",
  "scale",
];
const nameTemplate = /^(?:[a-zA-Z_:]|\$\{?\w+\}?)(?:[a-zA-Z0-9_:]|\$\{?\w+\}?)*$/;
const labelTemplate = /^[a-zA-Z_][a-zA-Z0-9_]*$/;
const globPart = /^(?:\*|[^*]+)$/;

/**
 * Reads the mapping format of statsd_exporter. Rejects unknown keys, which are probably misspelt.
 * @param path for the error message
 * @throws {SinkConfigError} with every fault of the file
 */
export function parseMapperFile(text: string, path: string): MapperFile {
  const read = new FieldReader();
  const file = new MapperReader(read).file(readYaml(text, path));
  const { faults } = read;
  if (faults.length > 0)
    throw new SinkConfigError(
      `PULLSTATS_MAPPER_YAML: ${path}:\n${faults.map((fault) => `  ${fault}`).join("\n")}`,
    );
  return file;
}

const schema = CORE_SCHEMA.withTags(mergeTag);

function readYaml(text: string, path: string): unknown {
  try {
    return load(text, { filename: path, schema });
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    const where = error.mark == null ? "" : `:${error.mark.line + 1}:${error.mark.column + 1}`;
    // The reason may quote the file, and the path may lead to a secret file by mistake.
    const reason = error.reason.replace(/\s*(?:"[^"]*"|'[^']*'|!<[^>]*>|\([^)]*\))/g, "");
    throw new SinkConfigError(`PULLSTATS_MAPPER_YAML: ${path}${where}: ${reason}`);
  }
}

class MapperReader {
  readonly #read: FieldReader;

  constructor(read: FieldReader) {
    this.#read = read;
  }

  file(root: unknown): MapperFile {
    const top = this.#read.fields(root ?? {}, "the file", ["defaults", "mappings"]);
    const defaults = this.#read.fields(top.defaults ?? {}, "defaults", defaultsKeys);
    const matchType = this.#read.oneOf(defaults, "match_type", ["glob", "regex"], "defaults") ?? "glob";
    const ttl = this.#read.duration(defaults, "ttl", "defaults") ?? 0;
    const observer = readDefaults(this.#read, defaults);
    const unordered = this.#read.boolean(defaults, "glob_disable_ordering", "defaults") ?? false;
    const list = top.mappings ?? [];
    if (!Array.isArray(list)) this.#read.fault("mappings", "must be a list");
    const mappings = Array.isArray(list) ? list : [];
    if (mappings.length > MAX_RULES) this.#read.fault("mappings", `has more than ${MAX_RULES} entries`);
    const rules = mappings
      .slice(0, MAX_RULES)
      .map((mapping, i) => this.#rule(mapping, `mapping ${i + 1}`, { matchType, ttl, observer }))
      .filter((rule) => rule !== undefined);
    const globs = rules.filter(({ match }) => Array.isArray(match));
    if (unordered) globs.sort(bySpecificity);
    return {
      rules: [...globs, ...rules.filter(({ match }) => !Array.isArray(match))],
      observer: shapeOf(observer),
      ttl,
    };
  }

  #rule(
    value: unknown,
    where: string,
    defaults: { matchType: string; ttl: number; observer: ObserverOptions },
  ): MapperRule | undefined {
    const fields = this.#read.fields(value, where, ruleKeys);
    const drop = this.#read.oneOf(fields, "action", ["map", "drop"], where) === "drop";
    const name = this.#read.string(fields, "name", where) ?? "";
    if (name === "" && !drop) this.#read.fault(where, "has no name: give the metric a name");
    if (name !== "" && !nameTemplate.test(name))
      this.#read.fault(where, `name "${name}" is not a valid metric name`);
    const matchType = this.#read.oneOf(fields, "match_type", ["glob", "regex"], where) ?? defaults.matchType;
    const match = this.#match(this.#read.string(fields, "match", where) ?? "", matchType, where);
    const scale = this.#read.number(fields, "scale", where) ?? 1;
    const observer = readObserver(this.#read, fields, where, defaults.observer);
    if (match === undefined) return undefined;
    return {
      match,
      name,
      labels: this.#labels(fields.labels, where),
      honorLabels: this.#read.boolean(fields, "honor_labels", where) ?? false,
      drop,
      kind: this.#kind(fields, where),
      help: this.#read.string(fields, "help", where) ?? "",
      scale,
      ttl: this.#read.duration(fields, "ttl", where) || defaults.ttl,
      observer: shapeOf(observer),
    };
  }

  #match(match: string, type: string, where: string): readonly string[] | RE2JS | undefined {
    if (match === "") {
      this.#read.fault(where, "has no match");
      return undefined;
    }
    if (type === "glob") {
      const parts = match.split(".");
      if (parts.every((part) => globPart.test(part))) return parts;
      this.#read.fault(
        where,
        `match "${match}": a * in a glob must be a whole part between dots; otherwise use match_type: regex`,
      );
      return undefined;
    }
    const { RE2JS, RE2JSException } = loadRe2();
    try {
      return RE2JS.compile(match);
    } catch (error) {
      if (!(error instanceof RE2JSException)) throw error;
      this.#read.fault(where, `match "${match}" is not a valid RE2 regular expression: ${error.message}`);
      return undefined;
    }
  }

  #labels(value: unknown, where: string): readonly (readonly [string, string])[] {
    if (value == null) return [];
    if (!isFields(value)) {
      this.#read.fault(where, "labels must be a map of label: value");
      return [];
    }
    return Object.entries(value).map(([label, template]) => {
      if (!labelTemplate.test(label)) this.#read.fault(where, `label "${label}" is not a valid label name`);
      if (typeof template !== "object") return [label, String(template)] as const;
      this.#read.fault(where, `label "${label}" must have a text as its value`);
      return [label, ""] as const;
    });
  }

  #kind(fields: Fields, where: string): MapperRule["kind"] {
    const kind = this.#read.oneOf(
      fields,
      "match_metric_type",
      ["counter", "gauge", "timer", "observer"],
      where,
    );
    return kind === "observer" ? "timer" : (kind as MapperRule["kind"]);
  }
}

/** Order of `glob_disable_ordering`: at the first part where two globs differ, a literal comes before a `*`. */
function bySpecificity(a: MapperRule, b: MapperRule): number {
  const left = a.match as readonly string[];
  const right = b.match as readonly string[];
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    const difference = Number(left[i] === "*") - Number(right[i] === "*");
    if (difference !== 0) return difference;
  }
  return 0;
}
