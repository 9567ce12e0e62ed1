import type { Command } from "commander";

/** What may be typed after one command, for completion. */
export interface CommandWords {
  /** Names of the command and those above it, without the program: `subnet create`; empty for the program itself. */
  readonly path: string;
  readonly subcommands: readonly Word[];
  readonly options: readonly OptionWords[];
}

export interface Word {
  readonly text: string;
  readonly description: string;
}

export interface OptionWords {
  /** `-o` and `--output`. */
  readonly flags: readonly string[];
  readonly takesValue: boolean;
  /** The only values it takes; empty for any. */
  readonly choices: readonly string[];
  readonly description: string;
}

/** The program and every command below it, the program first. Options of the program may stand after every command. */
export function commandWords(program: Command): readonly CommandWords[] {
  const shared = optionWords(program);
  const visit = (command: Command, path: readonly string[]): CommandWords[] => [
    {
      path: path.join(" "),
      subcommands: command.commands.map((sub) => ({ text: sub.name(), description: firstLine(sub.description()) })),
      options: command === program ? shared : [...optionWords(command), ...shared],
    },
    ...command.commands.flatMap((sub) => visit(sub, [...path, sub.name()])),
  ];
  return visit(program, []);
}

function optionWords(command: Command): readonly OptionWords[] {
  return command.options.map((option) => ({
    flags: [option.short, option.long].filter((flag): flag is string => flag !== undefined && flag !== null),
    takesValue: option.required || option.optional,
    choices: option.argChoices ?? [],
    description: firstLine(option.description),
  }));
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? "";
}
