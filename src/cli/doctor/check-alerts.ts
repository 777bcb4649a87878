import { countOpenAlerts } from '../../db/alerts-listing.js';
import type { Tx } from '../../db/transaction.js';
import { type Finding, ok, warning } from './finding.js';

/** How many alerts of each kind wait for a person. Nothing where the database does not say: that is another check's. */
export async function checkAlerts(db: Tx): Promise<Finding[]> {
  const kinds = await countOpenAlerts(db).catch(() => null);
  if (kinds === null) return [];
  if (kinds.length === 0) return [ok('alerts', 'none is open')];
  const detail = kinds.map(({ kind, count }) => `${count} ${kind}`).join(', ');
  return [warning('alerts', `open: ${detail}`, 'Read them: `sverka alerts list` says what to do about each.')];
}
