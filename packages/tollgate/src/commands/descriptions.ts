/** The commands and their flags: the one source of the help, the completions and the manual page. */
import { AUDIT, COUNTERS, OVERRIDES } from "./admin-descriptions.ts";
import { type CommandDescription, type FlagDescription, GO_FLAGS } from "./description.ts";

const SHELLS = ["bash", "zsh", "fish"] as const;

export const SERVE: CommandDescription = {
  name: "serve",
  summary: "runs the rate limit service; the default. Settings are environment variables",
  synopsis: "[--example]",
  text: [
    "Runs the rate limit service over gRPC and HTTP until SIGTERM or SIGINT. SIGHUP reloads the rules. SIGUSR2 turns debug logging on and off.",
  ],
  flags: [
    {
      name: "example",
      text: "uses the example configuration, counts in this process and listens on 127.0.0.1 only. Environment variables override these settings",
    },
  ],
  exit: [
    [0, "after a signal"],
    [1, "if the service cannot start or fails"],
    [2, "for invalid flags"],
  ],
};

export const CLIENT: CommandDescription = {
  name: "client",
  summary: "sends requests to a running service over gRPC",
  synopsis: "[flags]",
  text: [`Sends a request to a rate limit service over gRPC. ${GO_FLAGS}`],
  flags: [
    { name: "dial_string", value: "ADDRESS", text: "host:port or unix:PATH; default localhost:8081" },
    { name: "domain", value: "DOMAIN", text: "required" },
    {
      name: "descriptors",
      value: "k=v,k2=v2",
      text: "one descriptor; repeat the flag for several. Write \\, for a comma inside a value",
    },
    {
      name: "hits",
      value: "N",
      text: "hits for every descriptor; 0 reads without counting (default: not sent, counts as 1)",
    },
    { name: "negative", text: "refund the hits" },
    { name: "repeat", value: "N", text: "send the request N times in sequence; default 1" },
    { name: "json", text: "print each response as a line of JSON" },
    { name: "check", text: "exit with status 3 if a response is over limit" },
    { name: "timeout", value: "DURATION", text: "timeout per call, such as 500ms or 5s; default 5s" },
    {
      name: "otlp-protocol",
      value: "P",
      text: "trace the calls and export the spans over http or grpc (OTEL_EXPORTER_OTLP_*)",
      choices: ["http", "grpc"],
    },
    { name: "grpc-use-tls", text: "use TLS; implied by the files below" },
    { name: "grpc-server-ca-file", value: "F", text: "the server's certificate authority" },
    { name: "grpc-cert-file", value: "F", text: "this client's certificate" },
    { name: "grpc-key-file", value: "F", text: "this client's private key" },
    {
      name: "grpc-server-name",
      value: "NAME",
      text: "name that the server's certificate must contain; default: the host of the address",
    },
  ],
  exit: [
    [0, "if all calls succeeded"],
    [1, "if a call failed"],
    [2, "for invalid flags"],
    [3, "if a response is over limit, with -check"],
  ],
};

/** The flags of `load-flags.ts`. */
const LOAD_FLAGS: readonly FlagDescription[] = [
  {
    name: "merge_domain_configs",
    text: "allow several files to define one domain (MERGE_DOMAIN_CONFIG=true)",
  },
  {
    name: "use_calendar_month_rate_limit",
    text: "unit: month is a calendar month (USE_CALENDAR_MONTH_RATE_LIMIT=true)",
  },
];

const BACKEND_TYPE: FlagDescription = {
  name: "backend_type",
  value: "TYPE",
  text: "the service's BACKEND_TYPE: embedded (default), kvstore (redis), objcache (memcache). With objcache, an algorithm other than fixed windows is an error",
  choices: ["embedded", "kvstore", "redis", "objcache", "memcache"],
};

