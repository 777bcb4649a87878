import { createHash, randomBytes } from 'node:crypto';

/** What the simulated custodian carries. */
export const CHAINS = {
  tron: { assets: ['USDT-TRC20'], requiredConfirmations: 19 },
  ethereum: { assets: ['ETH', 'USDC-ETH'], requiredConfirmations: 12 },
  bitcoin: { assets: ['BTC'], requiredConfirmations: 3 },
} as const;
export type Chain = keyof typeof CHAINS;

const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const BECH32 = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';

// Currencies whose minor unit is not a hundredth; the simulator knows no more of them than it settles in.
const CURRENCY_DECIMALS: Readonly<Record<string, number>> = {
  JPY: 0,
  KRW: 0,
  VND: 0,
  KWD: 3,
  BHD: 3,
  OMR: 3,
  JOD: 3,
  TND: 3,
};

export function isChain(value: unknown): value is Chain {
  return typeof value === 'string' && Object.hasOwn(CHAINS, value);
}

/**
 * An address that looks like one of its network and belongs to nobody: it is drawn from a hash, not from a key, and has
 * no valid checksum. The same account and reference give the same address again, also after a reset.
 */
export function inventAddress({
  book,
  network,
  reference,
}: {
  book: string;
  network: Chain;
  reference: string;
}): string {
  const seed = createHash('sha512')
    .update(JSON.stringify(['sverka-custody-simulator', book, network, reference]))
    .digest();
  if (network === 'ethereum') return `0x${seed.subarray(0, 20).toString('hex')}`;
  if (network === 'tron') return `T${spell(seed, { alphabet: BASE58, length: 33 })}`;
  return `${book === 'live' ? 'bc1q' : 'tb1q'}${spell(seed, { alphabet: BECH32, length: 38 })}`;
}

/** The network of an address that we did not make, by its look; undefined when it looks like none. */
export function guessChain(address: string): Chain | undefined {
  if (/^0x[0-9a-fA-F]{40}$/.test(address)) return 'ethereum';
  if (/^T[1-9A-HJ-NP-Za-km-z]{33}$/.test(address)) return 'tron';
  return /^(bc1|tb1)[0-9a-z]{11,71}$/.test(address) ? 'bitcoin' : undefined;
}

export function inventTransactionHash(network: unknown): string {
  const hash = randomBytes(32).toString('hex');
  return network === 'ethereum' ? `0x${hash}` : hash;
}

/** What a deposit settles for: one token is one unit of the currency, rounded down to the currency's minor unit. */
export function settle(amount: unknown, currency: string): { asset: string; amount: string } | null {
  if (typeof amount !== 'string' || !/^(0|[1-9][0-9]*)(\.[0-9]+)?$/.test(amount)) return null;
  const [whole = '0', fraction = ''] = amount.split('.');
  const decimals = CURRENCY_DECIMALS[currency] ?? 2;
  const cents = fraction.slice(0, decimals).padEnd(decimals, '0');
  return { asset: currency, amount: decimals === 0 ? whole : `${whole}.${cents}` };
}

function spell(seed: Buffer, { alphabet, length }: { alphabet: string; length: number }): string {
  return Array.from(seed.subarray(0, length), (byte) => alphabet[byte % alphabet.length]).join('');
}
