import { type CallFault, isOwnFault, type OwnFault } from './faults.js';
import { jsonAnswer, type SimulatedWire, type WireAnswer, type WireCall } from './wire.js';

/** What becomes of a call: an answer, half of one, a connection cut without one, or silence until the caller goes. */
export type CallOutcome =
  | { readonly kind: 'answer'; readonly answer: WireAnswer }
  | { readonly kind: 'half'; readonly answer: WireAnswer }
  | { readonly kind: 'cut' }
  | { readonly kind: 'silence' };

export interface CallUnderFault {
  readonly call: WireCall;
  readonly wire: SimulatedWire;
  /** Does what was asked and answers truly. */
  perform(): Promise<WireAnswer>;
  wait(ms: number): Promise<void>;
}

const GARBAGE = Buffer.from('<html><body>502 Bad Gateway</body>');

/** Plays one call with the fault that was taken for it, or truly when there is none. */
export async function playCall(fault: CallFault | OwnFault | null, under: CallUnderFault): Promise<CallOutcome> {
  const { call, wire, perform } = under;
  const answer = (value: WireAnswer): CallOutcome => ({ kind: 'answer', answer: value });
  const failure = (status: number, code: string, headers: Record<string, string> = {}) => {
    const worded = wire.failure({ status, code, message: 'simulated fault' });
    return answer(jsonAnswer(worded.status, worded.body, headers));
  };
  // The wire was handed it, and plays it in its answer.
  if (fault !== null && isOwnFault(fault)) return answer(await perform());
  switch (fault?.fault) {
    case undefined:
      return answer(await perform());
    case 'lost_answer':
      await perform();
      return { kind: 'cut' };
    case 'timeout_before':
      return { kind: 'silence' };
    case 'timeout_after':
      await perform();
      return { kind: 'silence' };
    case 'status':
      return failure(
        fault.status,
        'simulated',
        fault.retry_after === null ? {} : { 'retry-after': String(fault.retry_after) },
      );
    case 'slow':
      await under.wait(fault.ms);
      return answer(await perform());
    case 'garbage':
      return answer({ ...(await perform()), headers: { 'content-type': 'text/html' }, body: GARBAGE });
    case 'truncated':
      return { kind: 'half', answer: await perform() };
    case 'wrong_amount':
      return answer(withAmount(await perform(), fault.amount));
    case 'not_found': {
      const absent = wire.absence(call);
      return answer(jsonAnswer(absent.status, absent.body));
    }
    case 'unauthorized':
      return failure(401, 'unauthorized');
  }
}

// In the text, so that other numbers keep their digits; a number stays a number.
function withAmount(answer: WireAnswer, amount: string): WireAnswer {
  const text = answer.body
    .toString('utf8')
    .replace(/"amount":("[^"]*"|-?[0-9][0-9.eE+-]*)/g, (_all, old: string) =>
      old.startsWith('"') ? `"amount":${JSON.stringify(amount)}` : `"amount":${amount}`,
    );
  return { ...answer, body: Buffer.from(text) };
}
