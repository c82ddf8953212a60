/** The commands of the admin API. */
import { type CommandDescription, type FlagDescription, GO_FLAGS } from "./description.ts";

const ADMIN_FLAGS: readonly FlagDescription[] = [
  {
    name: "admin",
    value: "ADDRESS",
    text: "host:port or https://host:port of the admin API; default: TOLLGATE_ADMIN, or localhost:8082",
  },
  {
    name: "token-file",
    value: "F",
    text: "a file with the token; default: the token in TOLLGATE_ADMIN_TOKEN",
  },
  { name: "ca-file", value: "F", text: "the admin API's certificate authority; implies TLS" },
  { name: "cert-file", value: "F", text: "this operator's certificate; implies TLS" },
  { name: "key-file", value: "F", text: "this operator's private key" },
  { name: "timeout", value: "DURATION", text: "timeout of the call, such as 500ms or 5s; default 10s" },
  { name: "json", text: "print JSON" },
];

const ADMIN_EXIT = [
  [0, "if the call succeeded"],
  [1, "if it failed"],
  [2, "for invalid flags"],
] as const;

const TARGET_FLAGS: readonly FlagDescription[] = [
  { name: "domain", value: "DOMAIN", text: "the domain of the rule" },
  {
    name: "descriptor",
    value: "k=v,k2=v2",
    text: "the exact descriptor. Write \\, for a comma inside a value",
  },
];

const REASON: FlagDescription = { name: "reason", value: "TEXT", text: "why, for the audit log" };
const LIST_LIMIT: FlagDescription = {
  name: "limit",
  value: "NAME",
  text: "the limit of a list: its name, or its unit with the multiplier, such as 15_minute",
};

export const COUNTERS: CommandDescription = {
  name: "counters",
  summary: "reads, searches, resets and raises counters of a running service",
  synopsis: "get|ls|reset|grant [flags]",
  text: [
    "get shows the counters of a descriptor. ls searches by the beginning of a descriptor. reset sets them back to unused. grant raises a limit by some hits until its window ends.",
    "The service needs ADMIN_PORT.",
    GO_FLAGS,
  ],
  flags: [
    ...TARGET_FLAGS,
    { name: "prefix", value: "TEXT", text: "ls: how descriptors begin, such as tenant=a" },
    { name: "most", value: "N", text: "ls: counters of a page; default 100, at most 1000" },
    { name: "next", value: "TEXT", text: "ls: goes on where the last page ended" },
    { name: "hits", value: "N", text: "grant: hits above the limit" },
    { ...LIST_LIMIT, text: `grant: ${LIST_LIMIT.text}` },
    { ...REASON, text: `reset, grant: ${REASON.text}` },
    ...ADMIN_FLAGS,
  ],
  operands: ["get", "ls", "reset", "grant"],
  exit: ADMIN_EXIT,
};

export const OVERRIDES: CommandDescription = {
  name: "overrides",
  summary: "sets other limits for single descriptors of a running service",
  synopsis: "ls|set ID|rm ID [flags]",
  text: [
    "ls lists overrides and grants. set creates or replaces an override: another limit for one exact descriptor of a rule, in all replicas. rm removes an override or a grant.",
    "The service needs ADMIN_PORT.",
    GO_FLAGS,
  ],
  flags: [
    ...TARGET_FLAGS,
    LIST_LIMIT,
    { name: "requests-per-unit", value: "N", text: "the other limit; 0 suspends the descriptor" },
    { name: "burst", value: "N", text: "the other size of a token bucket; default: the rule's" },
    { name: "unlimited", text: "no limit" },
    { name: "expires", value: "TIME", text: "when the override ends, such as 2026-12-31T18:00:00Z" },
    { name: "for", value: "DURATION", text: "how long it lasts, such as 30m, 2h or 1d" },
    REASON,
    ...ADMIN_FLAGS,
  ],
  operands: ["ls", "set", "rm"],
  exit: ADMIN_EXIT,
};

export const AUDIT: CommandDescription = {
  name: "audit",
  summary: "shows who changed which counters and overrides of a running service",
  synopsis: "[flags]",
  text: ["Shows the last changes, newest first. The service needs ADMIN_PORT.", GO_FLAGS],
  flags: [{ name: "most", value: "N", text: "changes to show; default 100, at most 1000" }, ...ADMIN_FLAGS],
  operands: [],
  exit: ADMIN_EXIT,
};
