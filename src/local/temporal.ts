import type { ChildSpec } from './children.js';
import { accepts } from './ports.js';

/** Search attributes of every workflow (DESIGN 6). */
export const SEARCH_ATTRIBUTES = {
  SverkaKind: 'Keyword',
  SverkaState: 'Keyword',
  SverkaMerchant: 'Keyword',
  SverkaRef: 'Keyword',
  SverkaBook: 'Keyword',
  SverkaNeedsOperator: 'Bool',
} as const;

export interface TemporalOptions {
  /** The `temporal` program. */
  readonly program: string;
  readonly port: number;
  /** Null starts no UI. */
  readonly uiPort: number | null;
  /** Where the UI has payloads decoded; left out, it shows them as they are. */
  readonly codecEndpoint?: string | undefined;
  /** A file that keeps everything, or null: in memory. */
  readonly store: string | null;
  /** It is made when it is missing; `default` always is there. */
  readonly namespace: string;
  readonly cwd: string;
  readonly logFile: string;
}

/** The development server as a child; it is ready when its port answers. */
export function temporalChild(options: TemporalOptions): ChildSpec {
  const attributes = Object.entries(SEARCH_ATTRIBUTES).map(([name, type]) => `${name}=${type}`);
  return {
    name: 'temporal',
    command: options.program,
    args: [
      ...['server', 'start-dev', '--ip', '127.0.0.1', '--port', String(options.port), '--log-level', 'warn'],
      ...(options.uiPort === null ? ['--headless'] : ['--ui-port', String(options.uiPort)]),
      ...(options.codecEndpoint === undefined ? [] : ['--ui-codec-endpoint', options.codecEndpoint]),
      ...(options.namespace === 'default' ? [] : ['--namespace', options.namespace]),
      ...(options.store === null ? [] : ['--db-filename', options.store]),
      ...attributes.flatMap((attribute) => ['--search-attribute', attribute]),
    ],
    cwd: options.cwd,
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: options.cwd, TZ: 'UTC' },
    logFile: options.logFile,
    // Nothing of a server in memory needs to be written, and a clean stop takes it seconds.
    stopSignal: options.store === null ? 'SIGKILL' : 'SIGTERM',
    stage: 1,
    isReady: () => accepts({ host: '127.0.0.1', port: options.port }),
  };
}
