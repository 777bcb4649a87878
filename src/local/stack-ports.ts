import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { choosePorts } from './ports.js';

/** Every port of a local stack; kept while it runs, also when a process is started again. */
export const PORT_NAMES = [
  'postgres',
  'temporal',
  'temporalUi',
  'gateway',
  'relay',
  'console',
  'cabinet',
  'custody',
  'issuer',
  'pert',
  'workerOps',
  'gatewayOps',
  'relayOps',
  'consoleOps',
  'cabinetOps',
  'simulatorsOps',
  'workerMetrics',
  'codec',
  'codecOps',
] as const;
export type PortName = (typeof PORT_NAMES)[number];
export type StackPorts = Readonly<Record<PortName, number>>;

const SETTINGS: Partial<Record<PortName, string>> = {
  gateway: 'SVERKA_GATEWAY_PORT',
  relay: 'SVERKA_RELAY_PORT',
  console: 'SVERKA_CONSOLE_PORT',
  cabinet: 'SVERKA_CABINET_PORT',
  workerMetrics: 'SVERKA_METRICS_PORT',
  codec: 'SVERKA_CODEC_PORT',
};

/**
 * Ports that a person set, else those of the last run as far as they are free, else free ones.
 * Throws when a port that was set is in use or is no number.
 */
export async function stackPorts(env: NodeJS.ProcessEnv, state: string): Promise<StackPorts> {
  const file = join(state, 'ports.json');
  const wanted = Object.fromEntries(
    Object.entries(SETTINGS).flatMap(([name, setting]) => {
      const value = env[setting];
      if (!value) return [];
      if (!/^[0-9]{1,5}$/.test(value) || Number(value) > 65_535) throw new Error(`${setting} is ${value}: not a port.`);
      return [[name, Number(value)]];
    }),
  );
  const ports = await choosePorts(PORT_NAMES, wanted, remembered(file));
  writeFileSync(file, `${JSON.stringify(ports)}\n`);
  return ports;
}

function remembered(file: string): Partial<Record<PortName, number>> {
  try {
    const ports = JSON.parse(readFileSync(file, 'utf8')) as Partial<Record<PortName, unknown>>;
    return Object.fromEntries(Object.entries(ports).filter(([, port]) => typeof port === 'number'));
  } catch {
    // The first start here, or a file that somebody damaged: other ports do as well.
    return {};
  }
}
