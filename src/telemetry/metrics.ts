import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client';

/** Metrics of one process. Labels never hold ids, names, addresses or amounts. */
export interface Metrics {
  readonly registry: Registry;
  /** Seconds that an answer took, by method, route template and status. */
  observeHttp(labels: { method: string; route: string; status: number; seconds: number }): void;
  /** Prometheus text. */
  text(): Promise<string>;
}

const HTTP_BUCKETS_S = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** A registry with the process's own figures and the histogram of HTTP answers. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const http = new Histogram({
    name: 'sverka_http_request_duration_seconds',
    help: 'Time from request to answer.',
    labelNames: ['method', 'route', 'status'] as const,
    buckets: HTTP_BUCKETS_S,
    registers: [registry],
  });
  return {
    registry,
    observeHttp: ({ method, route, status, seconds }) =>
      http.observe({ method, route, status: String(status) }, seconds),
    text: () => registry.metrics(),
  };
}

/** A counter in this process's registry, for what is not an HTTP answer. */
export function createCounter(metrics: Metrics, options: { name: string; help: string; labels: readonly string[] }) {
  const { name, help, labels } = options;
  return new Counter({ name, help, labelNames: [...labels], registers: [metrics.registry] });
}
