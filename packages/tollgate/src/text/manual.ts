/** Pages of the manual, for messages that name where to read on. */

/** The address of the manual: it is published in the repository of `package.json`. */
export const MANUAL = "https://github.com/tollway/tollway/blob/main/docs/";

/** The page about a start that fails for a reason outside Tollgate, for example a port in use. */
export const START_PAGE = "troubleshooting.md#it-does-not-start";

export const DIAGNOSTICS_PAGE = "rules.md#all-diagnostics";
export const SETTINGS_PAGE = "settings.md";

/** Codes of errors that end a start, or that a log line or a command reports. */
export const reportedCodes = [
  "ADMIN_CALL_FAILED",
  "BAD_CERTIFICATES",
  "BAD_SINK_CONFIG",
  "BAD_TOKEN_FILE",
  "COMPILER_FAILED",
  "INVALID_SETTINGS",
  "NOT_A_REGULAR_FILE",
  "SNAPSHOT_DAMAGED",
  "SNAPSHOT_PATH",
  "SNAPSHOT_VERSION",
  "STORE_UNAVAILABLE",
] as const;

export type ReportedCode = (typeof reportedCodes)[number];

/** Pages below `MANUAL`. */
export const pageOfCode = (code: ReportedCode): string => `errors.md#${code}`;
export const pageOfDiagnostic = (code: string): string => `rules.md#${code}`;
export const pageOfSetting = (name: string): string => `settings.md#${name}`;

/** The page of an error; undefined if the error has no code of its own. */
export function pageOfError(error: unknown): string | undefined {
  const code = error instanceof Error ? (error as { code?: unknown }).code : undefined;
  const known = reportedCodes.find((one) => one === code);
  return known && pageOfCode(known);
}

/** A log line with its page, or unchanged without one: `message (docs: errors.md#STORE_UNAVAILABLE)`. */
export function withPage(message: string, page: string | undefined): string {
  return page === undefined ? message : `${message} (docs: ${page})`;
}
