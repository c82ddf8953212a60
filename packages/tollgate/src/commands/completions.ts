import type { CommandDescription } from "./description.ts";
import { COMMANDS } from "./descriptions.ts";

/** A script for a shell; undefined for an unknown shell. */
export function completionsFor(shell: string): string | undefined {
  return Object.hasOwn(SCRIPTS, shell) ? SCRIPTS[shell]!() : undefined;
}

const SCRIPTS: Readonly<Record<string, () => string>> = { bash, zsh, fish };

const NAMES = COMMANDS.map(({ name }) => name).join(" ");

/** The words that may follow a command. */
function operandsOf({ operands = [] }: CommandDescription): string {
  if (operands === "files") return "";
  return operands === "commands" ? NAMES : operands.join(" ");
}

function bash(): string {
  const cases = COMMANDS.flatMap((command) => {
    const { name, flags } = command;
    const choices = flags.flatMap(({ name: flag, choices: values }) =>
      values === undefined
        ? []
        : [`    ${name}:-${flag} | ${name}:--${flag}) words="${values.join(" ")}" ;;`],
    );
    const words = [...flags.map((flag) => `--${flag.name}`), "--help", operandsOf(command)].join(" ").trim();
    return [...choices, `    ${name}:*) words="${words}" ;;`];
  });
  return `_tollgate() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD - 1]} words=
  if [ "$COMP_CWORD" -eq 1 ]; then
    words="${NAMES} --help --version"
  else
    case "\${COMP_WORDS[1]}:$before" in
${cases.join("\n")}
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _tollgate tollgate
`;
}

function zsh(): string {
  const quoted = (text: string) => text.replaceAll("'", "'\\''").replace(/[[\]:]/g, "\\$&");
  const commands = COMMANDS.map(({ name, summary }) => `    '${name}:${quoted(summary)}'`).join("\n");
  const cases = COMMANDS.map((command) => {
    const flags = command.flags.map(({ name, value, text, choices }) => {
      const values = choices === undefined ? "_files" : `(${choices.join(" ")})`;
      const argument = value === undefined ? "" : `:${quoted(value)}:${values}`;
      return `'*--${name}[${quoted(text)}]${argument}'`;
    });
    const operands = operandsOf(command);
    const last = operands === "" ? "'*:file:_files'" : `'1:argument:(${operands})'`;
    return `      ${command.name}) _arguments ${[...flags, "'--help[shows help]'", last].join(" ")} ;;`;
  });
  return `#compdef tollgate
_tollgate() {
  local -a commands=(
${commands}
  )
  if ((CURRENT == 2)); then
    _describe command commands
  else
    local command=$words[2]
    shift words
    ((CURRENT--))
    case $command in
${cases.join("\n")}
    esac
  fi
}
compdef _tollgate tollgate
`;
}

function fish(): string {
  const quoted = (text: string) => `'${text.replace(/[\\']/g, "\\$&")}'`;
  const lines = COMMANDS.flatMap((command) => {
    const { name, summary, flags } = command;
    const within = `complete -c tollgate -n '__fish_seen_subcommand_from ${name}'`;
    const operands = operandsOf(command);
    return [
      `complete -c tollgate -n __fish_use_subcommand -f -a ${name} -d ${quoted(summary)}`,
      ...flags.map(({ name: flag, value, text, choices }) => {
        const values = choices === undefined ? "" : ` -f -a ${quoted(choices.join(" "))}`;
        return `${within} -l ${flag}${value === undefined ? "" : " -r"}${values} -d ${quoted(text)}`;
      }),
      ...(operands === "" ? [] : [`${within} -f -a ${quoted(operands)}`]),
    ];
  });
  return `${lines.join("\n")}\n`;
}
