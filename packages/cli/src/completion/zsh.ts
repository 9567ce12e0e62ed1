import type { CommandWords, OptionWords } from "./command-words.js";

/** The completion script for zsh (where `path` would be the search path of programs); a function of the name `_berth` on the `fpath`, or sourced. */
export function zshCompletion(commands: readonly CommandWords[]): string {
  return `#compdef berth
# zsh completion of berth: write it to a directory of your fpath as _berth, or source it
_berth() {
  local typed="" word before="\${words[CURRENT-1]}" i
  local -a choices
  for ((i = 2; i < CURRENT; i++)); do
    word="\${words[i]}"
    case "\${typed:+$typed }$word" in
${pathCase(commands)}
    esac
  done
  case "$typed:$before" in
${valueCases(commands)}
  esac
  case "$typed" in
${wordCases(commands)}
  esac
  _describe -t commands 'berth' choices
}
if [ "$funcstack[1]" = "_berth" ]; then _berth "$@"; else compdef _berth berth; fi
`;
}

function pathCase(commands: readonly CommandWords[]): string {
  const paths = commands.map(({ path }) => path).filter((path) => path !== "");
  return `      ${paths.map((path) => `"${path}"`).join("|")}) typed="\${typed:+$typed }$word" ;;`;
}

function valueCases(commands: readonly CommandWords[]): string {
  return commands.flatMap(({ options, path }) => options.filter(({ takesValue }) => takesValue).map(valueCase(path))).join("\n");
}

function valueCase(path: string): (option: OptionWords) => string {
  return ({ choices, flags }) => {
    const patterns = flags.map((flag) => `"${path}:${flag}"`).join("|");
    return `    ${patterns}) ${choices.length === 0 ? "_files" : `compadd -- ${choices.join(" ")}`}; return ;;`;
  };
}

function wordCases(commands: readonly CommandWords[]): string {
  return commands
    .map(({ options, path, subcommands }) => {
      const described = [
        ...subcommands.map(({ description, text }) => entry(text, description)),
        ...options.flatMap(({ description, flags }) => flags.map((flag) => entry(flag, description))),
      ];
      return `    "${path}") choices=(${described.join(" ")}) ;;`;
    })
    .join("\n");
}

/** `'name:description'`, where a colon or a quote of the description would end it. */
function entry(text: string, description: string): string {
  return `'${text}:${description.replaceAll(":", "\\:").replaceAll("'", "'\\''")}'`;
}
