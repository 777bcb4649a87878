import { AsyncLocalStorage } from 'node:async_hooks';
import type pg from 'pg';
import type { ActivityDeps } from '../../src/activities/deps.js';

/** What an activity is about to do: a statement, a call to the provider, its answer; a crash fits between any two. */
export interface Step {
  readonly activity: string;
  /** What the activity is about: a deposit, an address, a card, a change of one, a request, an account. */
  readonly subject: string;
  /** From 0, in the order of this attempt. */
  readonly number: number;
  readonly label: string;
  /** This statement commits what was written: its lost answer leaves a commit in doubt. */
  readonly commits: boolean;
}

/** Has the answer of this statement lost on its way back, by a wire that knows the mark (answer-cutter.ts). */
export interface LostAnswer {
  /** It was lost, as far as our process can tell. */
  lost(): void;
  /** It came all the same. */
  came(): void;
}

/** Stands in a statement whose answer is to be lost. */
export const LOSE_MARK = '/* the answer to this is lost */';

/** A COMMIT was sent and its answer not read: whoever dies here does not know. */
export const COMMIT_SENT = 'COMMIT sent';
/** All is done, and Temporal has not heard of it. */
export const ANSWER = 'answer';
/** It has failed, and Temporal has not heard of it. */
export const FAILURE = 'failure';

export interface Stepped {
  readonly deps: ActivityDeps;
  activities(real: object): object;
}

interface Attempt {
  readonly activity: string;
  readonly subject: string;
  steps: number;
}
type Tell = (label: string, commits?: boolean) => Promise<LostAnswer | void>;

/** Deps and activities that stop for `at` before each step; `at` may never answer, as after a crash. */
export function withSteps(deps: ActivityDeps, at: (step: Step) => Promise<LostAnswer | void>): Stepped {
  const attempts = new AsyncLocalStorage<Attempt>();
  const tell: Tell = async (label, commits = false) => {
    const attempt = attempts.getStore();
    if (!attempt) return;
    const { activity, subject, steps: number } = attempt;
    attempt.steps += 1;
    return at({ activity, subject, number, label, commits });
  };
  const calls = steppedClient(deps, tell);
  return {
    deps: {
      ...deps,
      pool: steppedPool(deps.pool, tell),
      custody: (of) => steppedClient(deps.custody(of), tell),
      issuer: (of) => steppedClient(deps.issuer(of), tell),
      pert: (of) => steppedClient(deps.pert(of), tell),
      nudgeDeposit: (...args) => calls.nudgeDeposit(...args),
      startDepositAddress: (...args) => calls.startDepositAddress(...args),
      nudgeIssuance: (...args) => calls.nudgeIssuance(...args),
      startIssuance: (...args) => calls.startIssuance(...args),
      startCardLoad: (...args) => calls.startCardLoad(...args),
      startCardChange: (...args) => calls.startCardChange(...args),
      nudgeWithdrawal: (...args) => calls.nudgeWithdrawal(...args),
      nudgeBalances: (...args) => calls.nudgeBalances(...args),
    },
    activities: (real) =>
      wrapFunctions(
        real,
        (activity, call) => (input: unknown) =>
          attempts.run({ activity, subject: subjectOf(input), steps: 0 }, async () => {
            const answer = await call(input).catch(async (error: unknown) => {
              await tell(FAILURE);
              throw error;
            });
            await tell(ANSWER);
            return answer;
          }),
      ),
  };
}

function subjectOf(input: unknown): string {
  if (typeof input !== 'object' || input === null) return 'none';
  if ('ref' in input) return String(input.ref);
  if ('id' in input) return String(input.id);
  if ('request' in input) return subjectOf(input.request);
  if ('cardId' in input && 'number' in input) return `${String(input.cardId)} ${String(input.number)}`;
  return 'account' in input ? String(input.account) : 'none';
}

function steppedPool(pool: pg.Pool, tell: Tell): pg.Pool {
  return new Proxy(pool, {
    get(target, name) {
      if (name === 'query') return steppedQuery(target, tell, 'alone');
      if (name === 'connect') return async () => steppedConnection(await target.connect(), tell);
      return bound(target, name);
    },
  });
}

function steppedConnection(client: pg.PoolClient, tell: Tell): pg.PoolClient {
  return new Proxy(client, {
    get: (target, name) => (name === 'query' ? steppedQuery(target, tell, 'inside') : bound(target, name)),
  });
}

/** A statement on its own commits by itself; one inside a transaction only by COMMIT. */
const WRITES = /\b(insert into|update|delete from)\b|\b(sverka|ledger)\.[a-z_]+ ?\(/i;

function steppedQuery(runner: pg.Pool | pg.PoolClient, tell: Tell, where: 'alone' | 'inside') {
  return async (sql: string, params?: unknown[]) => {
    const commits = sql === 'COMMIT' || (where === 'alone' && WRITES.test(sql));
    const loss = await tell(sql.replaceAll(/\s+/g, ' ').slice(0, 60), commits);
    const answer = runner.query(loss ? `${sql} ${LOSE_MARK}` : sql, params);
    if (loss)
      answer.then(
        () => loss.came(),
        () => loss.lost(),
      );
    if (sql === 'COMMIT') {
      answer.catch(() => undefined);
      await tell(COMMIT_SENT);
    }
    return answer;
  };
}

function steppedClient<Client extends object>(client: Client, tell: Tell): Client {
  return new Proxy(client, {
    get(target, name) {
      const real = bound(target, name);
      if (typeof real !== 'function' || name === 'close') return real;
      return async (...args: unknown[]) => {
        await tell(`call ${String(name)}`);
        return Reflect.apply(real, target, args);
      };
    },
  });
}

function wrapFunctions(
  real: object,
  wrap: (name: string, call: (input: unknown) => Promise<unknown>) => unknown,
): object {
  return Object.fromEntries(
    Object.entries(real).map(([name, call]) => [name, wrap(name, async (input) => Reflect.apply(call, real, [input]))]),
  );
}

function bound(target: object, name: string | symbol): unknown {
  const value: unknown = Reflect.get(target, name, target);
  return typeof value === 'function' ? value.bind(target) : value;
}
