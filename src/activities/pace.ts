import type { Config } from '../config.js';

/** How long to wait before a provider is asked again: twice as long each time, up to the longest. */
export function paceMs(
  config: Pick<Config, 'SVERKA_UNKNOWN_LOOKUP_INTERVAL' | 'SVERKA_UNKNOWN_LOOKUP_INTERVAL_MAX'>,
  tries: number,
  longestMs = config.SVERKA_UNKNOWN_LOOKUP_INTERVAL_MAX,
): number {
  return Math.min(config.SVERKA_UNKNOWN_LOOKUP_INTERVAL * 2 ** tries, longestMs);
}
