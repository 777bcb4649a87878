import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../support/simulated-custody.js';
import { cardRequest, declinedRequest, startSimulatedIssuer } from '../support/simulated-issuer.js';

describe('The world of the simulated issuer', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sverka-issuer-'));
  const stateFile = join(folder, 'issuer.json');
  afterAll(() => rmSync(folder, { recursive: true }));

  test('outlives a restart without a number, a code or a holder in its file', async () => {
    const before = await startSimulatedIssuer({ stateFile });
    const card = await before.live.createCard(cardRequest('iss_1'));
    const other = await before.test.createCard(cardRequest('iss_1'));
    const pending = await before.live.createCard(cardRequest('iss_2', { product: 'async' }));
    await before.live.createLoad(card.id, { reference: 'load_1', amount: '5' });
    await before.drive('PATCH', `/_sim/cards/${other.id}`, { cvv: '987654' });
    await before.drive('POST', `/_sim/cards/${card.id}/spend`, { kind: 'fee.charged', amount: '1' });
    const { items, nextCursor } = await before.live.readEvents({ after: null, limit: 500 });
    const secrets = await before.secrets();
    await before.close();

    const kept = readFileSync(stateFile, 'utf8');
    expect(secrets.length).toBe(4);
    for (const secret of [...secrets.filter((text) => text.length > 3), 'Canary', 'C0000000']) {
      expect(kept).not.toContain(secret);
    }
    const after = await startSimulatedIssuer({ stateFile });
    expect(await after.live.readCard(card.id)).toEqual(card);
    expect(await after.test.readCard(card.id)).toBeNull();
    expect(await after.test.readCardsByReference('iss_1')).toMatchObject([{ id: other.id }]);
    expect((await after.live.readEvents({ after: null, limit: 500 })).items).toEqual(items);
    expect((await after.live.readEvents({ after: nextCursor, limit: 500 })).items).toEqual([]);
    expect(after.liveHooks.received).toEqual([]);
    await after.live.createLoad(card.id, { reference: 'load_1', amount: '5' });
    expect(await after.live.createClose(card.id)).toMatchObject({ remaining: { amount: '29.00' } });
    await after.drive('PATCH', `/_sim/cards/${pending.id}`, { status: 'active' });
    expect(await after.live.readCard(pending.id)).toMatchObject({ status: 'active', last4: expect.any(String) });
    await after.close();
  });

  test('goes on with what was pending', async () => {
    const file = join(folder, 'pending.json');
    const before = await startSimulatedIssuer({ stateFile: file });
    const { id } = await before.live.createCard(declinedRequest('iss_1', { product: 'async' }));
    await before.close();
    const after = await startSimulatedIssuer({ stateFile: file });
    expect(await eventually(() => after.live.readCard(id))).toMatchObject({ status: 'pending' });
    expect(await eventually(async () => (await after.live.readCard(id))?.declineReason)).toBe('identity_not_verified');
    await after.close();
  });
});
