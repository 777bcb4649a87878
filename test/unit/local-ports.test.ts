import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { accepts, choosePorts, freePort } from '../../src/local/ports.js';
import { PORT_NAMES, stackPorts } from '../../src/local/stack-ports.js';

let holder: Server;
let held: number;
let state: string;

beforeEach(async () => {
  state = mkdtempSync(join(tmpdir(), 'sverka-ports-'));
  held = await freePort();
  holder = createServer();
  await new Promise<void>((resolve) => holder.listen(held, '127.0.0.1', resolve));
});

afterEach(async () => {
  rmSync(state, { recursive: true });
  await new Promise((resolve) => holder.close(resolve));
});

test('every name gets a port of its own that nobody holds', async () => {
  const ports = Object.values(await choosePorts(PORT_NAMES));
  expect(new Set(ports).size).toBe(PORT_NAMES.length);
  for (const port of ports) expect(await accepts({ host: '127.0.0.1', port })).toBe(false);
});

test('a port that a person chose and somebody else holds is refused by name', async () => {
  await expect(choosePorts(['gateway'], { gateway: held })).rejects.toThrow(`Port ${held}, which is set for gateway`);
  await expect(choosePorts(['a', 'b'], { a: 20_001, b: 20_001 })).rejects.toThrow('which is set for b, is in use');
});

test('a remembered port is kept when it is free and replaced when it is not', async () => {
  const free = await freePort();
  const ports = await choosePorts(['gateway', 'relay'], {}, { gateway: free, relay: held });
  expect(ports.gateway).toBe(free);
  expect(ports.relay).not.toBe(held);
});

test('a stack keeps its ports from one start to the next, and a setting goes before them', async () => {
  const first = await stackPorts({}, state);
  expect(await stackPorts({}, state)).toEqual(first);
  const chosen = await freePort(new Set(Object.values(first)));
  const ports = await stackPorts({ SVERKA_GATEWAY_PORT: String(chosen) }, state);
  expect(ports).toEqual({ ...first, gateway: chosen });
  expect(JSON.parse(readFileSync(join(state, 'ports.json'), 'utf8'))).toEqual(ports);
});

test('a setting that is no port is refused by name', async () => {
  await expect(stackPorts({ SVERKA_RELAY_PORT: '80a' }, state)).rejects.toThrow('SVERKA_RELAY_PORT is 80a');
  await expect(stackPorts({ SVERKA_RELAY_PORT: '65536' }, state)).rejects.toThrow('SVERKA_RELAY_PORT is 65536');
});
