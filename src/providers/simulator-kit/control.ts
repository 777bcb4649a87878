import { Hono } from 'hono';
import type { SimulatorKit } from './kit.js';
import { notFound, readJson } from './requests.js';

/** The part of the truth that differs from provider to provider. */
export interface SimulatedWorld {
  /** Everything the provider knows, one list per kind of thing. */
  objects(): Readonly<Record<string, unknown>>;
  /** Forgets everything. */
  reset(): void;
}

/** The `/_sim` paths that every simulator has (WIRE.md); a simulator adds its own to the same app. */
export function createControl(kit: SimulatorKit, world: SimulatedWorld): Hono {
  const control = new Hono();
  control.post('/_sim/reset', (c) => {
    kit.reset();
    world.reset();
    return c.json({ reset: true });
  });
  control.post('/_sim/faults', async (c) => c.json(kit.faults.add(readJson(await c.req.text())), 201));
  control.get('/_sim/faults', (c) => c.json({ faults: kit.faults.list() }));
  control.delete('/_sim/faults/:id', (c) => {
    const { id } = c.req.param();
    if (!kit.faults.remove(id)) throw notFound(`there is no fault ${id}; GET /_sim/faults lists them`);
    return c.json({ id, deleted: true });
  });
  control.get('/_sim/truth', (c) =>
    c.json({
      effects: kit.effects(),
      objects: world.objects(),
      webhooks: kit.webhooks.list(),
      requests: kit.requests(),
      open_transactions: kit.openTransactions.read(),
    }),
  );
  control.post('/_sim/webhooks/:event_id/resend', async (c) => {
    const eventId = c.req.param('event_id');
    const sent = await kit.webhooks.resend(eventId);
    if (!sent) throw notFound(`there is no webhook ${eventId}; GET /_sim/truth lists them`);
    return c.json(sent);
  });
  return control;
}
