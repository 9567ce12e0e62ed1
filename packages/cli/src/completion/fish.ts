import type { CommandWords, OptionWords, Word } from "./command-words.js";

/** The completion script for fish. */
export function fishCompletion(commands: readonly CommandWords[]): string {
  const lines = commands.flatMap((command) => [
    ...command.subcommands.map((word) => subcommandLine(command.path, word)),
    ...command.options.map((option) => optionLine(command.path, option)),
  ]);
  return `# fish completion of berth: write it to ~/.config/fish/completions/berth.fish
function __berth_path
    set -l typed
    for word in (commandline -opc)[2..-1]
        if contains -- (string join ' ' -- $typed $word) ${commands.map(({ path }) => quote(path)).join(" ")}
            set -a typed $word
        end
    end
    test "$typed" = "$argv[1]"
end
complete -c berth -f
${lines.join("\n")}
`;
}

function subcommandLine(path: string, { description, text }: Word): string {
  return `complete -c berth -n ${condition(path)} -a ${text} -d ${quote(description)}`;
}

function optionLine(path: string, { choices, description, flags, takesValue }: OptionWords): string {
  const names = flags.map((flag) => (flag.startsWith("--") ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`)).join(" ");
  const value = choices.length > 0 ? ` -x -a ${quote(choices.join(" "))}` : takesValue ? " -r" : "";
  return `complete -c berth -n ${condition(path)} ${names}${value} -d ${quote(description)}`;
}

function condition(path: string): string {
  return quote(`__berth_path "${path}"`);
}

function quote(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
