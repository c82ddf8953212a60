export interface FlagDescription {
  /** The name without dashes. */
  readonly name: string;
  /** Name of its value; undefined for a switch. */
  readonly value?: string;
  readonly text: string;
  /** The values, if there are few. */
  readonly choices?: readonly string[];
}

export interface CommandDescription {
  readonly name: string;
  readonly summary: string;
  /** The arguments after the name. */
  readonly synopsis: string;
  readonly text: readonly string[];
  readonly flags: readonly FlagDescription[];
  /** The kind of the positional arguments, for completions. */
  readonly operands?: "files" | "commands" | readonly string[];
  /** Meaning of each exit status. */
  readonly exit: readonly (readonly [status: number, meaning: string])[];
}

/** A sentence for commands with the flags of the Go service's commands. */
export const GO_FLAGS = "Flags take one or two dashes; - and _ are equivalent.";
