import { playBalances } from './balances.js';
import { playCards } from './cards.js';
import { playDeposits } from './deposits.js';
import { playWithdrawals } from './withdrawals.js';

/** What the story needs of `.sverka/run.json`. */
export interface StoryRun {
  readonly gatewayUrl: string;
  readonly relayUrl: string;
  readonly temporalUiUrl?: string;
  readonly pids: Readonly<Record<string, number>>;
  readonly simulators: Readonly<Record<string, { readonly url: string }>>;
  readonly hooks: readonly {
    readonly provider: string;
    readonly url: string;
    readonly book: string;
    readonly secrets: readonly string[];
  }[];
  /** Relative to the repository. */
  readonly logFiles: Readonly<Record<string, string>>;
  /** Accounts whose balances are mirrored, and whose they are. */
  readonly sources?: readonly { readonly source: string; readonly book: string; readonly merchantId: string }[];
  /** One-time links, by person. */
  readonly logins?: readonly { readonly user: string; readonly linkFile: string }[];
  readonly merchants: readonly { readonly id: string; readonly book: string; readonly apiKey: string }[];
}

/** Notes one expectation of the story: what happened, what was expected, what was seen. */
export type Expect = (what: string, expected: string, seen: string | null) => void;

interface Line {
  readonly what: string;
  readonly expected: string;
  readonly seen: string;
  readonly held: boolean;
}

const CHAPTERS = [
  { title: 'Deposits', play: playDeposits },
  { title: 'Cards', play: playCards },
  { title: 'Withdrawals', play: playWithdrawals },
  { title: 'Balances', play: playBalances },
] as const;

/**
 * Plays the story over HTTP alone, as a merchant, a custodian and an issuer would, and prints what happened.
 * True only if every expectation held.
 */
export async function playStory(run: StoryRun): Promise<boolean> {
  let held = true;
  for (const { title, play } of CHAPTERS) {
    const lines: Line[] = [];
    const expect: Expect = (what, expected, seen) => {
      lines.push({ what, expected, seen: seen ?? 'nothing in time', held: seen === expected });
    };
    try {
      await play(run, expect);
    } catch (error) {
      expect('the chapter is played to its end', 'yes', error instanceof Error ? error.message : 'no');
    }
    print(title, lines);
    held &&= lines.every((line) => line.held);
  }
  return held;
}

function print(title: string, lines: readonly Line[]): void {
  const width = Math.max(...lines.map((line) => line.what.length));
  const rows = lines.map((line) => {
    const mark = line.held ? 'ok  ' : 'NOT ';
    const seen = line.held ? line.seen : `expected ${line.expected}, saw ${line.seen}`;
    return `  ${mark}${line.what.padEnd(width)}  ${seen}`;
  });
  const count = lines.filter((line) => line.held).length;
  process.stdout.write(`\n${title}\n${rows.join('\n')}\n  ${count} of ${lines.length} expectations held\n`);
}
