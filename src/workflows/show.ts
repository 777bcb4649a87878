import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { setCurrentDetails, upsertSearchAttributes } from '@temporalio/workflow';
import { SEARCH_ATTRIBUTES } from '../contracts/messages.js';

const state = defineSearchAttributeKey(SEARCH_ATTRIBUTES.state, SearchAttributeType.KEYWORD);
const merchant = defineSearchAttributeKey(SEARCH_ATTRIBUTES.merchant, SearchAttributeType.KEYWORD);
const needsOperator = defineSearchAttributeKey(SEARCH_ATTRIBUTES.needsOperator, SearchAttributeType.BOOL);

/** Where a subject stands, for Temporal's UI; never an amount, a name or an address of a person. */
export interface Shown {
  readonly state: string;
  readonly merchantId: string | null;
  readonly needsOperator: boolean;
  /** Lines of `name: value` under the state. */
  readonly facts: readonly (readonly [string, string | null])[];
}

/** Makes Temporal's UI answer "where is it?": search attributes and current details. Repeats nothing. */
export function createShow(): (now: Shown) => void {
  let last = '';
  return (now) => {
    setCurrentDetails(
      [`**${now.state}**`, ...now.facts.map(([name, value]) => `- ${name}: ${value ?? 'not yet'}`)].join('\n'),
    );
    const attributes = JSON.stringify([now.state, now.merchantId, now.needsOperator]);
    if (attributes === last) return;
    last = attributes;
    upsertSearchAttributes([
      { key: state, value: now.state },
      { key: merchant, value: now.merchantId },
      { key: needsOperator, value: now.needsOperator },
    ]);
  };
}
