import { decideAs, makePerson } from '../support/decisions.js';
import { depositOf, expectDepositInvariants, openAlerts } from '../support/deposit-facts.js';
import { type DepositWorld, type MadeAddress, openDepositWorld, walletOf } from '../support/deposit-world.js';

let world: DepositWorld;
let people = 0;
beforeAll(async () => {
  world = await openDepositWorld();
});
afterEach(async () => {
  await expectDepositInvariants(world.owner);
});
afterAll(async () => {
  await world.close();
});

const own = (customerRef: string, more = {}) => world.address({ customerRef, ...more });
const newHash = () =>
  [...crypto.getRandomValues(new Uint8Array(32))].map((b) => b.toString(16).padStart(2, '0')).join('');

describe('a record that names another address than before', () => {
  const deposit = async (name: string, status: string) => {
    const [first, second] = [await own(`${name}-1`), await own(`${name}-2`)];
    const ref = await world.arrive(first, { amount: '5', status });
    await world.read(ref);
    return { first, second, ref };
  };
  const empty = async (at: MadeAddress) => expect(await walletOf(world, at)).toBe('0.000000');

  test('is parked before it is credited: nobody is credited by the terms of another', async () => {
    const { first, second, ref } = await deposit('waits', 'confirming');
    await world.change(ref, { address: second.address, status: 'completed' });
    expect(await world.read(ref)).toMatchObject({ state: 'parked', reason: 'address_changed' });
    await empty(first);
    await empty(second);
    expect((await openAlerts(world.owner)).join()).toContain('deposit_needs_person');
  });

  test('is flagged after it, and moves no money', async () => {
    const { first, second, ref } = await deposit('credited', 'completed');
    await world.change(ref, { address: second.address });
    expect(await world.read(ref)).toMatchObject({ state: 'final', reason: 'address_changed_after_credit' });
    expect(await walletOf(world, first)).toBe('5.000000');
    await empty(second);
    await world.change(ref, { address: first.address });
    expect(await world.read(ref)).toMatchObject({ state: 'final', reason: null });
  });

  test('is no stranger when the new address is nobody of ours', async () => {
    const { first, ref } = await deposit('stranger', 'confirming');
    await world.change(ref, { address: 'TSomebodyElse11111111111111111111', status: 'completed' });
    expect(await world.read(ref)).toMatchObject({ state: 'parked', reason: 'address_changed' });
    await empty(first);
  });

  test('a person who lets it be tried again does not make it the money of either', async () => {
    const { second, ref } = await deposit('retried', 'confirming');
    await world.change(ref, { address: second.address, status: 'completed' });
    await world.read(ref);
    const userId = await makePerson(world.owner, `operator-${(people += 1)}`);
    const { id } = await depositOf(world.owner, ref);
    await decideAs(world.owner, { type: 'deposit', id, choice: 'retry', userId });
    expect(await world.read(ref)).toMatchObject({ state: 'parked', reason: 'address_changed' });
    await empty(second);
  });
});

test.each([
  ['in capitals', (hash: string) => hash.toUpperCase()],
  ['with 0x in front', (hash: string) => `0x${hash}`],
])('one output whose hash is written %s is one deposit', async (name, written) => {
  const at = await own(`hash-${name.replaceAll(' ', '-')}`);
  const hash = newHash();
  const first = await world.arrive(at, { amount: '3', tx_hash: hash, output_index: 1 });
  const second = await world.arrive(at, { amount: '3', tx_hash: written(hash), output_index: 1 });
  await world.read(first);
  expect(await world.read(second)).toMatchObject({ state: 'dropped', reason: 'same_output' });
  expect(await walletOf(world, at)).toBe('3.000000');
  expect(await depositOf(world.owner, second)).toMatchObject({ hash: written(hash) });
});

test('an output that was taken back and is mined again under another id has a generation of its own', async () => {
  const at = await own('mined-again');
  const output = { tx_hash: newHash(), output_index: 0 };
  const first = await world.arrive(at, { amount: '4', ...output });
  await world.read(first);
  await world.change(first, { status: 'failed' });
  await world.read(first);
  const userId = await makePerson(world.owner, `operator-${(people += 1)}`);
  const { id } = await depositOf(world.owner, first);
  await decideAs(world.owner, { type: 'deposit', id, choice: 'orphan', userId });
  expect(await world.read(first)).toMatchObject({ state: 'orphaned' });
  expect(await walletOf(world, at)).toBe('0.000000');

  const second = await world.arrive(at, { amount: '4', ...output });
  expect(await world.read(second)).toMatchObject({ state: 'final' });
  expect(await depositOf(world.owner, second)).toMatchObject({ generation: 1 });
  expect(await walletOf(world, at)).toBe('4.000000');
});