export const CHECK: CommandDescription = {
  name: "check",
  summary: "checks configuration files",
  synopsis: "[flags] DIR|FILE|-...",
  text: [
    "Checks rate limit configurations and prints all errors and warnings.",
    "Each DIR is one configuration and contains *.yaml files. FILE arguments form one configuration together. - is standard input.",
    GO_FLAGS,
  ],
  flags: [
    { name: "config_dir", value: "DIR", text: "same as DIR" },
    ...LOAD_FLAGS,
    BACKEND_TYPE,
    { name: "strict", text: "treat warnings as errors" },
    {
      name: "format",
      value: "FORMAT",
      text: "text (default), json, sarif (code scanning), github (annotations of a workflow)",
      choices: ["text", "json", "sarif", "github"],
    },
  ],
  operands: "files",
  exit: [
    [0, "without errors"],
    [1, "with errors"],
    [2, "for invalid flags or unreadable paths"],
  ],
};

export const EXPLAIN: CommandDescription = {
  name: "explain",
  summary: "shows which rule a request matches and why",
  synopsis: "--config DIR --domain D --descriptors a=b,c=d [flags]",
  text: [
    "Shows which rule matches a request and why, with its cache key, window and metric key. Does not count hits.",
    "To explain a request with the rules and counters of a running service, POST the body of a /json call to /explain on its debug port.",
    GO_FLAGS,
  ],
  flags: [
    { name: "config", value: "DIR", text: "the configuration: a directory of *.yaml files, or one file" },
    { name: "domain", value: "DOMAIN", text: "the request's domain" },
    {
      name: "descriptors",
      value: "k=v,k2=v2",
      text: "one descriptor; repeat the flag for several. Write \\, for a comma inside a value",
    },
    {
      name: "hits",
      value: "N",
      text: "hits for every descriptor; 0 reads without counting; default 1",
    },
    ...LOAD_FLAGS,
    { name: "cache_key_prefix", value: "TEXT", text: "the service's CACHE_KEY_PREFIX" },
    {
      name: "cache_key_format",
      value: "NAME",
      text: "the service's CACHE_KEY_FORMAT: tollgate (default), compatible",
      choices: ["tollgate", "compatible"],
    },
    {
      ...BACKEND_TYPE,
      text: `${BACKEND_TYPE.text}. Decides when keys are hashed`,
    },
    { name: "json", text: "print JSON" },
  ],
  exit: [
    [0, "with an explanation"],
    [1, "if the configuration has errors"],
    [2, "for invalid flags or unreadable paths"],
  ],
};

export const TEST: CommandDescription = {
  name: "test",
  summary: "runs unit tests of limits",
  synopsis: "[flags] [DIR|FILE...]",
  text: [
    "Runs the tests in *.test.yaml files: requests, time that passes, and the expected answers. Decides with the service's own code, on counters in this process and under a virtual clock, so a day passes at once.",
    "Searches each DIR and the directories below it; default: the current directory. A test file names its configuration, or uses that of its own directory.",
    GO_FLAGS,
  ],
  flags: [
    { name: "config", value: "DIR", text: "test this configuration, a directory or a file, instead" },
    {
      name: "format",
      value: "FORMAT",
      text: "text (default), tap (version 14), junit (XML)",
      choices: ["text", "tap", "junit"],
    },
    { name: "watch", text: "run the tests again after each change of a file, until Ctrl-C" },
  ],
  operands: "files",
  exit: [
    [0, "if all tests passed"],
    [1, "if a test failed, or a file has errors"],
    [2, "for invalid flags, unreadable paths, or paths without tests"],
  ],
};

export const INIT: CommandDescription = {
  name: "init",
  summary: "writes a starting configuration with a test",
  synopsis: "[flags] [DIR]",
  text: [
    "Writes a configuration with examples of rules to DIR/config, and a test for it. DIR is the service's RUNTIME_ROOT; default: limits. Overwrites no file.",
    GO_FLAGS,
  ],
  flags: [{ name: "domain", value: "DOMAIN", text: "the domain of the rules; default shop" }],
  operands: "files",
  exit: [
    [0, "if the files were written"],
    [1, "if one of the files exists, or cannot be written"],
    [2, "for invalid flags"],
  ],
};

