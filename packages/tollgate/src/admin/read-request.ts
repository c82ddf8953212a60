/** Reads what an operator sends: queries and JSON bodies. Each fault names its field and what would be right. */
import { EntriesTextError, entriesFromText } from "../protocol/entries-text.ts";
import type { Entry } from "../protocol/messages.ts";
import { AdminError, invalid } from "./admin-error.ts";
import type { SearchRequest } from "./operations.ts";
import type { OverrideRequest } from "./override-operations.ts";
import type { Target } from "./targets.ts";

/** Characters of a domain, and of a descriptor's keys and values together. */
export const MOST_CHARACTERS = 2048;
const MOST_ENTRIES = 32;
export const MOST_REASON = 200;
/** Counters of a page. */
export const DEFAULT_PAGE = 100;
export const MOST_PAGE = 1000;

/** A query of `GET /admin/v1/counters`: one descriptor, or a search. */
export function readCounterQuery(query: URLSearchParams): { target: Target } | { search: SearchRequest } {
  checkNames(query, ["domain", "descriptor", "prefix", "limit", "next"]);
  const domain = query.get("domain") ?? undefined;
  const descriptor = query.get("descriptor");
  if (descriptor !== null) {
    for (const name of ["prefix", "limit", "next"])
      if (query.has(name)) throw invalid(name, "belongs to a search, without descriptor");
    return { target: { domain: readDomain(domain), entries: readEntries(descriptor) } };
  }
  const prefix = query.get("prefix") ?? "";
  if (prefix !== "" && domain === undefined) throw invalid("domain", "is missing: a prefix needs one");
  if (prefix.length > MOST_CHARACTERS)
    throw invalid("prefix", `must have ${MOST_CHARACTERS} characters at most`);
  const limit = readNumber(query.get("limit"), "limit", DEFAULT_PAGE, MOST_PAGE);
  return {
    search: {
      domain: domain === undefined ? undefined : readDomain(domain),
      prefix,
      limit,
      next: query.get("next") ?? "",
    },
  };
}

export function readNumber(text: string | null, field: string, fallback: number, most: number): number {
  if (text === null) return fallback;
  const number = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (number < 1 || number > most) throw invalid(field, `must be a whole number from 1 to ${most}`);
  return number;
}

export function checkNames(query: URLSearchParams, known: readonly string[]): void {
  for (const name of new Set(query.keys())) {
    if (!known.includes(name)) throw invalid(name, `is unknown; the arguments are ${known.join(", ")}`);
    if (query.getAll(name).length > 1) throw invalid(name, "must be given once");
  }
}

/** A JSON object with known members only. */
export class Body {
  readonly #members: Readonly<Record<string, unknown>>;

