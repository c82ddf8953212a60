/** All fields of a configuration file: one table for the reader, the hints and the JSON Schema. */

/** The kinds of mappings in a configuration. */
export type Place = "file" | "descriptor" | "rate_limit" | "replaces" | "calendar";

export type FieldType =
  | "text"
  | "boolean"
  | "count"
  | "unit"
  | "metadata"
  | "descriptors"
  | "rate_limit"
  | "rate_limits"
  | "replaces"
  | "multiplier"
  | "algorithm"
  | "burst"
  | "counting"
  | "calendar"
  | "weekday";

export interface Field {
  readonly place: Place;
  readonly name: string;
  readonly type: FieldType;
  /** Whether the field is required; `unless unlimited`: only in limits without `unlimited: true`. */
  readonly required: boolean | "unless unlimited";
  readonly meaning: string;
}

/** The name of each kind of mapping in messages. */
export const placeNames: Readonly<Record<Place, string>> = {
  file: "at the top level",
  descriptor: "in a descriptor",
  rate_limit: "in `rate_limit`",
  calendar: "in `calendar`",
  replaces: "in an item of `replaces`",
};

function field(
  place: Place,
  name: string,
  type: FieldType,
  required: Field["required"],
  meaning: string,
): Field {
  return { place, name, type, required, meaning };
}

export const fields: readonly Field[] = [
  field("file", "domain", "text", true, "Globally unique container for a set of rate limits."),
  field("file", "descriptors", "descriptors", true, "The rules of the domain."),
  field("descriptor", "key", "text", true, "The key that a request's entry must have. Case-sensitive."),
  field(
    "descriptor",
    "value",
    "text",
    false,
    "The value that the entry must have; `*` matches any text. Without it every value matches, each with its own counter.",
  ),
  field("descriptor", "rate_limit", "rate_limit", false, "The limit. Without it the rule never limits."),
  field(
    "descriptor",
    "rate_limits",
    "rate_limits",
    false,
    "Instead of `rate_limit`: 1 to 8 limits. A request passes if all of them accept it, and no limit counts a refused one.",
  ),
  field("descriptor", "shadow_mode", "boolean", false, "Count as usual, but always answer OK."),
  field(
    "descriptor",
    "quota_mode",
    "boolean",
    false,
    "The call as a whole is over limit only if all its quota rules are over limit.",
  ),
  field("descriptor", "detailed_metric", "boolean", false, "One metric for each matched value."),
  field("descriptor", "value_to_metric", "boolean", false, "Put the matched value into the metric key."),
  field(
    "descriptor",
    "share_threshold",
    "boolean",
    false,
    "All values that the wildcard matches share one counter.",
  ),
  field("descriptor", "metadata", "metadata", false, "Returned in the response's dynamic metadata."),
  field("descriptor", "descriptors", "descriptors", false, "Rules for the entries that follow this one."),
  field("rate_limit", "unit", "unit", "unless unlimited", "The length of the window."),
  field(
    "rate_limit",
    "requests_per_unit",
    "count",
    "unless unlimited",
    "The number of hits that one window allows; 0 blocks all.",
  ),
  field(
    "rate_limit",
    "unit_multiplier",
    "multiplier",
    false,
    "The window is this many units long: `unit: minute` with 15 is a quarter of an hour.",
  ),
  field(
    "rate_limit",
    "algorithm",
    "algorithm",
    false,
    "The algorithm: `fixed_window` (default), `sliding_window` or `token_bucket`.",
  ),
  field("rate_limit", "burst", "burst", false, "The size of a token bucket. Default: `requests_per_unit`."),
  field(
    "rate_limit",
    "count",
    "counting",
    false,
    "The hits that a fixed window counts: `all` (default) or only `accepted` ones.",
  ),
  field(
    "rate_limit",
    "strict",
    "boolean",
    false,
    "A request of 0 hits is over limit as soon as the limit of a fixed window is used up.",
  ),
  field(
    "rate_limit",
    "reservations",
    "boolean",
    false,
    "Open reservations count for `ShouldRateLimit`, too.",
  ),
  field(
    "rate_limit",
    "calendar",
    "calendar",
    false,
    "The window is a day, a week, a month or a year of a calendar.",
  ),
  field("rate_limit", "unlimited", "boolean", false, "Never limit."),
  field("rate_limit", "name", "text", false, "A name, so that another rule can replace this limit."),
  field(
    "rate_limit",
    "replaces",
    "replaces",
    false,
    "Names of the limits that do not count if this one matches.",
  ),
  field("replaces", "name", "text", true, "The name of the replaced limit."),
  field("calendar", "time_zone", "text", false, "IANA name of the time zone. Default: UTC."),
  field("calendar", "week_starts", "weekday", false, "The first day of a week. Default: monday."),
];

export const fieldNames: readonly string[] = [...new Set(fields.map((one) => one.name))];

const namesOfLength: readonly (readonly string[])[] = Array.from(
  { length: Math.max(...fieldNames.map((name) => name.length)) + 1 },
  (_, length) => fieldNames.filter((name) => name.length === length),
);

/**
 * Returns the known name at `text[start, end)`: the same string object for each occurrence. The engine compares two such
 * objects by their address: a load of 100,000 rules compares names 10,000,000 times.
 */
export function nameAt(text: string, start: number, end: number): string | undefined {
  const names = namesOfLength[end - start];
  if (names === undefined) return undefined;
  for (let index = 0; index < names.length; index++) {
    const name = names[index]!;
    let at = 0;
    while (at < name.length && name.charCodeAt(at) === text.charCodeAt(start + at)) at++;
    if (at === name.length) return name;
  }
  return undefined;
}

const byPlace = Map.groupBy(fields, (one) => one.place);

export function fieldsOf(place: Place): readonly Field[] {
  return byPlace.get(place) ?? [];
}

const namesByPlace = new Map(
  Array.from(byPlace, ([place, all]) => [place, new Set(all.map((one) => one.name))] as const),
);

export function namesOf(place: Place): ReadonlySet<string> {
  return namesByPlace.get(place) ?? new Set();
}

/** Returns the mappings that have a field of this name; empty for an unknown name. */
export function placesOf(name: string): readonly Place[] {
  return fields.filter((one) => one.name === name).map((one) => one.place);
}