export const DIFF: CommandDescription = {
  name: "diff",
  summary: "shows what changes between two configurations",
  synopsis: "OLD NEW [flags]",
  text: [
    "Shows the limits that NEW adds, removes, raises, lowers or changes otherwise, the requests that would match another rule, with an example each, and the metric keys and cache keys that change.",
    "OLD and NEW are directories of *.yaml files, or files.",
    GO_FLAGS,
  ],
  flags: [
    {
      name: "format",
      value: "FORMAT",
      text: "text (default), markdown (for a pull request), json",
      choices: ["text", "markdown", "json"],
    },
    ...LOAD_FLAGS,
    BACKEND_TYPE,
    { name: "check", text: "exit with status 3 if there is a difference" },
  ],
  operands: "files",
  exit: [
    [0, "with a comparison"],
    [1, "if a configuration has errors"],
    [2, "for invalid flags or unreadable paths"],
    [3, "if there is a difference, with -check"],
  ],
};

export const REPLAY: CommandDescription = {
  name: "replay",
  summary: "tries a configuration on recorded decisions",
  synopsis: "LOG|-... --config NEW [flags]",
  text: [
    "Decides the decisions of a log (DECISION_LOG) again with another configuration, at the times of the log, and shows what would change: for each rule how many requests would newly be refused or newly pass, the keys with the most changes, and refusals over time.",
    "Several logs are read in the given order. A log may be compressed with gzip or Zstandard. Sums are scaled to the whole traffic by the rate of each line.",
    GO_FLAGS,
  ],
  flags: [
    {
      name: "config",
      value: "NEW",
      text: "the configuration to try: a directory of *.yaml files, or one file",
    },
    ...LOAD_FLAGS,
    BACKEND_TYPE,
    { name: "top", value: "N", text: "keys to list; default 10" },
    { name: "store_size", value: "MIB", text: "memory for counters, in MiB; default 256" },
    { name: "check", text: "exit with status 3 if a request would newly be refused" },
    { name: "json", text: "print JSON" },
  ],
  operands: "files",
  exit: [
    [0, "with a result"],
    [1, "if the configuration has errors"],
    [2, "for invalid flags or unreadable paths"],
    [3, "if a request would newly be refused, with -check"],
  ],
};

/** Flags of the commands for the admin API. */
export const COMPLETION: CommandDescription = {
  name: "completion",
  summary: "prints completions for a shell",
  synopsis: SHELLS.join("|"),
  text: [
    'Prints completions of commands and flags. For bash: eval "$(tollgate completion bash)". For zsh, write them to a file _tollgate in a folder of $fpath. For fish: tollgate completion fish | source.',
  ],
  flags: [],
  operands: SHELLS,
  exit: [
    [0, "with completions"],
    [2, "for an unknown shell"],
  ],
};

export const MAN: CommandDescription = {
  name: "man",
  summary: "prints the manual page",
  synopsis: "",
  text: ["Prints the manual page: tollgate man > /usr/share/man/man1/tollgate.1"],
  flags: [],
  exit: [
    [0, "with the page"],
    [2, "for arguments"],
  ],
};

export const HELP: CommandDescription = {
  name: "help",
  summary: "shows the help of a command",
  synopsis: "[COMMAND]",
  text: ["Shows the help of a command, or the list of commands."],
  flags: [],
  operands: "commands",
  exit: [
    [0, "with help"],
    [2, "for an unknown command"],
  ],
};

export const COMMANDS: readonly CommandDescription[] = [
  SERVE,
  CLIENT,
  CHECK,
  EXPLAIN,
  COUNTERS,
  OVERRIDES,
  AUDIT,
  INIT,
  TEST,
  DIFF,
  REPLAY,
  COMPLETION,
  MAN,
  HELP,
];
