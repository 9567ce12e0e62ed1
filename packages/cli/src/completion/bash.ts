import type { CommandWords } from "./command-words.js";

/** The completion script for bash 4 and newer. Words and flags are our own names: plain letters, digits and hyphens. */
export function bashCompletion(commands: readonly CommandWords[]): string {
  return `# bash completion of berth: source it, or write it to /etc/bash_completion.d/berth
_berth() {
  local current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" path="" word i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    case "\${path:+$path }$word" in
${pathCase(commands)}
    esac
  done
  case "$path:$before" in
${valueCases(commands)}
  esac
  case "$path" in
${wordCases(commands)}
  esac
}
complete -o default -F _berth berth
`;
}

function pathCase(commands: readonly CommandWords[]): string {
  const paths = commands.map(({ path }) => path).filter((path) => path !== "");
  return `      ${paths.map((path) => `"${path}"`).join(" | ")}) path="\${path:+$path }$word" ;;`;
}

/** After an option that takes a value: its choices, or the shell's own completion of files. */
function valueCases(commands: readonly CommandWords[]): string {
  return commands
    .flatMap(({ options, path }) =>
      options
        .filter(({ takesValue }) => takesValue)
        .map(({ choices, flags }) => {
          const patterns = flags.map((flag) => `"${path}:${flag}"`).join(" | ");
          return `    ${patterns}) COMPREPLY=(${choices.length === 0 ? "" : `$(compgen -W "${choices.join(" ")}" -- "$current")`}); return ;;`;
        }),
    )
    .join("\n");
}

function wordCases(commands: readonly CommandWords[]): string {
  return commands
    .map(({ options, path, subcommands }) => {
      const words = [...subcommands.map(({ text }) => text), ...options.flatMap(({ flags }) => flags)];
      return `    "${path}") COMPREPLY=($(compgen -W "${words.join(" ")}" -- "$current")) ;;`;
    })
    .join("\n");
}
