import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { toAmount, toTime } from '../../contracts/values.js';
import { findLedgerImport, type LedgerImport, refusedOpenings, requestLedgerImport } from '../../db/ledger-imports.js';
import { type LineProblem, type OpeningBalance, readOpeningBalances } from '../../domain/opening-balances.js';
import { newTraceId } from '../../telemetry/trace.js';
import { argument, type Command, type Context, textOption } from '../command.js';
import { CliFailure, EXIT, type ExitCode } from '../failure.js';
import { signIn } from '../sign-in.js';

const FILE_BYTES_MAX = 1_000_000;
const WAIT_SECONDS_DEFAULT = 30;
const LOOK_MS = 100;

export const importLedgerCommand: Command = {
  path: ['ledger', 'import'],
  summary: 'opening balances from a CSV file, all of them or none, once',
  args: [{ name: '<csv>', description: 'book,owner,asset,amount,reference; the owner is mer_… or mer_…/<customer>' }],
  options: [
    { flags: '--as <login>', description: 'who imports: the own one-time link of this person is used' },
    { flags: '--wait <seconds>', description: `how long to wait, default ${WAIT_SECONDS_DEFAULT}` },
  ],
  examples: ['ledger import openings.csv --dry-run', 'ledger import openings.csv'],
  async run(context, input) {
    const wait = textOption(input, 'wait') ?? String(WAIT_SECONDS_DEFAULT);
    if (!/^[0-9]{1,4}$/.test(wait)) throw new CliFailure('usage', '--wait is a whole number of seconds.');
    const file = readFile(argument(input, 0));
    const db = context.db();
    const before = await findLedgerImport(db, file.hash);
    if (before?.state === 'posted') return tell(context, file, before);
    const refused = await refusedOpenings(db, file.openings);
    if (refused.length > 0) throw refusal('conflict', refused);
    if (context.flags.dryRun) return tellDryRun(context, file);
    const login = textOption(input, 'as');
    const userId = login === null ? null : await signIn(context, login);
    await requestLedgerImport(db, file, { userId, traceId: newTraceId() });
    return tell(context, file, await waitForEnd(context, file.hash, Number(wait) * 1_000));
  },
};

interface OpeningsFile {
  readonly hash: Buffer;
  readonly openings: readonly OpeningBalance[];
}

function readFile(path: string): OpeningsFile {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    throw new CliFailure('notFound', 'The file cannot be read. Check its path and its rights.', { cause: error });
  }
  if (bytes.length > FILE_BYTES_MAX) throw new CliFailure('usage', 'The file is larger than a megabyte: split it.');
  const read = readOpeningBalances(textOf(bytes));
  if ('problems' in read) throw refusal('usage', read.problems);
  return { hash: createHash('sha256').update(bytes).digest(), openings: read };
}

function textOf(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw new CliFailure('usage', 'The file is no UTF-8 text.', { cause: error });
  }
}

function refusal(kind: 'usage' | 'conflict', problems: readonly LineProblem[]): CliFailure {
  const errors = problems.map(({ line, detail }) => ({ pointer: `line ${line}`, detail }));
  const options = kind === 'conflict' ? { errors, problem: 'invalid_state' as const } : { errors };
  return new CliFailure(kind, `Nothing was posted: ${problems.length} line(s) of the file were refused.`, options);
}

async function waitForEnd({ db }: Context, hash: Buffer, waitMs: number): Promise<LedgerImport> {
  for (const until = Date.now() + waitMs; ; ) {
    const found = await findLedgerImport(db(), hash);
    if (found && (found.state !== 'requested' || Date.now() >= until)) return found;
    await pause(LOOK_MS);
  }
}

function tell({ out }: Context, { hash }: OpeningsFile, found: LedgerImport): ExitCode {
  const { state, problems, lines, actor } = found;
  if (state === 'refused') throw refusal('conflict', problems);
  if (state === 'requested') {
    const message = 'The file is kept and not posted yet: the worker’s sweep does. Run the same command to see.';
    throw new CliFailure('unavailable', message);
  }
  const finishedAt = toTime(found.finishedAt);
  out.result(
    { object: 'ledger_import', file_hash: hash.toString('hex'), state, lines, actor, finished_at: finishedAt },
    () => {
      out.line(
        `${out.mark.good('Posted')} ${lines} opening balances, at ${finishedAt}. The same file is never posted again.`,
      );
    },
  );
  return EXIT.done;
}

function tellDryRun({ out, flags }: Context, { hash, openings }: OpeningsFile): ExitCode {
  const lines = openings.map(({ line, book, merchantId, customerRef, asset, amount, reference }) => ({
    ...{ line, book, owner: customerRef === null ? merchantId : `${merchantId}/${customerRef}` },
    ...{ amount: toAmount(amount, asset), reference },
  }));
  const subject = { object: 'ledger_import', file_hash: hash.toString('hex'), state: null, lines };
  const would = `post ${openings.length} opening balances`;
  out.result({ object: 'dry_run', would, subject, reason: flags.reason }, () => {
    out.table(
      [
        { title: 'LINE', align: 'right' },
        { title: 'BOOK' },
        { title: 'OWNER' },
        { title: 'AMOUNT', align: 'right' },
        { title: 'ASSET' },
        { title: 'REFERENCE' },
      ],
      lines.map(({ line, book, owner, amount, reference }) => [
        ...[String(line), book, owner, amount.amount, amount.asset, reference ?? ''],
      ]),
    );
    out.line(`\n${out.mark.warn('Dry run:')} would ${would}. Nothing was changed.`);
  });
  return EXIT.done;
}
