import type { WorkerWorld } from '../support/worker-world.js';

/** Some subjects of a flow, each to be brought to its end once whatever happens meanwhile. */
export interface Subjects {
  /** Gives the worker its work; it is up by then. */
  start(): Promise<void>;
  /** Waits for the end of each. Throws when one does not come to it. */
  finish(): Promise<void>;
  /** The same work once more, after the end: nothing may come of it. */
  again(): Promise<void>;
}

/** A flow that registers itself for the drill: one file here, one line in flows.ts. */
export interface Flow {
  /** For `--flow`. */
  readonly name: string;
  /** Activities whose every step is a crash point. */
  readonly activities: readonly string[];
  /** How many subjects one worker process may hold at their points at once; 1 where all of them share one activity. */
  readonly atOnce: number;
  /** Settings of src/config.ts that it needs. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Whether its world has a provider of balances. */
  readonly pert?: true;
  /** Makes `count` new subjects, up to the moment at which the worker is needed. */
  arrange(world: WorkerWorld, count: number): Promise<Subjects>;
  /** What the provider says must be: a line for each fact. */
  truth(world: WorkerWorld): Promise<string[]>;
  /** What we have: the same lines when all is well. */
  ours(world: WorkerWorld): Promise<string[]>;
}

/** One place to die at, or one commit whose answer is lost. */
export interface Point {
  /** For `--point`: from 0, over all activities of the flow. */
  readonly number: number;
  readonly activity: string;
  /** The step of that activity. */
  readonly step: number;
  readonly label: string;
  readonly commits: boolean;
}
