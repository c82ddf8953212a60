import { parseGoDuration } from "./go-duration.ts";

/** A map of a YAML file. */
export type Fields = Readonly<Record<string, unknown>>;

/** Reads typed fields and collects faults. An absent field is undefined. */
export class FieldReader {
  /** One sentence each, at most 100. */
  readonly faults: string[] = [];

  count(fields: Fields, key: string, most: number, where: string): number | undefined {
    const value = this.number(fields, key, where);
    if (value === undefined || value === 0) return undefined;
    if (Number.isInteger(value) && value > 0 && value <= most) return value;
    this.fault(where, `${key} must be a whole number, 1 to ${most}`);
    return undefined;
  }

  duration(fields: Fields, key: string, where: string): number | undefined {
    const value = fields[key];
    if (value == null) return undefined;
    const milliseconds = parseGoDuration(value);
    if (milliseconds === undefined)
      this.fault(where, `${key} is ${show(value)}: it must be a duration such as 30s or 1m20s`);
    return milliseconds;
  }

  string(fields: Fields, key: string, where: string): string | undefined {
    const value = fields[key];
    if (value == null) return undefined;
    if (typeof value === "string") return value;
    if (typeof value !== "object") return String(value);
    this.fault(where, `${key} must be a text`);
    return undefined;
  }

  number(fields: Fields, key: string, where: string): number | undefined {
    const value = fields[key];
    if (value == null) return undefined;
    if (typeof value === "number" && Number.isFinite(value)) return value;
    this.fault(where, `${key} is ${show(value)}: it must be a number`);
    return undefined;
  }

  boolean(fields: Fields, key: string, where: string): boolean | undefined {
    const value = fields[key];
    if (value == null) return undefined;
    if (typeof value === "boolean") return value;
    // YAML 1.1's other spellings. The YAML parser does not read them as booleans, because labels may be called `n`.
    if (typeof value === "string" && /^(?:yes|on)$/i.test(value)) return true;
    if (typeof value === "string" && /^(?:no|off)$/i.test(value)) return false;
    this.fault(where, `${key} is ${show(value)}: it must be true or false`);
    return undefined;
  }

  oneOf(fields: Fields, key: string, values: readonly string[], where: string): string | undefined {
    const value = fields[key];
    if (value == null || value === "") return undefined;
    if (typeof value === "string" && values.includes(value)) return value;
    this.fault(where, `${key} is ${show(value)}: it must be ${values.join(" or ")}`);
    return undefined;
  }

  fields(value: unknown, where: string, known: readonly string[]): Fields {
    if (!isFields(value)) {
      this.fault(where, "must be a map");
      return {};
    }
    for (const [index, key] of Object.keys(value).entries())
      if (!known.includes(key))
        this.fault(where, `has ${unknownKey(key, index)}; known keys: ${known.join(", ")}`);
    return value;
  }

  fault(where: string, what: string): void {
    if (this.faults.length < 100) this.faults.push(`${where} ${what}`);
  }
}

/** Describes an unknown key. Shows only names that look like keys of the format: the path may lead to a secret file. */
function unknownKey(key: string, index: number): string {
  return /^[a-z_]{1,40}$/.test(key) ? `the unknown key "${key}"` : `an unknown key, number ${index + 1}`;
}

/** Shows a value in a message. Maps and lists may have no text of their own. */
function show(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "a map" : `"${String(value)}"`;
}

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
