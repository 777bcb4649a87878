import { checkNode } from '../../src/cli/doctor/check-machine.js';
import { CliFailure, toFailure } from '../../src/cli/failure.js';
import { CommitUnknown, Refused, Retryable, translateDatabaseError, Unavailable } from '../../src/db/errors.js';
import { Problem } from '../../src/http/problem.js';

const errorOf = (message: string, code: string | number) => Object.assign(new Error(message), { code });
const URL_WITH_PASSWORD = ['postgres:/', '/user:', 'hidden', '@db.internal'].join('');
const database = (sqlstate: string) => translateDatabaseError(errorOf(`says ${URL_WITH_PASSWORD}`, sqlstate));

it.each<[string, unknown, number, string]>([
  ['a refused connection', translateDatabaseError(errorOf('connect', 'ECONNREFUSED')), 6, 'temporarily_unavailable'],
  ['a lock that was not to be had', database('55P03'), 6, 'temporarily_unavailable'],
  ['a time limit', new Retryable('x', { cause: null }), 6, 'temporarily_unavailable'],
  ['a server that stops', new Unavailable('x', { cause: null }), 6, 'temporarily_unavailable'],
  ['a missing table', database('42P01'), 6, 'temporarily_unavailable'],
  ['a right that is missing', new Refused('x', { cause: null }), 7, 'permission'],
  ['a wrong password', database('28P01'), 7, 'permission'],
  ['a name that is taken', database('23505'), 4, 'already_exists'],
  ['a value that a column does not take', database('23514'), 2, 'validation'],
  ['a lost answer to COMMIT', new CommitUnknown('look', { cause: null }), 1, 'internal'],
  ['a Temporal that is away', errorOf('14 UNAVAILABLE', 14), 6, 'temporarily_unavailable'],
  ['a Temporal that is slow', new Error('call', { cause: errorOf('deadline', 4) }), 6, 'temporarily_unavailable'],
  ['a Temporal that does not permit', errorOf('7 PERMISSION_DENIED', 7), 7, 'permission'],
  ['a workflow that is not there', errorOf('5 NOT_FOUND', 5), 3, 'not_found'],
  ['a cursor of another list', new Problem('invalid_cursor'), 2, 'invalid_cursor'],
  ['an interruption', new CliFailure('interrupted', 'Nothing was revoked.'), 130, 'temporarily_unavailable'],
  ['anything else', new TypeError('x is not a function'), 1, 'internal'],
  ['what is no error', 'text', 1, 'internal'],
])('%s has its exit code and its problem', (_, error, exit, problem) => {
  expect(toFailure(error)).toMatchObject({
    exit,
    problem,
    message: expect.stringMatching(/\.$|function$|text$|look$/),
  });
});

it('what a driver says is not told, and keys in an unexpected message are masked', () => {
  for (const sqlstate of ['55P03', '42501', '28P01', '23505', '23514', '42P01', '57P01']) {
    expect(toFailure(database(sqlstate)).message).not.toMatch(/hidden|db\.internal/);
  }
  const leaky = toFailure(new Error(`at ${URL_WITH_PASSWORD} with ${'sk_live'}_abcdefghijk`));
  expect(leaky.message).toBe('Unexpected: at postgres[masked]db.internal with [masked]');
});

it('an old Node.js is named with what to install', () => {
  expect(checkNode('20.19.0')).toMatchObject({ state: 'ok' });
  expect(checkNode('22.0.0')).toMatchObject({ state: 'ok' });
  for (const old of ['20.18.9', '18.20.0', '9.99.0']) {
    expect(checkNode(old)).toMatchObject({ state: 'missing', fix: 'Install Node.js 20.19 or newer.' });
  }
});
