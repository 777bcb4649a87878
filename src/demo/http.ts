/** A JSON value as the story reads it: what a merchant's own code sees, without our types. */
export class Json {
  constructor(readonly value: unknown) {}

  /** A member of an object or a place of a list; absent ones are undefined inside. */
  at(...path: readonly (string | number)[]): Json {
    let value = this.value;
    for (const step of path) {
      value = typeof value === 'object' && value !== null ? Reflect.get(value, step) : undefined;
    }
    return new Json(value);
  }

  get text(): string {
    return typeof this.value === 'string' ? this.value : JSON.stringify(this.value ?? null);
  }

  get list(): Json[] {
    return Array.isArray(this.value) ? this.value.map((item) => new Json(item)) : [];
  }
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Json;
}

export interface Call {
  readonly method?: string;
  readonly apiKey?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** One HTTP call; an answer of any status is an answer. */
export async function http(url: string, call: Call = {}): Promise<Answer> {
  const response = await fetch(url, {
    method: call.method ?? 'GET',
    headers: {
      ...(call.apiKey && { authorization: `Bearer ${call.apiKey}` }),
      ...(call.body !== undefined && { 'content-type': 'application/json' }),
      ...call.headers,
    },
    ...(call.body !== undefined && { body: typeof call.body === 'string' ? call.body : JSON.stringify(call.body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: new Json(parse(text)) };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Looks again until `look` answers something; null when the time is over. */
export async function until<T>(look: () => Promise<T | null>, timeoutMs = 45_000): Promise<T | null> {
  for (const end = Date.now() + timeoutMs; Date.now() < end; ) {
    const found = await look().catch(() => null);
    if (found !== null) return found;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return null;
}
