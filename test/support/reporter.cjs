const { writeFileSync } = require('node:fs');

/** Leaves the counts of a run for scripts/test.mjs, which prints them last. */
module.exports = class CountsReporter {
  onRunComplete(_contexts, results) {
    const file = process.env.SVERKA_TEST_COUNTS;
    if (!file) return;
    const counts = {
      passed: results.numPassedTests,
      failed: results.numFailedTests + results.numRuntimeErrorTestSuites,
      skipped: results.numPendingTests + results.numTodoTests,
    };
    writeFileSync(file, JSON.stringify(counts));
  }
};
