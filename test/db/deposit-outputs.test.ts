import { decideAs, makePerson } from '../support/decisions.js';
import { depositOf, expectDepositInvariants, expectNothingComesOf, openAlerts } from '../support/deposit-facts.js';
import { type DepositWorld, openDepositWorld, walletOf } from '../support/deposit-world.js';

let world: DepositWorld;
let hashes = 0;
const newHash = () => (hashes += 1).toString(16).padStart(64, '0');

beforeAll(async () => {
  world = await openDepositWorld();
});
afterEach(async () => {
  await expectDepositInvariants(world.owner);
});
afterAll(async () => {
  await world.close();
});

it('two outputs of one transaction, and a third to another merchant’s customer, are three credits', async () => {
  const [one, two] = [await world.address({ customerRef: 'h02-1' }), await world.address({ customerRef: 'h02-2' })];
  const tx_hash = newHash();
  const refs = [
    await world.arrive(one, { amount: '10', tx_hash, output_index: 0 }),
    await world.arrive(one, { amount: '10', tx_hash, output_index: 1 }),
    await world.arrive(two, { amount: '4', tx_hash, output_index: 2 }),
  ];
  for (const ref of refs) expect(await world.read(ref)).toMatchObject({ state: 'final' });
  expect([await walletOf(world, one), await walletOf(world, two)]).toEqual(['20.000000', '4.000000']);
});

it('a mempool and a confirmed copy of one output are one credit; the copy is dropped', async () => {
  const at = await world.address({ customerRef: 'h12' });
  const output = { tx_hash: newHash(), output_index: 0 };
  const mempool = await world.arrive(at, { amount: '7', status: 'seen', ...output });
  const mined = await world.arrive(at, { amount: '7', ...output });
  expect(await world.read(mempool)).toMatchObject({ state: 'confirming' });
  expect(await world.read(mined)).toMatchObject({ state: 'final' });
  await world.change(mempool, { status: 'completed' });
  expect(await world.read(mempool)).toMatchObject({ state: 'dropped', reason: 'same_output', needsOperator: false });
  await expectNothingComesOf(world, () => world.page());
  expect(await walletOf(world, at)).toBe('7.000000');
});

it('the same money written with other zeros is the same output', async () => {
  const at = await world.address({ customerRef: 'zeros' });
  const output = { tx_hash: newHash(), output_index: 0 };
  const first = await world.arrive(at, { amount: '7', ...output });
  const second = await world.arrive(at, { amount: '7.000000', ...output });
  await world.read(first);
  expect(await world.read(second)).toMatchObject({ state: 'dropped', reason: 'same_output' });
});

it.each([
  ['amount', async () => ({})],
  ['address', async () => ({ address: (await world.address({ customerRef: 'output-other' })).address, amount: '7' })],
])('a second record of a credited output with another %s is parked with an alert', async (name, other) => {
  const at = await world.address({ customerRef: `output-${name}` });
  const output = { tx_hash: newHash(), output_index: 3 };
  const first = await world.arrive(at, { amount: '7', ...output });
  await world.read(first);
  const second = await world.arrive(at, { amount: '8', ...output, ...(await other()) });
  expect(await world.read(second)).toMatchObject({ state: 'parked', reason: 'output_differs', needsOperator: true });
  const { id } = await depositOf(world.owner, second);
  expect(await openAlerts(world.owner)).toContain(`deposit_needs_person deposit:${id}`);
  await expectNothingComesOf(world, () => world.page());
  expect(await walletOf(world, at)).toBe('7.000000');
});

it('both copies in one page: the first is credited, the other dropped, in either order [CASES H12]', async () => {
  const at = await world.address({ customerRef: 'page-copies' });
  const output = { tx_hash: newHash(), output_index: 0 };
  const refs = [await world.arrive(at, { amount: '2', ...output }), await world.arrive(at, { amount: '2', ...output })];
  await world.page();
  const states = await Promise.all(refs.map(async (ref) => (await depositOf(world.owner, ref)).state));
  expect(states.sort()).toEqual(['dropped', 'final']);
  expect(await walletOf(world, at)).toBe('2.000000');
});

