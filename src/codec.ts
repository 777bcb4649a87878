import { EncryptionCodec } from './client/encryption-codec.js';
import { readPayloadKeys } from './client/payload-keys.js';
import { loadCodecConfig } from './config.js';
import { createCodecApp } from './http/codec/app.js';
import { listen } from './http/listen.js';
import { startOps } from './http/ops.js';
import { runUntilStopped } from './run-process.js';
import { createLog } from './telemetry/log.js';
import { createMetrics } from './telemetry/metrics.js';

/** Calls that run when a stop begins; each takes milliseconds. */
const DRAIN_MS = 2_000;

const config = loadCodecConfig();
const log = createLog({ process: 'codec', level: config.SVERKA_LOG_LEVEL, file: config.SVERKA_LOG_FILE });
const metrics = createMetrics();
const keys = readPayloadKeys(config.SVERKA_PAYLOAD_KEYS_FILE);

const app = createCodecApp({
  codec: new EncryptionCodec(keys),
  access: { token: config.SVERKA_CODEC_TOKEN, uiOrigin: config.SVERKA_CODEC_UI_ORIGIN },
  log,
  metrics,
});
const ops = await startOps({
  process: 'codec',
  host: config.SVERKA_OPS_HOST,
  port: config.SVERKA_OPS_PORT,
  // Held at start: unusable keys or a short token do not start, and nothing else is needed.
  checks: [{ name: 'keys', required: true, check: async () => null }],
  metrics: metrics.text,
});
const listener = await listen(app, { host: config.SVERKA_HOST, port: config.SVERKA_CODEC_PORT });

await runUntilStopped({
  log,
  stop: async () => {
    ops.shuttingDown();
    await listener.close(DRAIN_MS);
    await ops.close();
  },
});
