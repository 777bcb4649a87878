import { argument, type Command } from '../command.js';
import { completionScript, SHELLS } from '../completion-scripts.js';
import { EXIT } from '../failure.js';

/** `commands` are all there are, this one among them. */
export function createCompletionCommand(commands: () => readonly Command[]): Command {
  return {
    path: ['completion'],
    summary: 'a script that completes commands and options in your shell',
    args: [{ name: '<shell>', description: 'bash, zsh or fish', choices: SHELLS }],
    examples: ['completion bash >> ~/.bashrc', 'completion fish > ~/.config/fish/completions/sverka.fish'],
    async run({ out }, input) {
      const asked = argument(input, 0);
      const shell = SHELLS.find((each) => each === asked) ?? 'bash';
      const script = completionScript(shell, commands());
      out.result({ object: 'completion', shell, script }, () => out.line(script.trimEnd()));
      return EXIT.done;
    },
  };
}
