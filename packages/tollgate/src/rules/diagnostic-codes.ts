/**
 * All diagnostics. The ids are stable: SARIF files and scripts contain them, and no id is reused for another meaning.
 * An error prevents the configuration from being loaded; a warning does not.
 */
export const diagnosticCodes = {
  "missing-directory": { severity: "error", meaning: "The configuration directory does not exist." },
  "unreadable-file": { severity: "error", meaning: "A configuration file cannot be read." },
  "changing-files": { severity: "error", meaning: "The files changed during each attempt to read them." },
  "undecodable-resource": {
    severity: "error",
    meaning: "A resource of the management server cannot be decoded.",
  },
  "compiler-failed": {
    severity: "error",
    meaning: "The rules could not be compiled, for example because memory ran out.",
  },
  "yaml-syntax": { severity: "error", meaning: "The file is not valid YAML." },
  "invalid-utf8": { severity: "error", meaning: "The file is not valid UTF-8." },
  "lone-surrogate": { severity: "error", meaning: "A text has a lone surrogate." },
  "too-large": { severity: "error", meaning: "The file is too large." },
  "too-deep": { severity: "error", meaning: "Descriptors, metadata or YAML are nested too deeply." },
  "too-many-nodes": { severity: "error", meaning: "Aliases expand the file to too many nodes." },
  "second-document": { severity: "error", meaning: "The file has more than one YAML document." },
  "unknown-tag": { severity: "error", meaning: "Unknown YAML tag." },
  "unknown-alias": { severity: "error", meaning: "An alias has no anchor before it." },
  "duplicate-yaml-key": { severity: "error", meaning: "A mapping has the same key twice." },
  "unknown-key": { severity: "error", meaning: "Unknown key." },
  "ignored-name": {
    severity: "warning",
    meaning: "A `name` at the top level has no effect. Dumps of management servers contain it.",
  },
  "misplaced-key": { severity: "error", meaning: "A known key is in the wrong mapping." },
  "wrong-type": {
    severity: "error",
    meaning: "A field has a value of the wrong type.",
  },
  "empty-domain": { severity: "error", meaning: "`domain` is missing or empty." },
  "duplicate-domain": {
    severity: "error",
    meaning: "Two files define the same domain, and `MERGE_DOMAIN_CONFIG` is off.",
  },
  "missing-descriptors": { severity: "error", meaning: "`descriptors` is missing at the top level." },
  "empty-key": { severity: "error", meaning: "A descriptor has no `key`." },
  "duplicate-descriptor": {
    severity: "error",
    meaning: "Two descriptors of one level have the same key and value.",
  },
  "unknown-unit": { severity: "error", meaning: "Unknown `unit`." },
  "missing-unit": { severity: "error", meaning: "A limit has no `unit`." },
  "missing-requests-per-unit": { severity: "error", meaning: "A limit has no `requests_per_unit`." },
  "unit-with-unlimited": { severity: "error", meaning: "A limit has a `unit` and `unlimited: true`." },
  "bad-number": { severity: "error", meaning: "A number is negative, too large or not whole." },
  "unknown-name": {
    severity: "error",
    meaning: "A field has an unknown name: an algorithm, a way of counting or a weekday.",
  },
  "rate-limit-twice": { severity: "error", meaning: "A descriptor has `rate_limit` and `rate_limits`." },
  "bad-list-of-limits": {
    severity: "error",
    meaning: "`rate_limits` has no limits, too many, or a setting that a list cannot have.",
  },
  "equal-limits": {
    severity: "error",
    meaning: "Two limits of a list have the same counter or the same name in statistics.",
  },
  "setting-of-another-algorithm": {
    severity: "error",
    meaning: "A limit has a setting that its algorithm does not have.",
  },
  "bad-calendar": {
    severity: "error",
    meaning: "A `calendar` with a unit or a multiplier that it cannot have.",
  },
  "unknown-time-zone": { severity: "error", meaning: "The time zone database does not have the time zone." },
  "window-too-long": { severity: "error", meaning: "The window of a limit is longer than ten years." },
  "unsupported-algorithm": { severity: "error", meaning: "The store does not support the algorithm." },
  "replaces-without-name": { severity: "error", meaning: "An item of `replaces` has no name." },
  "replaces-itself": { severity: "error", meaning: "A limit replaces itself." },
  "replaces-cycle": { severity: "error", meaning: "Limits replace each other in a circle." },
  "share-threshold-without-wildcard": {
    severity: "error",
    meaning: "A rule has `share_threshold`, but its `value` has no `*`.",
  },
  "bad-metadata": { severity: "error", meaning: "A number in `metadata` cannot be written as JSON." },
  "number-with-unlimited": {
    severity: "warning",
    meaning: "A limit has `requests_per_unit` and `unlimited: true`.",
  },
  "replaces-unknown-name": { severity: "warning", meaning: "No rule of the domain has the replaced name." },
  "null-descriptors": { severity: "warning", meaning: "`descriptors:` has no value." },
  "null-rate-limit": {
    severity: "warning",
    meaning: "`rate_limit:` has no value, so the rule has no limit.",
  },
  "empty-value": { severity: "warning", meaning: "An empty `value` is the same as no `value`." },
  "never-matches": { severity: "warning", meaning: "Other rules match all values of this rule first." },
  "equal-wildcards": {
    severity: "warning",
    meaning: "Two wildcards match the same values and are equally specific: their order decides.",
  },
  "detailed-metric-on-value": {
    severity: "warning",
    meaning: "`detailed_metric` has no effect on a rule with an explicit `value`.",
  },
  "duplicate-name": { severity: "warning", meaning: "Two limits of a domain have the same name." },
  "bad-test": {
    severity: "error",
    meaning: "A field of a test file is missing, or two fields exclude each other.",
  },
  "too-many-diagnostics": { severity: "warning", meaning: "More diagnostics were found than are shown." },
  "no-files": { severity: "warning", meaning: "The configuration directory has no `*.yaml` files." },
  "ignored-file": { severity: "warning", meaning: "A `.yml` file is ignored." },
} as const satisfies Readonly<Record<string, { severity: "error" | "warning"; meaning: string }>>;

/** The kind of a fault, such as `yaml-syntax`. Stable: no code is reused for another meaning. */
export type DiagnosticCode = keyof typeof diagnosticCodes;
