import { MANUAL } from "../text/manual.ts";
import type { CommandDescription } from "./description.ts";
import { COMMANDS } from "./descriptions.ts";

/** The manual page tollgate(1), in the language of man(7). */
export function manPage(version: string): string {
  return `.TH TOLLGATE 1 "" "Tollgate ${escaped(version)}" "User Commands"
.SH NAME
tollgate \\- rate limit decision service for Envoy and other gateways
.SH SYNOPSIS
.B tollgate
.RI [ command ]
.RI [ options ]
.SH COMMANDS
${COMMANDS.map(sectionOf).join("\n")}
.SH OPTIONS
.TP
.BR \\-h ", " \\-\\-help
shows the list of commands
.TP
.BR \\-v ", " \\-\\-version
shows the version
.SH ENVIRONMENT
Settings of
.B serve
are environment variables.
.B tollgate serve \\-\\-help
lists them.
.SH SEE ALSO
${escaped(MANUAL)}
`;
}

function sectionOf({ name, synopsis, text, flags, exit }: CommandDescription): string {
  const lines = [`.SS tollgate ${escaped(`${name} ${synopsis}`.trimEnd())}`, ...text.map(line)];
  for (const flag of flags) {
    const value = flag.value === undefined ? "" : ` \\fI${escaped(flag.value)}\\fR`;
    lines.push(".TP", `\\fB${escaped(`-${flag.name}`)}\\fR${value}`, line(flag.text));
  }
  lines.push(".PP", "Exit status:");
  for (const [status, meaning] of exit) lines.push(".TP", String(status), line(meaning));
  return lines.join("\n");
}

function escaped(text: string): string {
  return text.replaceAll("\\", "\\e").replaceAll("-", "\\-");
}

/** A line of text. A dot or quote at its start would be a request. */
function line(text: string): string {
  return escaped(text).replace(/^[.']/, "\\&$&");
}
