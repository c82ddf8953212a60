import { formatDuration, parseDuration } from "./duration.ts";
import { Secret } from "./secret.ts";

/** Error for a value that is not of its kind. The message continues after the variable's name: "must be ...". */
export class Refusal extends Error {
  override readonly name = "Refusal";
}

/** The syntax of a setting's value. */
export interface Kind<T> {
  /** The name of the kind in the manual. */
  readonly label: string;
  /** @throws {Refusal} */
  read(text: string): T;
  /** Formats a value as a user would write it. */
  show(value: T): string;
  /** Hides the credentials of a given text for messages. */
  mask(text: string): string;
}

/** The mask of a kind without credentials. */
export const unmasked = (text: string): string => text;

/** Any text. */
export const text: Kind<string> = { label: "text", read: unmasked, show: unmasked, mask: unmasked };

/** The path of a file. */
export const path: Kind<string> = { ...text, label: "path" };

/** A credential. */
export const secret: Kind<Secret> = {
  label: "secret",
  read: (value) => new Secret(value),
  show: String,
  mask: () => "[hidden]",
};

/** Addresses of a store. Messages hide their credentials. */
export const storeAddress: Kind<string> = { ...text, label: "address", mask: maskCredentials };

/** Hides the user information of `redis://user:password@host`, in each part of a list. */
export function maskCredentials(value: string): string {
  return value.replace(/(:\/\/)[^,]*@/g, "$1[hidden]@");
}

const go = {
  true: ["1", "t", "T", "true", "TRUE", "True"],
  false: ["0", "f", "F", "false", "FALSE", "False"],
};

/** A boolean in Go's syntax. */
export const bool: Kind<boolean> = {
  label: "boolean",
  read(value) {
    if (go.true.includes(value)) return true;
    if (go.false.includes(value)) return false;
    throw new Refusal("must be true or false (also 1, 0, t, f)");
  },
  show: String,
  mask: unmasked,
};

/** A boolean that accepts only `true` and `false`. */
export const strictBool: Kind<boolean> = {
  ...bool,
  read(value) {
    if (value !== "true" && value !== "false") throw new Refusal("must be true or false");
    return value === "true";
  },
};

/** A whole number in Go's syntax, which includes `0x10`, `0b11`, `0o17`, `017` and `1_000`. */
export function int(
  minimum: number,
  maximum: number = Number.MAX_SAFE_INTEGER,
  label = "whole number",
): Kind<number> {
  const range =
    maximum === Number.MAX_SAFE_INTEGER ? `of ${minimum} or more` : `from ${minimum} to ${maximum}`;
  return {
    label,
    read(value) {
      const number = parseInteger(value);
      if (number === undefined || number < minimum || number > maximum)
        throw new Refusal(`must be a whole number ${range}`);
      return number;
    },
    show: String,
    mask: unmasked,
  };
}

function parseInteger(value: string): number | undefined {
  const match = /^([-+]?)(?:0[xX]([0-9a-fA-F_]+)|0[bB]([01_]+)|0[oO]?_?([0-7_]+)|(0|[1-9][0-9_]*))$/.exec(
    value,
  );
  if (match === null || /__|_$/.test(value)) return undefined;
  const [, sign, hex, binary, octal, decimal] = match;
  const [digits, base] =
    hex !== undefined
      ? [hex, 16]
      : binary !== undefined
        ? [binary, 2]
        : octal !== undefined
          ? [octal, 8]
          : [decimal ?? "", 10];
  const number = Number.parseInt(digits.replaceAll("_", ""), base);
  return Number.isSafeInteger(number) ? (sign === "-" ? -number : number) : undefined;
}

/** The permissions of a file in octal: `660`, `0660`, `0o660`. */
export const fileMode: Kind<number> = {
  label: "file mode",
  read(value) {
    const digits = /^(?:0o?)?([0-7]{3})$/.exec(value)?.[1];
    if (digits === undefined) throw new Refusal("must be permissions in octal, such as 0660 or 0666");
    return Number.parseInt(digits, 8);
  },
  show: (mode) => `0${mode.toString(8)}`,
  mask: unmasked,
};

/** A port; 0 picks a free port. */
export const port: Kind<number> = {
  ...int(0, 65535, "port"),
  read(value) {
    if (/^(tcp|udp):\/\//.test(value))
      throw new Refusal(
        "must be a port from 0 to 65535; the value looks like a variable that Kubernetes sets for a service of the same name: set enableServiceLinks to false in the pod",
      );
    const number = parseInteger(value);
    if (number === undefined || number < 0 || number > 65535)
      throw new Refusal("must be a port from 0 to 65535");
    return number;
  },
};

/** A number, with or without a fraction. */
export function decimal(minimum: number, maximum: number): Kind<number> {
  return {
    label: "number",
    read(value) {
      const number = /^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$/.test(value) ? Number(value) : Number.NaN;
      if (!(number >= minimum && number <= maximum))
        throw new Refusal(`must be a number from ${minimum} to ${maximum}`);
      return number;
    },
    show: String,
    mask: unmasked,
  };
}

/** The longest delay of a Node timer in milliseconds: 2^31 - 1, about 24 days. */
const LONGEST_TIMER = 2 ** 31 - 1;

/** A duration in Go's syntax, converted to milliseconds. */
export function duration(minimum: "any" | "above 0", maximum = LONGEST_TIMER): Kind<number> {
  return {
    label: "duration",
    read(value) {
      const milliseconds = parseDuration(value);
      if (milliseconds === undefined)
        throw new Refusal("must be a duration with a unit, such as 10s, 1h30m or 150us");
      if (milliseconds < 0 || (milliseconds === 0 && minimum === "above 0"))
        throw new Refusal(minimum === "any" ? "must not be negative" : "must be a duration above 0");
      if (milliseconds > maximum) throw new Refusal(`must be at most ${formatDuration(maximum)}`);
      return milliseconds;
    },
    show: formatDuration,
    mask: unmasked,
  };
}

/** One of several words, in any case. Each word maps to a value. */
export function choice<const T extends string>(words: Readonly<Record<string, T>>): Kind<T> {
  const names = Object.keys(words);
  return {
    label: names.join(", "),
    read(value) {
      const found = Object.entries(words).find(([name]) => name.toLowerCase() === value.toLowerCase());
      if (found === undefined) throw new Refusal(`must be ${oneOf(names)}`);
      return found[1];
    },
    show: (value) => names.find((name) => words[name] === value) ?? value,
    mask: unmasked,
  };
}

function oneOf(names: readonly string[]): string {
  return names.length < 2 ? names.join() : `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
}

/** The address of a listener: `:9090`, `127.0.0.1:9090`, `[::1]:9090`. */
export interface ListenAddress {
  /** Empty for all interfaces. */
  readonly host: string;
  readonly port: number;
}

export const listenAddress: Kind<ListenAddress> = {
  label: "host:port",
  read(value) {
    const match = /^(?:\[([^\]]+)\]|([^:[\]]*)):(\d{1,5})$/.exec(value);
    const number = Number(match?.[3]);
    if (match === null || number > 65535)
      throw new Refusal("must be an address to listen on, such as :9090 or 127.0.0.1:9090");
    return { host: match[1] ?? match[2] ?? "", port: number };
  },
  show: ({ host, port }) => `${host.includes(":") ? `[${host}]` : host}:${port}`,
  mask: unmasked,
};

/** Log levels, the most severe first. */
export const logLevel = choice({
  panic: "panic",
  fatal: "fatal",
  error: "error",
  warn: "warn",
  warning: "warn",
  info: "info",
  debug: "debug",
  trace: "trace",
});
