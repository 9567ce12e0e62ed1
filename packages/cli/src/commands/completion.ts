import { Argument, type Command } from "commander";
import type { CliContext } from "../cli-context.js";
import { bashCompletion } from "../completion/bash.js";
import { commandWords } from "../completion/command-words.js";
import { fishCompletion } from "../completion/fish.js";
import { zshCompletion } from "../completion/zsh.js";

const SCRIPTS = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion } as const;

export function completionCommand(program: Command, context: CliContext): void {
  program
    .command("completion")
    .description("print the completion script of a shell, to be sourced: source <(berth completion bash)")
    .addArgument(new Argument("<shell>", "which shell").choices(Object.keys(SCRIPTS)))
    .action((shell: keyof typeof SCRIPTS) => context.ports.stdout.write(SCRIPTS[shell](commandWords(program))));
}
