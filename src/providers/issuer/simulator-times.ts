import { badRequest } from '../simulator-kit/requests.js';

type Members = Readonly<Record<string, unknown>>;

/** How long this issuer takes. */
export interface IssuerTimes {
  /** For so long a new card is missing from reads; WIRE.md declares up to 3 s. */
  lagMs: number;
  /** After so long an `async` card becomes what it becomes. */
  asyncMs: number;
}

const MEMBERS = { lag_ms: 'lagMs', async_ms: 'asyncMs' } as const;
const MS_MAX = 86_400_000;

/** The times that are told, over those that are; refuses with 400 what is no time. */
export function changeTimes(times: IssuerTimes, body: Members): void {
  for (const [name, value] of Object.entries(body)) {
    const member = Object.hasOwn(MEMBERS, name) ? MEMBERS[name as keyof typeof MEMBERS] : undefined;
    if (!member) throw badRequest(`times are ${Object.keys(MEMBERS).join(' and ')}, not ${name}`);
    if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0 || value > MS_MAX) {
      throw badRequest(`${name} must be a whole number of milliseconds`);
    }
    times[member] = value;
  }
}

export function shownTimes({ lagMs, asyncMs }: IssuerTimes): Members {
  return { lag_ms: lagMs, async_ms: asyncMs };
}