it('an output stays taken though its record names another transaction later', async () => {
  const at = await world.address({ customerRef: 'renamed' });
  const output = { tx_hash: newHash(), output_index: 0 };
  const first = await world.arrive(at, { amount: '2', ...output });
  await world.read(first);
  await world.change(first, { tx_hash: newHash() });
  await world.read(first);
  const second = await world.arrive(at, { amount: '2', ...output });
  expect(await world.read(second)).toMatchObject({ state: 'dropped', reason: 'same_output' });
  expect(await walletOf(world, at)).toBe('2.000000');
});

describe('a key of the journal that is taken although no credited deposit shows it', () => {
  it.each([
    ['the same', '2'],
    ['other', '3'],
  ])('parks a deposit of %s money, and the rest of its page is applied', async (_name, amount) => {
    const at = await world.address({ customerRef: `orphan-${amount}` });
    const output = { tx_hash: newHash(), output_index: 0 };
    const first = await world.arrive(at, { amount: '2', ...output });
    await world.page();
    // A person declares it gone: its movement stays under the key of generation 0.
    const userId = await makePerson(world.owner, `operator-${amount}`);
    const { id } = await depositOf(world.owner, first);
    await decideAs(world.owner, { type: 'deposit', id, choice: 'orphan', userId });
    await world.owner.query(
      `update sverka.deposit set state = 'orphaned', version = version + 1, actor = 'user:' || $2, movement_ids = '{}'
        where provider_ref = $1`,
      [first, userId],
    );
    const second = await world.arrive(at, { amount, ...output });
    const other = await world.arrive(at, { amount: '5' });
    await world.page();
    expect(await depositOf(world.owner, second)).toMatchObject({
      state: 'parked',
      reason: amount === '2' ? 'journal_duplicate' : 'journal_conflict',
    });
    expect(await depositOf(world.owner, other)).toMatchObject({ state: 'final' });
    expect(await walletOf(world, at)).toBe('7.000000');
    // The invariants want one event per move, and this move was made behind the code's back.
    await world.owner.query(`alter table sverka.event disable trigger append_only`);
    await world.owner.query(
      `insert into sverka.event (id, type, book, merchant_id, subject_type, subject_id, version, data)
       select 'evt_' || substr(md5(id), 1, 26), 'deposit.orphaned', book, merchant_id, 'deposit', id, version, '{}'
         from sverka.deposit where provider_ref = $1`,
      [first],
    );
    await world.owner.query(`alter table sverka.event enable always trigger append_only`);
  });
});

it('without the guards of the output the journal’s key still credits it once, and the check sees more', async () => {
  const unguarded = await openDepositWorld();
  try {
    const at = await unguarded.address();
    const output = { tx_hash: newHash(), output_index: 0 };
    const first = await unguarded.arrive(at, { amount: '2', ...output });
    await unguarded.read(first);
    // Hides the credit from the look for copies, and takes the index away.
    await unguarded.owner.query('drop index sverka.deposit_output');
    await unguarded.owner.query('alter table sverka.deposit disable trigger all');
    await unguarded.owner.query(`update sverka.deposit set tx_hash = 'elsewhere'`);
    await unguarded.owner.query('alter table sverka.deposit enable trigger all');
    const second = await unguarded.arrive(at, { amount: '2', ...output });
    expect(await unguarded.read(second)).toMatchObject({ state: 'parked', reason: 'journal_duplicate' });
    expect(await walletOf(unguarded, at)).toBe('2.000000');
    // With the key gone too it would be credited twice: the check of all tests must see that.
    await unguarded.owner.query('alter table ledger.movement disable trigger all');
    await unguarded.owner.query(`update ledger.movement set key = sha256(key)`);
    await unguarded.owner.query('alter table ledger.movement enable trigger all');
    const third = await unguarded.arrive(at, { amount: '2', ...output });
    expect(await unguarded.read(third)).toMatchObject({ state: 'final' });
    expect(await walletOf(unguarded, at)).toBe('4.000000');
    await unguarded.owner.query('alter table sverka.deposit disable trigger all');
    await unguarded.owner.query(`update sverka.deposit set tx_hash = $1`, [output.tx_hash]);
    await expect(expectDepositInvariants(unguarded.owner)).rejects.toThrow(/is credited 2 times/);
  } finally {
    await unguarded.close();
  }
});
