import { toTime } from '../../contracts/values.js';
import { exportAudit, type SealedAuditRow } from '../../db/export-audit.js';
import { type AuditHead, verifyAudit } from '../../db/verify-audit.js';
import { decodeCursor, encodeCursor } from '../../http/gateway/cursor.js';
import { type Command, type CommandInput, textOption } from '../command.js';
import { CliFailure, EXIT } from '../failure.js';

export const verifyAuditCommand: Command = {
  path: ['audit', 'verify'],
  summary: "rebuild the audit's chain of hashes; exit code 1 on any difference",
  options: [{ flags: '--kept <place>', description: 'a place noted before, <position>:<hash>, must still be there' }],
  examples: ['audit verify', 'audit verify --kept 1207:9f3c… --json'],
  async run(context, input) {
    const { out } = context;
    const { checked, head, findings } = await verifyAudit(context.pool(), keptOf(input));
    const whole = findings.length === 0;
    const document = {
      object: 'audit_verification',
      ok: whole,
      checked,
      head,
      findings: findings.map(({ kind, position, auditId, detail }) => ({ kind, position, audit_id: auditId, detail })),
    };
    out.result(document, () => {
      const counts = `${checked.rows} rows, ${checked.sealed} of them sealed`;
      if (whole) {
        out.line(`${out.mark.good('The audit is whole:')} ${counts}.`);
        if (head !== null) out.line(`Keep elsewhere what it ends with: ${head.position}:${head.hash}`);
        return;
      }
      out.table(
        [
          { title: 'FINDING' },
          { title: 'POSITION', align: 'right' },
          { title: 'ROW', align: 'right' },
          { title: 'WHAT' },
        ],
        findings.map(({ kind, position, auditId, detail }) => [
          { text: kind, mark: out.mark.bad },
          position ?? '–',
          auditId ?? '–',
          detail,
        ]),
      );
      out.line(`\n${out.mark.bad(`${findings.length} findings`)} in ${counts}. See docs/operating/audit.md.`);
    });
    return whole ? EXIT.done : EXIT.found;
  },
};

export const exportAuditCommand: Command = {
  path: ['audit', 'export'],
  summary: 'every sealed row with its place in the chain, one JSON document a line, all of them',
  options: [
    { flags: '--from <time>', description: 'recorded at or after, such as 2026-11-30 or 2026-11-30T10:15:30Z' },
    { flags: '--to <time>', description: 'recorded before' },
  ],
  examples: [
    'audit export > audit.ndjson',
    'audit export --from 2026-11-01 --to 2026-12-01',
    'audit export --cursor …',
  ],
  async run(context, input) {
    const { flags } = context;
    const [from, to] = [timeOption(input, 'from'), timeOption(input, 'to')];
    const scope = ['cli', 'audit', 'export', `book=${flags.book ?? ''}`];
    const after = flags.cursor === null ? 0n : BigInt(decodeCursor(scope, flags.cursor));
    let last = after;
    async function* lines() {
      for await (const row of exportAudit(context.db(), { after, from, to, book: flags.book })) {
        yield JSON.stringify(toAuditLine(row));
        last = row.position;
      }
    }
    await context.stream(lines());
    if (last > after) context.note(`What comes later: --cursor ${encodeCursor(scope, String(last))}`);
    return EXIT.done;
  },
};

function keptOf(input: CommandInput): AuditHead | null {
  const text = textOption(input, 'kept');
  if (text === null) return null;
  const [, position, hash] = /^([1-9][0-9]{0,17}):([0-9a-f]{64})$/.exec(text) ?? [];
  if (position === undefined || hash === undefined) {
    throw new CliFailure('usage', '--kept is a place as `audit verify` prints it: <position>:<64 hex digits>.');
  }
  return { position, hash };
}

function timeOption(input: CommandInput, name: string): Date | null {
  const text = textOption(input, name);
  if (text === null) return null;
  const isWritten = /^[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,3})?Z)?$/.test(text);
  const time = new Date(text);
  // A day that no month has would become one of the next month.
  if (!isWritten || Number.isNaN(time.getTime()) || !time.toISOString().startsWith(text.slice(0, 10))) {
    throw new CliFailure('usage', `--${name} is a day or a time in UTC: 2026-11-30 or 2026-11-30T10:15:30Z.`);
  }
  return time;
}

function toAuditLine(row: SealedAuditRow): object {
  return {
    object: 'audit_row',
    position: String(row.position),
    hash: row.hash,
    id: String(row.id),
    book: row.book,
    merchant_id: row.merchantId,
    subject: { type: row.subjectType, id: row.subjectId },
    from: row.fromState,
    to: row.toState,
    version: row.version,
    actor: row.actor,
    reason: row.reason,
    trace_id: row.traceId,
    recorded_at: toTime(row.recordedAt),
    sealed_text: row.sealedText,
  };
}
