import { ASSETS, decimalsOf, findAsset, isNetwork, NETWORK_ASSETS, NETWORKS } from '../../src/domain/assets.js';

describe('the list of assets', () => {
  it.each([
    ['USD', 2],
    ['EUR', 2],
    ['JPY', 0],
    ['KRW', 0],
    ['KWD', 3],
    ['BHD', 3],
    ['USDT-TRC20', 6],
    ['USDC-ETH', 6],
    ['ETH', 18],
    ['BTC', 11],
  ])('gives %s %d decimals', (code, decimals) => {
    expect(decimalsOf(code)).toBe(decimals);
  });

  it('names each asset once', () => {
    expect(new Set(ASSETS.map((asset) => asset.code)).size).toBe(ASSETS.length);
  });

  it('knows no look-alike, no other case and no name of a prototype', () => {
    for (const code of ['USDТ-TRC20', 'usd', 'USDT', 'constructor', '__proto__', '']) {
      expect(findAsset(code)).toBeUndefined();
    }
    expect(() => decimalsOf('USDT')).toThrow(/not listed/);
  });

  it('lists every asset that a network carries', () => {
    for (const network of NETWORKS) {
      expect(NETWORK_ASSETS[network].length).toBeGreaterThan(0);
      for (const code of NETWORK_ASSETS[network]) expect(findAsset(code)).toBeDefined();
    }
    expect(isNetwork('tron')).toBe(true);
    expect(isNetwork('toString')).toBe(false);
  });
});
