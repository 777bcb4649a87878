import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Hono } from 'hono';
import { type CallOutcome, playCall } from './call-faults.js';
import { isOwnFault } from './faults.js';
import type { SimulatorKit } from './kit.js';
import { readBody, SimulatorRefusal } from './requests.js';
import {
  jsonAnswer,
  referencesOfCall,
  type SimulatedWire,
  type WireAnswer,
  type WireCall,
  type WireEnvironment,
} from './wire.js';

const BODY_BYTES_MAX = 1024 * 1024;
/** A call that is never answered is cut after this, in case its caller has no timeout. */
const SILENCE_MS_MAX = 120_000;
const LOOPBACK = '127.0.0.1';
const BODILESS = [204, 304];

export interface RunningSimulator {
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Serves a simulator: the provider's paths with their faults, and `/_sim/…` for those who drive it. `port` 0 takes a
 * free one. On loopback, unless the host is named: in containers each is reached from the others.
 */
export async function serveSimulator(options: {
  readonly port: number;
  readonly host?: string | undefined;
  readonly kit: SimulatorKit;
  readonly wire: SimulatedWire;
  readonly control: Hono;
  /** Called after each request that may have changed something. */
  readonly changed?: () => void;
}): Promise<RunningSimulator> {
  const { kit, wire, control } = options;
  // Refusals become answers here, once for all routes.
  wire.app.onError((error) => refusalResponse(error, (failure) => wire.failure(failure)));
  control.onError((error) => refusalResponse(error, plainFailure));
  control.notFound(() => refusalResponse(new SimulatorRefusal(404, 'not_found', 'no such path'), plainFailure));
  wire.app.notFound(() => refusalResponse(new SimulatorRefusal(404, 'not_found', 'no such path'), wire.failure));
  const server = createServer((request, response) => {
    handle(request, response).catch(() => request.socket.destroy());
  });
  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const arrived = performance.now();
    const call = await readCall(request);
    if (call.method !== 'GET') response.once('close', () => options.changed?.());
    if (call.path === '/_sim' || call.path.startsWith('/_sim/')) {
      write(response, await fetchFrom(control, { call, request }));
      return;
    }
    kit.countRequest(`${call.method} ${call.path}`);
    const references = (wire.references ?? referencesOfCall)(call);
    const fault = kit.faults.takeForCall({ method: call.method, path: call.path, references });
    const own = fault !== null && isOwnFault(fault) ? fault : null;
    const outcome = await playCall(fault, {
      call,
      wire,
      perform: () => fetchFrom(wire.app, { call, request, environment: { fault: own } }),
      wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms).unref()),
    });
    if (outcome.kind === 'silence') await callerGone(response);
    await kit.openTransactions.answering(performance.now() - arrived);
    finish(request, response, outcome);
  }
  const host = options.host ?? LOOPBACK;
  const port = await listen(server, { host, port: options.port });
  return {
    url: `http://${host}:${port}`,
    async close() {
      await closeServer(server);
      await kit.close();
    },
  };
}

/** Listens and answers the port. */
export function listen(server: Server, { host = LOOPBACK, port }: { host?: string; port: number }): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      const address = server.address();
      resolve(typeof address === 'object' && address ? address.port : port);
    });
  });
}

/** Stops listening and cuts what is still open. */
export function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

async function readCall(request: IncomingMessage): Promise<WireCall> {
  const url = new URL(request.url ?? '/', 'http://simulator');
  return {
    method: request.method ?? 'GET',
    path: url.pathname,
    query: Object.fromEntries(url.searchParams),
    body: await readBody(request, BODY_BYTES_MAX),
  };
}

async function fetchFrom(
  app: Hono,
  { call, request, environment }: { call: WireCall; request: IncomingMessage; environment?: WireEnvironment },
): Promise<WireAnswer> {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(', ') : value);
  }
  const body = call.method === 'GET' || call.method === 'HEAD' ? null : new Uint8Array(call.body);
  const target = new URL(request.url ?? '/', 'http://simulator');
  const answer = await app.fetch(new Request(target, { method: call.method, headers, body }), environment);
  return {
    status: answer.status,
    headers: Object.fromEntries(answer.headers),
    body: Buffer.from(await answer.arrayBuffer()),
  };
}

function finish(request: IncomingMessage, response: ServerResponse, outcome: CallOutcome): void {
  if (outcome.kind === 'answer') {
    write(response, outcome.answer);
  } else if (outcome.kind === 'half') {
    const { status, headers, body } = outcome.answer;
    response.writeHead(status, { ...headers, 'content-length': body.length });
    response.write(body.subarray(0, Math.floor(body.length / 2)), () => request.socket.destroy());
  } else {
    request.socket.destroy();
  }
}

function write(response: ServerResponse, answer: WireAnswer): void {
  const body = BODILESS.includes(answer.status) ? Buffer.alloc(0) : answer.body;
  const length = BODILESS.includes(answer.status) ? {} : { 'content-length': body.length };
  response.writeHead(answer.status, { ...answer.headers, ...length }).end(body);
}

function callerGone(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, SILENCE_MS_MAX);
    response.once('close', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

type Failure = Parameters<SimulatedWire['failure']>[0];

function plainFailure({ status, code, message }: Failure): { status: number; body: unknown } {
  return { status, body: { error: code, message } };
}

function refusalResponse(error: Error, word: SimulatedWire['failure']): Response {
  const refused = error instanceof SimulatorRefusal;
  const { status, body } = word({
    status: refused ? error.status : 500,
    code: refused ? error.code : 'internal',
    message: refused ? error.message : 'the simulator failed; this is a bug in it',
  });
  const { headers, body: bytes } = jsonAnswer(status, body);
  return new Response(new Uint8Array(bytes), { status, headers });
}