  /** @param contentType of the request @throws {AdminError} */
  constructor(bytes: Uint8Array, contentType: string | null, known: readonly string[]) {
    if (!/^application\/json\s*(?:;|$)/i.test(contentType ?? ""))
      throw new AdminError("INVALID", "the body must be JSON: send content-type: application/json", {
        field: "content-type",
      });
    this.#members = parseObject(bytes);
    for (const name of Object.keys(this.#members))
      if (!known.includes(name)) throw invalid(name, `is unknown; the members are ${known.join(", ")}`);
  }

  has(name: string): boolean {
    return this.#members[name] !== undefined && this.#members[name] !== null;
  }

  /** `domain` and `descriptor`: a text, or a list of entries with `key` and `value`. */
  target(): Target {
    const descriptor = this.#members.descriptor;
    const entries = Array.isArray(descriptor)
      ? descriptor.map((item, index) => entryOf(item, `descriptor[${index}]`))
      : readEntries(this.text("descriptor"));
    checkEntries(entries);
    return { domain: readDomain(this.text("domain")), entries };
  }

  text(name: string): string {
    const value = this.#members[name];
    if (typeof value !== "string")
      throw invalid(name, this.has(name) ? "must be a text" : "is missing: it must be a text");
    return value;
  }

  optionalText(name: string, most: number): string | undefined {
    if (!this.has(name)) return undefined;
    const text = this.text(name);
    if (text.length > most) throw invalid(name, `must have ${most} characters at most`);
    return text;
  }

  reason(): string | undefined {
    return this.optionalText("reason", MOST_REASON);
  }

  /** A whole number. */
  number(name: string, least: number, most: number): number {
    const value = this.#members[name];
    if (typeof value === "number" && Number.isInteger(value) && value >= least && value <= most) return value;
    throw invalid(
      name,
      `${this.has(name) ? "must be" : "is missing: it must be"} a whole number from ${least} to ${most}`,
    );
  }

  /** Whether a member is true. */
  flag(name: string): boolean {
    const value = this.#members[name] ?? false;
    if (typeof value === "boolean") return value;
    throw invalid(name, "must be true or false");
  }
}

const OVERRIDE_ID = /^[A-Za-z0-9][\w.-]{0,63}$/;

/** The id of an override, which the path ends with. */
export function readId(query: URLSearchParams): string {
  const ids = query.getAll("id");
  if (ids.length === 1 && OVERRIDE_ID.test(ids[0]!)) return ids[0]!;
  throw new AdminError(
    "INVALID",
    "the path must end with an id of 1 to 64 letters, digits, `_`, `.` and `-`: /admin/v1/overrides/ID",
    { field: "id" },
  );
}

export const OVERRIDE_MEMBERS = [
  "domain",
  "descriptor",
  "limit",
  "requestsPerUnit",
  "burst",
  "unlimited",
  "expires",
] as const;

export function readOverride(body: Body, now: number): OverrideRequest {
  const number = (name: string, least: number) =>
    body.has(name) ? body.number(name, least, Number.MAX_SAFE_INTEGER) : undefined;
  return {
    target: body.target(),
    limit: body.optionalText("limit", MOST_NAME),
    requestsPerUnit: number("requestsPerUnit", 0),
    burst: body.has("burst") ? body.number("burst", 1, 1_000_000_000) : undefined,
    unlimited: body.flag("unlimited"),
    expires: readExpiry(body, now),
  };
}

/** The name of a limit in a list. */
export const MOST_NAME = 512;

function readExpiry(body: Body, now: number): number | undefined {
  if (!body.has("expires")) return undefined;
  const text = body.text("expires");
  const form = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d)$/;
  const expires = form.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(expires)) throw invalid("expires", "must be a time with a zone: 2026-12-31T18:00:00Z");
  if (expires <= now) throw invalid("expires", "must be in the future");
  return expires;
}

function parseObject(bytes: Uint8Array): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw new AdminError("INVALID", "the body is not JSON", { field: "body" });
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new AdminError("INVALID", "the body must be a JSON object", { field: "body" });
  return value as Record<string, unknown>;
}

function readDomain(domain: string | undefined): string {
  if (domain === undefined || domain === "")
    throw invalid("domain", "is missing: it must be the domain of a rule");
  if (domain.length > MOST_CHARACTERS)
    throw invalid("domain", `must have ${MOST_CHARACTERS} characters at most`);
  return domain;
}

function readEntries(text: string): readonly Entry[] {
  if (text === "") throw invalid("descriptor", "is empty: write it as key=value,key2=value2");
  try {
    const entries = entriesFromText(text);
    checkEntries(entries);
    return entries;
  } catch (error) {
    if (!(error instanceof EntriesTextError)) throw error;
    throw invalid("descriptor", `cannot be read: ${error.message}`);
  }
}

function entryOf(item: unknown, field: string): Entry {
  const { key, value } = (typeof item === "object" && item !== null ? item : {}) as Record<string, unknown>;
  if (typeof key === "string" && key !== "" && typeof value === "string") return { key, value };
  throw invalid(field, 'must be an object {"key": TEXT, "value": TEXT}');
}

function checkEntries(entries: readonly Entry[]): void {
  if (entries.length === 0 || entries.length > MOST_ENTRIES)
    throw invalid("descriptor", `must have 1 to ${MOST_ENTRIES} entries`);
  const characters = entries.reduce((sum, { key, value }) => sum + key.length + value.length, 0);
  if (characters > MOST_CHARACTERS)
    throw invalid("descriptor", `must have ${MOST_CHARACTERS} characters at most`);
}
