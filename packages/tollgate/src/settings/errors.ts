/** One thing that is wrong with the environment. */
export interface Fault {
  /** As it was spelled. */
  readonly variable: string;
  /** What was given, credentials hidden; undefined where the fault is that nothing was. */
  readonly value: string | undefined;
  /** What would be right. */
  readonly message: string;
}

/** `PORT="80x": must be a port from 0 to 65535` */
export function formatFault({ variable, value, message }: Fault): string {
  return value === undefined ? `${variable} ${message}` : `${variable}=${quoted(value)} ${message}`;
}

function quoted(value: string): string {
  return JSON.stringify(value.length > 200 ? `${value.slice(0, 200)}...` : value);
}

/** The environment does not make sense: carries every fault, not only the first. */
export class SettingsError extends Error {
  override readonly name = "SettingsError";
  readonly code = "INVALID_SETTINGS";
  readonly faults: readonly Fault[];

  constructor(faults: readonly Fault[]) {
    const count = faults.length === 1 ? "1 fault" : `${faults.length} faults`;
    super(`${count} in the settings:\n${faults.map((fault) => `  ${formatFault(fault)}`).join("\n")}`);
    this.faults = faults;
  }
}
