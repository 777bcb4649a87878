/** An asset and the number of decimals of its minor unit. Only listed assets exist. */
export interface Asset {
  readonly code: string;
  readonly decimals: number;
}

// ISO 4217, active codes by exponent.
const FIAT_0 = 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF';
const FIAT_2 =
  'AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF ' +
  'CHF CNY COP CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL ' +
  'HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP ' +
  'MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD ' +
  'SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD UYU UZS ' +
  'VED VES WST XCD YER ZAR ZMW ZWG';
const FIAT_3 = 'BHD IQD JOD KWD LYD OMR TND';

/** Networks a deposit can arrive on; the book decides main or test network. */
export const NETWORKS = ['ethereum', 'tron', 'bitcoin'] as const;
export type Network = (typeof NETWORKS)[number];

/** What each network carries; the first is a deposit address's default. A token is known by (network, contract). */
export const NETWORK_ASSETS: Readonly<Record<Network, readonly string[]>> = {
  ethereum: ['ETH', 'USDC-ETH'],
  tron: ['USDT-TRC20'],
  bitcoin: ['BTC'],
};

// BTC: the minor unit is the millisatoshi (R20).
const CRYPTO: Readonly<Record<string, number>> = { 'USDT-TRC20': 6, 'USDC-ETH': 6, ETH: 18, BTC: 11 };

const DECIMALS: ReadonlyMap<string, number> = new Map([
  ...FIAT_0.split(' ').map((code) => [code, 0] as const),
  ...FIAT_2.split(' ').map((code) => [code, 2] as const),
  ...FIAT_3.split(' ').map((code) => [code, 3] as const),
  ...Object.entries(CRYPTO),
]);

/** All listed assets. */
export const ASSETS: readonly Asset[] = [...DECIMALS].map(([code, decimals]) => ({ code, decimals }));

/** The asset of that code, or undefined when it is not listed. */
export function findAsset(code: string): Asset | undefined {
  const decimals = DECIMALS.get(code);
  return decimals === undefined ? undefined : { code, decimals };
}

/** Decimals of a listed asset; throws for any other, which is a bug of the caller. */
export function decimalsOf(code: string): number {
  const decimals = DECIMALS.get(code);
  if (decimals === undefined) throw new Error(`Asset ${code} is not listed in domain/assets.ts; add it there first.`);
  return decimals;
}

export function isNetwork(text: string): text is Network {
  return (NETWORKS as readonly string[]).includes(text);
}
