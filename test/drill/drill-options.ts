import { parseArgs } from 'node:util';

export interface DrillOptions {
  /** Names of flows, `load` and `controls`; null for all. */
  readonly flows: readonly string[] | null;
  readonly points: readonly number[] | null;
  readonly seed: number;
  /** How long servers and workers are killed at random. */
  readonly minutes: number;
  /** A slice of everything, for CI. */
  readonly quick: boolean;
}

const MINUTES = 3;
const MINUTES_QUICK = 0.3;
const SEEDS = 1_000_000;

/** Throws with what is wrong with them. */
export function readDrillOptions(args: string[]): DrillOptions {
  const { values } = parseArgs({
    args,
    options: {
      flow: { type: 'string', multiple: true },
      point: { type: 'string' },
      seed: { type: 'string' },
      minutes: { type: 'string' },
      quick: { type: 'boolean', default: false },
    },
  });
  const points = values.point?.split(',').map(numberOf) ?? null;
  if (points !== null && values.flow?.length !== 1) throw new Error('--point is of one flow: name it by --flow.');
  return {
    flows: values.flow ?? null,
    points,
    seed: values.seed === undefined ? Math.floor(Math.random() * SEEDS) : numberOf(values.seed),
    minutes: values.minutes === undefined ? (values.quick ? MINUTES_QUICK : MINUTES) : numberOf(values.minutes),
    quick: values.quick,
  };
}

function numberOf(text: string): number {
  const number = Number(text);
  if (!/^[0-9.]+$/.test(text) || Number.isNaN(number)) throw new Error(`${JSON.stringify(text)} is not a number.`);
  return number;
}
