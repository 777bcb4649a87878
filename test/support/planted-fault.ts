import pg from 'pg';

/**
 * Puts a fault into `ledger.post` of one test database: `[what it says, what it shall say]`. For negative controls: a
 * check that stays green with the fault in place guards nothing. Throws when the text is not there exactly once.
 */
export async function plantFault(
  superuserUrl: string,
  ...changes: readonly (readonly [string, string])[]
): Promise<void> {
  const client = new pg.Client({ connectionString: superuserUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ text: string }>(
      `select pg_get_functiondef('ledger.post_any_kind'::regproc) as text`,
    );
    let text = rows[0]?.text ?? '';
    for (const [from, to] of changes) {
      const found = text.split(from).length - 1;
      if (found !== 1)
        throw new Error(`The fault has no place to be planted: ${JSON.stringify(from)} is there ${found} times.`);
      text = text.replace(from, () => to);
    }
    await client.query(text);
  } finally {
    await client.end();
  }
}
