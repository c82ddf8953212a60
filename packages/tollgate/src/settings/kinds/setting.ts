import { aliasesOf } from "./aliases.ts";
import type { Kind } from "./kinds.ts";

/** One row of the table: an environment variable and its meaning. */
export class Setting<T> {
  /** The name in the manual. */
  readonly name: string;
  /** Other names of the setting, including those of the Go service. */
  readonly aliases: readonly string[];
  readonly kind: Kind<NonNullable<T>>;
  readonly meaning: string;
  /** The default as the manual shows it; empty for none. */
  readonly defaultText: string;
  readonly #default: T | (() => T);

  constructor(name: string, kind: Kind<NonNullable<T>>, options: SettingOptions<T>) {
    this.name = name;
    this.aliases = [...(options.aliases ?? []), ...[name, ...(options.aliases ?? [])].flatMap(aliasesOf)];
    this.kind = kind;
    this.meaning = options.meaning;
    this.#default = options.default;
    this.defaultText =
      options.defaultText ??
      (options.default === undefined || options.default === null || typeof options.default === "function"
        ? ""
        : kind.show(options.default as NonNullable<T>));
  }

  default(): T {
    return typeof this.#default === "function" ? (this.#default as () => T)() : this.#default;
  }
}

interface SettingOptions<T> {
  readonly default: T | (() => T);
  readonly defaultText?: string;
  readonly meaning: string;
  readonly aliases?: readonly string[];
}

/** A setting with a default. */
export function setting<T>(
  name: string,
  kind: Kind<T>,
  fallback: T,
  meaning: string,
  aliases: readonly string[] = [],
): Setting<T> {
  return new Setting<T>(name, kind as Kind<NonNullable<T>>, { default: fallback, meaning, aliases });
}

/** A setting without a default. Its value is undefined unless it is given. */
export function optional<T>(
  name: string,
  kind: Kind<T>,
  meaning: string,
  defaultText = "",
): Setting<T | undefined> {
  return new Setting<T | undefined>(name, kind as Kind<NonNullable<T>>, {
    default: undefined,
    defaultText,
    meaning,
  });
}

/** A setting with a default that is computed on demand. */
export function computed<T>(
  name: string,
  kind: Kind<T>,
  fallback: () => T,
  defaultText: string,
  meaning: string,
): Setting<T> {
  return new Setting<T>(name, kind as Kind<NonNullable<T>>, { default: fallback, defaultText, meaning });
}
