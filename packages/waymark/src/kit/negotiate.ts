/**
 * The encoding that a client likes best, of those offered (RFC 9110 section 12.5.3). Undefined: no encoding. Among equals
 * the first one offered wins.
 */
export function negotiate<Name extends string>(
  header: string | undefined,
  offered: readonly Name[],
): Name | undefined {
  if (header === undefined) return undefined;
  const weights = new Map<string, number>();
  for (const part of header.split(",", MAX_ENTRIES)) {
    const [name = "", ...parameters] = part.split(";").map((each) => each.trim().toLowerCase());
    const weight = parameters.length === 0 ? 1 : weightOf(parameters[0]!);
    weights.set(name === "x-gzip" ? "gzip" : name, weight);
  }
  let best: Name | undefined;
  let most = 0;
  for (const name of offered) {
    const weight = weights.get(name) ?? weights.get("*") ?? 0;
    if (weight > most) {
      best = name;
      most = weight;
    }
  }
  // A client may like the plain answer best.
  return (weights.get("identity") ?? 0) > most ? undefined : best;
}

/** Bounds the work for a hostile header. */
const MAX_ENTRIES = 32;

/** A malformed weight counts as 0: the plain answer is always safe. */
function weightOf(parameter: string): number {
  return /^q=(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(parameter) ? Number(parameter.slice(2)) : 0;
}
