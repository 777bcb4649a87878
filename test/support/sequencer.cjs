const { default: Sequencer } = require('@jest/test-sequencer');

/** What takes minutes comes first, or a run ends with one process at work and the others idle. */
const LONGEST = ['race/drill', 'db/deposit-model', 'e2e/', 'race/', 'workflows/', 'replay/'];

const place = ({ path }) => {
  const found = LONGEST.findIndex((part) => path.includes(`/test/${part}`));
  return found === -1 ? LONGEST.length : found;
};

module.exports = class LongestFirst extends Sequencer {
  async sort(tests) {
    return [...(await super.sort(tests))].sort((one, other) => place(one) - place(other));
  }
};
