/** All fields of a test file: one table for the reader, the hints and the JSON Schema. */

/** The kinds of mappings in a test file. */
export type Place = "file" | "settings" | "test" | "step" | "descriptor" | "limit" | "expect" | "status";

export type FieldType =
  | "text"
  | "boolean"
  | "count"
  | "repeat"
  | "instant"
  | "duration"
  | "unit"
  | "entries"
  | "request"
  | "code"
  | "remaining"
  | "settings"
  | "limit"
  | "tests"
  | "steps"
  | "expect"
  | "statuses";

export interface Field {
  readonly name: string;
  readonly type: FieldType;
  readonly required: boolean;
  readonly meaning: string;
}

/** The name of each kind of mapping in messages. */
export const placeNames: Readonly<Record<Place, string>> = {
  file: "at the top level",
  settings: "in `settings`",
  test: "in a test",
  step: "in a step",
  descriptor: "in a descriptor",
  limit: "in `limit`",
  expect: "in `expect`",
  status: "in an item of `descriptors`",
};

function field(name: string, type: FieldType, required: boolean, meaning: string): Field {
  return { name, type, required, meaning };
}

/** The fields of an expected answer to one descriptor. `code` of a whole request is the overall code. */
const STATUS = [
  field("code", "code", false, "The expected code: `OK` or `OVER_LIMIT`."),
  field(
    "rule",
    "text",
    false,
    "The rule that must match, as `domain.key_value.key_value`, or `none` if no rule may apply.",
  ),
  field(
    "remaining",
    "remaining",
    false,
    "The hits that must be left; `unlimited` for an unlimited rule. With `repeat`, after the last request.",
  ),
  field(
    "reset",
    "duration",
    false,
    "The time to the reset: seconds, or a duration such as `1m`. With `repeat`, after the last request.",
  ),
];

export const fields: Readonly<Record<Place, readonly Field[]>> = {
  file: [
    field(
      "config",
      "text",
      false,
      "The configuration: a directory or a file, relative to this file. Default: the directory of this file.",
    ),
    field("domain", "text", false, "The domain of all requests that name no other."),
    field("start", "instant", false, "The time at which each test starts. Default: 2026-01-01T00:00:00Z."),
    field("settings", "settings", false, "Settings of the service that change decisions."),
    field("tests", "tests", true, "The tests. Each starts with empty counters."),
  ],
  settings: [
    field("SHADOW_MODE", "boolean", false, "The whole service only reports, and refuses no call."),
    field("QUOTA_MODE", "boolean", false, "All rules are quota rules."),
    field(
      "STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT",
      "boolean",
      false,
      "One limit that is exceeded keeps the other limits of the request from counting.",
    ),
    field("MERGE_DOMAIN_CONFIG", "boolean", false, "Several files may define one domain."),
    field("USE_CALENDAR_MONTH_RATE_LIMIT", "boolean", false, "`unit: month` is a calendar month."),
  ],
  test: [
    field("name", "text", true, "The name of the test."),
    field("domain", "text", false, "The domain of the requests of this test."),
    field("start", "instant", false, "The time at which this test starts."),
    field("steps", "steps", true, "The requests and the time that passes between them, in order."),
  ],
  step: [
    field("request", "request", false, "A request: one descriptor, or a list of them."),
    field("domain", "text", false, "The domain of this request."),
    field(
      "hits",
      "count",
      false,
      "Hits of each descriptor without its own number; 0 only looks. Default: 1.",
    ),
    field("repeat", "repeat", false, "Number of times that the request is sent. Default: 1."),
    field("expect", "expect", false, "The expected answer: a code, or several expectations."),
    field("advance", "duration", false, "Time that passes: seconds, or a duration such as `30s` or `1h30m`."),
    field("advance_to", "instant", false, "The time to which the clock advances."),
  ],
  descriptor: [
    field(
      "entries",
      "entries",
      true,
      "The entries, as `key=value,key=value` or as a mapping of keys to values.",
    ),
    field("hits", "count", false, "Hits of this descriptor; 0 only looks."),
    field("refund", "boolean", false, "The hits are returned to the limit instead of counted."),
    field("limit", "limit", false, "A limit of the request's own, instead of a configured one."),
  ],
  limit: [
    field("requests_per_unit", "count", true, "Hits that one window allows."),
    field("unit", "unit", true, "The length of the window."),
    field("unit_multiplier", "count", false, "The window is this many units long."),
  ],
  expect: [
    ...STATUS,
    field(
      "descriptors",
      "statuses",
      false,
      "The expected answer to each descriptor, in the order of the request.",
    ),
  ],
  status: STATUS,
};
