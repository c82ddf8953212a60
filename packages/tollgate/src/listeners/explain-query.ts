import { HttpError } from "@tollway/waymark";
import { EntriesTextError, entriesFromText } from "../protocol/entries-text.ts";
import type { Entry, RateLimitRequest } from "../protocol/messages.ts";

/** The response to `GET /explain` without a query. */
export const explainUsage = `Explains which rule matches each descriptor and why, what its counter holds, and how a call would be answered.
Counts nothing.

  GET /explain?domain=DOMAIN&descriptor=KEY=VALUE,KEY2=VALUE2

  Repeat descriptor for several descriptors. Commas separate the entries of one; \\, is a comma inside a value.
  Encode & # + % and spaces (%26, %23, %2B, %25, %20).

  POST /explain, with the body of a /json call:

  curl -d '{"domain":"DOMAIN","descriptors":[{"entries":[{"key":"KEY","value":"VALUE"}]}]}' http://localhost:6070/explain

Accept: application/json gives JSON.
`;

/** Converts a query to a request. Undefined if the query has neither a domain nor a descriptor. */
export function requestOfQuery(query: URLSearchParams): RateLimitRequest | undefined {
  const domains = query.getAll("domain");
  const descriptors = query.getAll("descriptor");
  if (domains.length === 0 && descriptors.length === 0) return undefined;
  if (domains.length !== 1 || domains[0] === "") throw fault("domain", "must be given once: domain=DOMAIN");
  if (descriptors.length === 0) throw fault("descriptor", "is missing: descriptor=KEY=VALUE,KEY2=VALUE2");
  return {
    domain: domains[0]!,
    descriptors: descriptors.map((text) => ({
      entries: entriesOf(text),
      limit: undefined,
      hitsAddend: undefined,
      isNegativeHits: false,
    })),
    hitsAddend: 0,
  };
}

function entriesOf(text: string): Entry[] {
  try {
    return entriesFromText(text);
  } catch (error) {
    if (!(error instanceof EntriesTextError)) throw error;
    throw fault("descriptor", error.message);
  }
}

function fault(name: string, message: string): HttpError {
  return new HttpError(400, `${name}: ${message}`, { errors: [{ in: "query", name, message }] });
}
