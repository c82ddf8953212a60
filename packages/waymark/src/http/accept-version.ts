/** A media range of `Accept`, by the version that it asks for. */
interface Asked {
  /** Undefined: any version, or another type. */
  readonly version: string | undefined;
  readonly quality: number;
}

/**
 * The versions that an `Accept` header asks for, the preferred one first: `application/json; version=v2`, or with a vendor
 * `application/vnd.VENDOR.v2+json`. An undefined element is a range without a version.
 */
export function acceptedVersions(accept: string, vendor?: string): (string | undefined)[] {
  return accept
    .split(",")
    .map((range) => askedBy(range, vendor))
    .filter(({ quality }) => quality > 0)
    .sort((one, other) => other.quality - one.quality || rank(one) - rank(other))
    .map(({ version }) => version);
}

/** Of equal ranges, the more specific one counts. */
function rank({ version }: Asked): number {
  return version === undefined ? 1 : 0;
}

function askedBy(range: string, vendor: string | undefined): Asked {
  const [type = "", ...parameters] = range.split(";").map((part) => part.trim());
  let version = vendorVersion(type.toLowerCase(), vendor);
  let quality = 1;
  for (const parameter of parameters) {
    const equals = parameter.indexOf("=");
    const name = parameter.slice(0, equals).trim().toLowerCase();
    const value = parameter
      .slice(equals + 1)
      .trim()
      .replace(/^"(.*)"$/, "$1");
    if (name === "q") quality = Number(value) || 0;
    else if (name === "version" && isJson(type.toLowerCase())) version = value;
  }
  return { version, quality };
}

function vendorVersion(type: string, vendor: string | undefined): string | undefined {
  const start = `application/vnd.${vendor}.`;
  const isOwn = vendor !== undefined && type.startsWith(start) && type.endsWith("+json");
  return isOwn ? type.slice(start.length, -"+json".length) : undefined;
}

/** Other types have a parameter `version` with a meaning of their own. */
function isJson(type: string): boolean {
  return type === "application/json" || type === "application/*" || type === "*/*" || type.endsWith("+json");
}
