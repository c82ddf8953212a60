/** One fault in the environment. */
export interface Fault {
  /** The name as the user spelled it. */
  readonly variable: string;
  /** The given value with hidden credentials; undefined if the variable is missing. */
  readonly value: string | undefined;
  /** Describes a valid value. */
  readonly message: string;
}

/** `PORT="80x": must be a port from 0 to 65535` */
export function formatFault({ variable, value, message }: Fault): string {
  return value === undefined ? `${variable} ${message}` : `${variable}=${quoted(value)} ${message}`;
}

function quoted(value: string): string {
  return JSON.stringify(value.length > 200 ? `${value.slice(0, 200)}...` : value);
}

/**
 * Error for invalid settings. It contains every fault, not only the first.
 * @example
 * ```ts
 * import { loadSettings, SettingsError } from "@tollway/tollgate";
 *
 * try {
 *   loadSettings({ PORT: "80x" });
 * } catch (error) {
 *   if (error instanceof SettingsError) console.error(error.message);
 * }
 * ```
 */
export class SettingsError extends Error {
  /** Always `SettingsError`. */
  override readonly name = "SettingsError";
  /** Always `INVALID_SETTINGS`. */
  readonly code = "INVALID_SETTINGS";
  /** All faults, in the order of the settings. */
  readonly faults: readonly Fault[];

  constructor(faults: readonly Fault[]) {
    const count = faults.length === 1 ? "1 fault" : `${faults.length} faults`;
    super(`${count} in the settings:\n${faults.map((fault) => `  ${formatFault(fault)}`).join("\n")}`);
    this.faults = faults;
  }
}
