import type { Command } from './command.js';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** What comes after `sverka` and what after each word, with a line of explanation. */
interface Words {
  readonly nouns: readonly (readonly [string, string])[];
  /** Verbs of a noun, or the choices of a command of one word. */
  readonly verbs: ReadonlyMap<string, readonly (readonly [string, string])[]>;
  /** By path: `deposits list`. */
  readonly options: ReadonlyMap<string, readonly string[]>;
}

const COMMON = '--json --profile --book --limit --cursor --yes --dry-run --reason --help'.split(' ');

/** A script that teaches a shell our words. It asks nothing of the product, so that TAB never waits. */
export function completionScript(shell: Shell, commands: readonly Command[]): string {
  return { bash, zsh, fish }[shell](wordsOf(commands));
}

function wordsOf(commands: readonly Command[]): Words {
  const nouns = new Map<string, string>();
  const verbs = new Map<string, (readonly [string, string])[]>();
  const options = new Map<string, readonly string[]>();
  for (const { path, summary, args = [], options: own = [] } of commands) {
    const [noun, verb] = path;
    nouns.set(noun, verb === undefined ? summary : [nouns.get(noun), verb].filter(Boolean).join(', '));
    const below =
      verb === undefined ? (args[0]?.choices ?? []).map((word) => [word, ''] as const) : [[verb, summary] as const];
    verbs.set(noun, [...(verbs.get(noun) ?? []), ...below]);
    options.set(path.join(' '), [...own.map(({ flags }) => flags.split(' ')[0] ?? ''), ...COMMON]);
  }
  return { nouns: [...nouns], verbs, options };
}

function bash({ nouns, verbs, options }: Words): string {
  const cases = [
    ...[...options].map(([path, words]) => `    "${path} -"*) words="${words.join(' ')}" ;;`),
    ...nouns.map(([noun]) => `    "${noun} "*) words="${wordsIn(verbs.get(noun))}" ;;`),
  ];
  return `# sverka completion for bash: source <(sverka completion bash)
_sverka() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" words=""
  COMPREPLY=()
  case "\${COMP_WORDS[COMP_CWORD-1]}" in
    --book) words="live test" ;;
    *) if [ "$COMP_CWORD" -eq 1 ]; then words="${nouns.map(([noun]) => noun).join(' ')} ${COMMON.join(' ')}"
       else case "$(_sverka_path) \${cur:0:1}" in
${cases.join('\n')}
       esac; fi ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur" || true))
}
# The noun, and its verb when there is one: what the options belong to.
_sverka_path() {
  local noun="\${COMP_WORDS[1]}" verb="\${COMP_WORDS[2]}"
  if [ "$COMP_CWORD" -gt 2 ] && [ "\${verb:0:1}" != "-" ]; then
    case " ${[...options.keys()]
      .filter((path) => path.includes(' '))
      .map((path) => path.replace(' ', ':'))
      .join(' ')} " in
      *" $noun:$verb "*) echo "$noun $verb"; return ;;
    esac
  fi
  echo "$noun"
}
complete -F _sverka sverka
`;
}

function zsh({ nouns, verbs, options }: Words): string {
  const described = (words: readonly (readonly [string, string])[]) =>
    words.map(([word, text]) => `'${word}:${text.replaceAll("'", '’').replaceAll(':', ' ')}'`).join(' ');
  const byNoun = nouns.map(([noun]) => `      ${noun}) words=(${described(verbs.get(noun) ?? [])}) ;;`);
  const byPath = [...options].map(([path, words]) => `      '${path}') compadd -- ${words.join(' ')} ;;`);
  return `#compdef sverka
# sverka completion for zsh: sverka completion zsh > "\${fpath[1]}/_sverka"
_sverka() {
  local -a words_of_line=("\${(@)words}") words
  if [[ \${words_of_line[CURRENT-1]} == --book ]]; then compadd live test; return; fi
  if [[ \${words_of_line[CURRENT]} == -* ]]; then
    local noun=\${words_of_line[2]} verb=\${words_of_line[3]}
    case "$noun $verb" in
${byPath.map((line) => line.replace("') ", "'*) ")).join('\n')}
      *) compadd -- ${COMMON.join(' ')} ;;
    esac
    return
  fi
  if (( CURRENT == 2 )); then words=(${described(nouns)}); _describe command words; return; fi
  if (( CURRENT == 3 )); then
    case \${words_of_line[2]} in
${byNoun.join('\n')}
    esac
    _describe command words
  fi
}
compdef _sverka sverka
`;
}

function fish({ nouns, verbs, options }: Words): string {
  const quoted = (text: string) => `'${text.replaceAll("'", '’')}'`;
  const lines = [
    '# sverka completion for fish: sverka completion fish > ~/.config/fish/completions/sverka.fish',
    'complete -c sverka -f',
    ...nouns.map(([noun, text]) => `complete -c sverka -n __fish_use_subcommand -a ${noun} -d ${quoted(text)}`),
    ...nouns.flatMap(([noun]) =>
      (verbs.get(noun) ?? []).map(
        ([verb, text]) =>
          `complete -c sverka -n '__fish_seen_subcommand_from ${noun}; and test (count (commandline -opc)) -eq 2' ` +
          `-a ${verb} -d ${quoted(text)}`,
      ),
    ),
    ...COMMON.map(
      (option) => `complete -c sverka -l ${option.slice(2)}${option === '--book' ? " -x -a 'live test'" : ''}`,
    ),
    ...[...options].flatMap(([path, words]) =>
      words
        .filter((word) => !COMMON.includes(word))
        .map((word) => {
          const seen = path.split(' ').map((part) => `__fish_seen_subcommand_from ${part}`);
          return `complete -c sverka -n '${seen.join('; and ')}' -l ${word.slice(2)}`;
        }),
    ),
  ];
  return `${lines.join('\n')}\n`;
}

function wordsIn(words: readonly (readonly [string, string])[] = []): string {
  return words.map(([word]) => word).join(' ');
}
