import { type DestinationStream, destination, type Logger, pino } from 'pino';
import { type LogFields, maskText, toLine } from './log-line.js';
import { currentTrace } from './trace.js';

type Write = (message: string, fields?: LogFields) => void;

/** Writes JSON lines. A message is a constant sentence; what varies stands in the fields. */
export interface Log {
  readonly debug: Write;
  readonly info: Write;
  readonly warn: Write;
  readonly error: Write;
  readonly fatal: Write;
}

/**
 * A log of one process: to `file` when given (made with its folder), else to stdout.
 * A line holds known members only (an allow-list, so that nothing new can slip through), and the trace of its call.
 * `stream` is for tests.
 */
export function createLog(options: {
  process: string;
  level: string;
  file?: string | undefined;
  stream?: DestinationStream;
}): Log {
  // Synchronous: the last lines before a kill are the ones that matter.
  const stream =
    options.stream ??
    destination({ dest: options.file ?? 1, sync: true, append: true, mkdir: options.file !== undefined });
  const logger = pino(
    {
      level: options.level,
      base: { process: options.process },
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    stream,
  );
  return {
    debug: writer(logger, 'debug'),
    info: writer(logger, 'info'),
    warn: writer(logger, 'warn'),
    error: writer(logger, 'error'),
    fatal: writer(logger, 'fatal'),
  };
}

/** A log that writes nothing, for tests and tools. */
export const silentLog: Log = createLog({ process: 'silent', level: 'silent' });

function writer(logger: Logger, level: keyof Log): Write {
  return (message, fields = {}) => {
    if (!logger.isLevelEnabled(level)) return;
    const trace = currentTrace();
    const own: LogFields = trace
      ? { trace_id: trace.traceId, ...(trace.requestId && { request_id: trace.requestId }) }
      : {};
    logger[level](toLine({ ...own, ...fields }), maskText(message));
  };
}
