import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { freePort } from '../../src/local/ports.js';
import type { Cost } from '../support/benchmark.js';
import type { Buyer } from '../support/buyers.js';
import type { BenchKeys } from '../support/keys.js';
import { startProcess } from '../support/processes.js';
import type { Round } from '../support/rounds.js';
import type { BenchDatabase, BenchServers } from '../support/servers.js';
import { settingsFor } from '../support/settings.js';
import type { SimulatorProcess } from '../support/simulator-process.js';

/** The issuer's own time; from here on his simulator also looks for transactions that we hold open meanwhile. */
const ISSUER_MS = 300;
const SETTLED_WITHIN_MS = 120_000;

/** Calls over HTTP at the real gateway process, one after the other, and what the issuer saw of our transactions. */
export interface Answers {
  /** Lets `work` happen while the issuer takes 300 ms for a card. */
  withSlowIssuer<T>(work: () => Promise<T>): Promise<T>;
  /** Milliseconds a call on average; a call that is not answered with `status` makes it void. */
  round(
    buyers: readonly Buyer[],
    of: { readonly calls: number; readonly prefer: string; readonly status: number },
  ): Promise<Round>;
  openTransactions(): Promise<Cost>;
  stop(): Promise<void>;
}

export async function openAnswers(of: {
  readonly servers: BenchServers;
  readonly database: BenchDatabase;
  readonly namespace: string;
  readonly taskQueue: string;
  readonly custodyUrl: string;
  readonly issuer: { readonly url: string; readonly keys: BenchKeys };
  readonly owner: pg.Pool;
  readonly simulator: SimulatorProcess;
}): Promise<Answers> {
  const { servers, owner, simulator } = of;
  const port = await freePort();
  const gateway = await startProcess(servers, {
    file: 'src/gateway.ts',
    name: 'gateway',
    env: {
      ...settingsFor(servers, { ...of, role: 'gateway' }),
      SVERKA_GATEWAY_PORT: String(port),
      // What is measured is the product, not its limiter.
      SVERKA_RATE_LIMIT: '1000000',
      SVERKA_LOG_FILE: join(servers.folder, 'gateway.jsonl'),
    },
  });
  const url = `http://127.0.0.1:${port}/v1/cards`;
  return {
    async withSlowIssuer(work) {
      const match = { method: 'POST', path: '/v1/cards' };
      const { id } = await simulator.driveIssuer<{ id: string }>('POST', '/_sim/faults', {
        ...{ fault: 'slow', ms: ISSUER_MS, match },
      });
      try {
        return await work();
      } finally {
        await simulator.driveIssuer('DELETE', `/_sim/faults/${id}`);
      }
    },
    async round(buyers, { calls, prefer, status }) {
      const wrong = new Set<string>();
      const began = performance.now();
      for (let n = 0; n < calls; n += 1) {
        const got = await postCard(url, buyers[n % buyers.length], prefer);
        if (got !== status) wrong.add(`a call with ${prefer} was answered ${got}`);
      }
      const value = (performance.now() - began) / calls;
      const left = await untilSettled(owner);
      if (left > 0) wrong.add(`${left} cards were not settled`);
      return { value, wrong: wrong.size === 0 ? null : [...wrong].join('; ') };
    },
    async openTransactions() {
      const { open_transactions: seen } = await simulator.driveIssuer<{
        open_transactions: { max: number; measured: number };
      }>('GET', '/_sim/truth');
      if (seen.measured === 0) throw new Error('The issuer has not looked for open transactions even once.');
      const what = `open transactions during the issuer's calls (${seen.measured} looks)`;
      return { what, unit: 'transactions', value: seen.max, budget: { atMost: 0 } };
    },
    stop: () => gateway.stop(),
  };
}

async function postCard(url: string, buyer: Buyer | undefined, prefer: string): Promise<number> {
  if (!buyer) throw new Error('There are no buyers.');
  const answer = await fetch(url, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${buyer.apiKey}`,
      'content-type': 'application/json',
      'idempotency-key': randomBytes(12).toString('hex'),
      prefer,
    },
    body: JSON.stringify({
      cardholder_id: buyer.cardholderId,
      product: 'instant',
      load: { amount: '25.00', asset: 'USD' },
    }),
  });
  await answer.arrayBuffer();
  return answer.status;
}

/** So that no round lives on what the one before has left; answers how many still wait after a long time. */
async function untilSettled(owner: pg.Pool): Promise<number> {
  for (const end = Date.now() + SETTLED_WITHIN_MS; ; await pause(50)) {
    const { rows } = await owner.query<{ left: string }>(
      `select count(*)::text as left from sverka.issuance where state <> 'active'`,
    );
    const left = Number(rows[0]?.left ?? 0);
    if (left === 0 || Date.now() >= end) return left;
  }
}
