import { type IdKind, isId } from '../../contracts/ids.js';
import { Problem } from '../problem.js';
import type { Answer, Call } from './call.js';

type ReadCall = Pick<Call<unknown, unknown>, 'deps' | 'caller' | 'params'>;

/** The handler that reads one object by its id; an id of another shape is `not_found` without a query. */
export function readById(kind: IdKind, read: (call: ReadCall, id: string) => Promise<unknown>) {
  return async (call: ReadCall): Promise<Answer> => {
    const id = call.params.id ?? '';
    if (!isId(kind, id)) throw new Problem('not_found');
    return { status: 200, body: await read(call, id) };
  };
}

/** For an object that is not there, or is another merchant's, or of the other book: all three look alike. */
export function notFound(): never {
  throw new Problem('not_found');
}
