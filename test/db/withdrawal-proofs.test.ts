import { createHash } from 'node:crypto';
import { crc32, deflateSync } from 'node:zlib';
import { inTransaction, queriesOf } from '../../src/db/transaction.js';
import { applyWithdrawalDecision } from '../../src/db/withdrawal-doors.js';
import { readWithdrawal } from '../../src/db/withdrawals.js';
import { newTraceId } from '../../src/telemetry/trace.js';
import { expectMoneyInvariants } from '../support/money-invariants.js';
import { openTestPages, type TestBrowser, type TestPage, type TestPages } from '../support/pages.js';
import { openWithdrawing, type Withdrawing } from '../support/withdrawal-rows.js';

const MEGABYTE = 1_024 * 1_024;
/** What a decoder of a bomb would need, against what this machine may use while it takes one. */
const GROWTH_MAX = 200 * MEGABYTE;

let pages: TestPages;
let it: Withdrawing;
let operator: TestBrowser;
let id: string;
beforeAll(async () => {
  pages = await openTestPages();
  it = await openWithdrawing(pages.database);
  operator = pages.browser('console');
  const { rows } = await it.owner.query<{ login: string }>(`select login from sverka."user" where id = $1`, [
    it.operator,
  ]);
  await operator.signIn(rows[0]?.login ?? '');
  id = await it.request();
  await it.decide(id, 'approve', { by: it.approver, argument: 'manual' });
  await apply();
  await it.decide(id, 'pay', { by: it.operator });
  await apply();
});
afterAll(async () => {
  await expectMoneyInvariants(it.owner, 'any');
  await it.close();
  await pages.close();
});

const apply = () => inTransaction(it.worker, (tx) => applyWithdrawalDecision(tx, { id, traceId: newTraceId() }, null));
const state = async () => (await readWithdrawal(queriesOf(it.owner), id)).state;
const kept = async () =>
  (
    await it.owner.query<{ hash: Buffer; size: number }>(
      'select file_hash as hash, octet_length(file) as size from sverka.withdrawal_proof order by created_at',
    )
  ).rows;
const field = (text: string, name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(text)?.[1] ?? '';

/** Sends the form of the page with that file as the proof. */
async function complete(file: Uint8Array<ArrayBuffer>, of: { name: string; type: string }): Promise<TestPage> {
  const { text } = await operator.get(`/operator/withdrawals/${id}`);
  const form = new FormData();
  for (const name of ['stage', 'seen']) form.append(name, field(text, name));
  form.append('choice', 'complete');
  form.append('reason', 'paid at the bank');
  form.append('file', new File([file], of.name, { type: of.type }));
  return operator.post(`/operator/withdrawals/${id}/decisions`, form);
}

/** A picture of 100 000 by 100 000 points: 10 GB for who opens it, ten kilobytes on its way. */
function bomb(): Uint8Array<ArrayBuffer> {
  const chunk = (type: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    sum.writeUInt32BE(crc32(body));
    return Buffer.concat([length, body, sum]);
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(100_000, 0);
  head.writeUInt32BE(100_000, 4);
  head[8] = 8;
  const parts = [
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    ...[chunk('IHDR', head), chunk('IDAT', deflateSync(Buffer.alloc(10 * MEGABYTE), { level: 9 }))],
    chunk('IEND', Buffer.alloc(0)),
  ];
  return new Uint8Array(Buffer.concat(parts));
}

const PDF = Buffer.from('%PDF-1.7\n');
const ofSize = (bytes: number) => {
  const file = new Uint8Array(bytes);
  file.set(PDF);
  return file;
};

test.each([
  ['of 20 MB', ofSize(20 * MEGABYTE), { name: 'payout.pdf', type: 'application/pdf' }, 413],
  ['that is a byte over 5 MB', ofSize(5 * MEGABYTE + 1), { name: 'payout.pdf', type: 'application/pdf' }, 422],
  [
    'that is an archive and calls itself a picture',
    new Uint8Array(Buffer.from('PK\u0003\u0004bomb')),
    { name: 'payout.png', type: 'image/png' },
    422,
  ],
  [
    'that is a page and calls itself a document',
    new Uint8Array(Buffer.from('<script>1</script>')),
    { name: 'payout.pdf', type: 'application/pdf' },
    422,
  ],
])('a proof %s is refused, and leaves neither file nor decision', async (_, file, of, status) => {
  expect((await complete(file, of)).status).toBe(status);
  expect(await kept()).toEqual([]);
  expect(await state()).toBe('submitted');
});

test('a picture that would fill the memory of who opens it is kept as the bytes it is, and never opened', async () => {
  const file = bomb();
  const before = process.memoryUsage().rss;
  const answer = await complete(file, { name: 'payout.png', type: 'image/png' });
  expect(process.memoryUsage().rss - before).toBeLessThan(GROWTH_MAX);
  expect(answer.status).toBe(303);
  const hash = createHash('sha256').update(file).digest('hex');
  expect((await kept()).map((row) => [row.hash.toString('hex'), row.size])).toEqual([[hash, file.length]]);
  await apply();
  expect(await state()).toBe('completed');

  const { text } = await operator.get(`/operator/withdrawals/${id}`);
  const at = /\/operator\/withdrawals\/\w+\/proofs\/\w+/.exec(text)?.[0] ?? '';
  const { headers } = await operator.get(at);
  // A browser that opens it does so outside of our pages, and by nobody's guess of its type.
  expect(headers.get('content-disposition')).toMatch(/^attachment; /);
  expect([headers.get('content-type'), headers.get('x-content-type-options')]).toEqual(['image/png', 'nosniff']);
});
