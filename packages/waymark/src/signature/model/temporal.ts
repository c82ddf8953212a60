/** The types of `Temporal` that a request carries as ISO 8601 text, with an example of each. */
export const TEMPORAL_TYPES = {
  Instant: "2026-01-31T12:00:00Z",
  PlainDate: "2026-01-31",
  PlainDateTime: "2026-01-31T12:00:00",
  PlainTime: "12:00:00",
  PlainYearMonth: "2026-01",
  PlainMonthDay: "01-31",
  ZonedDateTime: "2026-01-31T12:00:00+01:00[Europe/Berlin]",
  Duration: "PT1H30M",
} as const;

export type TemporalType = keyof typeof TEMPORAL_TYPES;

export const isTemporal = (name: string): name is TemporalType => Object.hasOwn(TEMPORAL_TYPES, name);
