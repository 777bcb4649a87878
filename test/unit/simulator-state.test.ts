import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually, startSimulatedCustody } from '../support/simulated-custody.js';

describe('The world of a simulator', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sverka-simulator-'));
  const stateFile = join(folder, 'inner', 'custody.json');
  afterAll(() => rmSync(folder, { recursive: true }));
  const request = { reference: 'r1', network: 'tron', asset: 'USDT-TRC20', settleIn: 'USD' };

  test('outlives a restart: addresses, deposits, their order, and cursors given out before', async () => {
    const before = await startSimulatedCustody({ stateFile });
    const address = await before.live.createAddress(request);
    const { id } = await before.drive('POST', '/_sim/deposits', {
      address: address.address,
      amount: '5',
      status: 'seen',
    });
    const other = await before.test.createAddress(request);
    const { nextCursor } = await before.live.readDepositChanges({ after: null, limit: 10 });
    const deposit = await before.live.readDeposit(id);
    await before.close();

    const after = await startSimulatedCustody({ stateFile });
    expect(await after.live.createAddress(request)).toEqual(address);
    expect(await after.test.readAddressByReference('r1')).toEqual(other);
    expect(await after.live.readDeposit(id)).toEqual(deposit);
    await expect(after.test.readDeposit(id)).rejects.toMatchObject({ kind: 'not_found' });
    expect((await after.live.readDepositChanges({ after: nextCursor, limit: 10 })).items).toEqual([]);
    expect((await after.live.readDepositChanges({ after: null, limit: 10 })).items).toMatchObject([{ record: { id } }]);
    expect(after.liveHooks.received).toEqual([]);
    await after.drive('PATCH', `/_sim/deposits/${id}`, { status: 'completed' });
    const page = await after.live.readDepositChanges({ after: nextCursor, limit: 10 });
    expect(page.items).toMatchObject([{ record: { id, settlement: { asset: 'USD', amount: '5.00' } } }]);
    await after.close();
  });

  test('is written soon after a change, without waiting for a stop', async () => {
    const custody = await startSimulatedCustody({ stateFile });
    await custody.live.createAddress({ ...request, reference: 'r7' });
    await eventually(() => readFileSync(stateFile, 'utf8').includes('"r7"'));
    await custody.close();
  });

  test('begins empty where the file is of no use', async () => {
    writeFileSync(stateFile, '{"addresses":');
    const custody = await startSimulatedCustody({ stateFile });
    expect(await custody.live.readAddressByReference('r1')).toBeNull();
    await custody.close();
  });

  test('is forgotten without a file', async () => {
    const custody = await startSimulatedCustody();
    await custody.live.createAddress(request);
    await custody.close();
    const again = await startSimulatedCustody();
    expect(await again.live.readAddressByReference('r1')).toBeNull();
    await again.close();
  });
});
