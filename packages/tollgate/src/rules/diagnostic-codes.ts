/**
 * Every diagnostic there is: a stable id, which stands in SARIF files and in scripts and is never reused for another
 * meaning; whether it keeps the configuration from being loaded; and what it is about.
 */
export const diagnosticCodes = {
  "missing-directory": { severity: "error", meaning: "The configuration directory is not there." },
  "unreadable-file": { severity: "error", meaning: "A configuration file that cannot be read." },
  "undecodable-resource": {
    severity: "error",
    meaning: "A management server's resource that does not decode.",
  },
  "yaml-syntax": { severity: "error", meaning: "The file is not YAML." },
  "invalid-utf8": { severity: "error", meaning: "The file is not UTF-8." },
  "lone-surrogate": { severity: "error", meaning: "A text with half of a surrogate pair." },
  "too-large": { severity: "error", meaning: "The file is larger than any configuration." },
  "too-deep": { severity: "error", meaning: "Descriptors, metadata or YAML are nested too deeply." },
  "too-many-nodes": { severity: "error", meaning: "Aliases make the file stand for a huge one." },
  "second-document": { severity: "error", meaning: "A file holds one YAML document." },
  "unknown-tag": { severity: "error", meaning: "A YAML tag that means nothing here." },
  "unknown-alias": { severity: "error", meaning: "An alias without an anchor before it." },
  "duplicate-yaml-key": { severity: "error", meaning: "A key stands twice in one mapping." },
  "unknown-key": { severity: "error", meaning: "A key that the language does not have." },
  "misplaced-key": { severity: "error", meaning: "A key of the language in the wrong mapping." },
  "wrong-type": {
    severity: "error",
    meaning: "A list, mapping, text, number or boolean where another is meant.",
  },
  "empty-domain": { severity: "error", meaning: "`domain` is missing or empty." },
  "duplicate-domain": {
    severity: "error",
    meaning: "Two files define one domain, and `MERGE_DOMAIN_CONFIG` is off.",
  },
  "missing-descriptors": { severity: "error", meaning: "`descriptors` is missing at the top level." },
  "empty-key": { severity: "error", meaning: "A descriptor without a `key`." },
  "duplicate-descriptor": {
    severity: "error",
    meaning: "Two descriptors of one level have the same key and value.",
  },
  "unknown-unit": { severity: "error", meaning: "A `unit` that is none." },
  "missing-unit": { severity: "error", meaning: "A limit without a `unit`." },
  "missing-requests-per-unit": { severity: "error", meaning: "A limit without `requests_per_unit`." },
  "unit-with-unlimited": { severity: "error", meaning: "A `unit` together with `unlimited: true`." },
  "bad-number": { severity: "error", meaning: "A number that is negative, too large or not whole." },
  "replaces-without-name": { severity: "error", meaning: "An item of `replaces` without a name." },
  "replaces-itself": { severity: "error", meaning: "A limit that replaces itself." },
  "replaces-cycle": { severity: "error", meaning: "Limits that replace each other in a circle." },
  "share-threshold-without-wildcard": {
    severity: "error",
    meaning: "`share_threshold` on a rule whose `value` has no `*`.",
  },
  "bad-metadata": { severity: "error", meaning: "A number in `metadata` that JSON cannot carry." },
  "number-with-unlimited": {
    severity: "warning",
    meaning: "`requests_per_unit` together with `unlimited: true`.",
  },
  "replaces-unknown-name": { severity: "warning", meaning: "No rule of the domain has the replaced name." },
  "null-descriptors": { severity: "warning", meaning: "`descriptors:` with nothing behind it." },
  "null-rate-limit": { severity: "warning", meaning: "`rate_limit:` with nothing behind it: no limit." },
  "empty-value": { severity: "warning", meaning: "An empty `value`, which is the same as none." },
  "never-matches": { severity: "warning", meaning: "Other rules come before this one for all its values." },
  "equal-wildcards": {
    severity: "warning",
    meaning: "Two wildcards are equally specific for the same values: their order decides.",
  },
  "detailed-metric-on-value": {
    severity: "warning",
    meaning: "`detailed_metric` on a rule with an explicit `value` has no effect.",
  },
  "duplicate-name": { severity: "warning", meaning: "Two limits of a domain have the same name." },
  "too-many-diagnostics": { severity: "warning", meaning: "There is more than is shown." },
  "no-files": { severity: "warning", meaning: "A configuration directory without `*.yaml` files." },
  "ignored-file": { severity: "warning", meaning: "A `.yml` file, which is not read." },
} as const satisfies Readonly<Record<string, { severity: "error" | "warning"; meaning: string }>>;

export type DiagnosticCode = keyof typeof diagnosticCodes;
