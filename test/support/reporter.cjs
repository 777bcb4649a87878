const { writeFileSync } = require('node:fs');

/** A failed look of `money-invariants.ts`, in its stack, or of the drill, in what Jest says of its pattern. */
const MONEY = /at .*money-invariants\.[jt]s:|pattern: not \S*\/VIOLATION\//;

/** Leaves the counts of a run for scripts/test.mjs, which prints them last. */
module.exports = class CountsReporter {
  onRunComplete(_contexts, results) {
    const countsFile = process.env.SVERKA_TEST_COUNTS;
    if (!countsFile) return;
    const counts = {
      passed: results.numPassedTests,
      failed: results.numFailedTests + results.numRuntimeErrorTestSuites,
      skipped: results.numPendingTests + results.numTodoTests,
      red: results.testResults
        .filter(({ numFailingTests, testExecError }) => numFailingTests > 0 || testExecError)
        .map(({ testFilePath: file, numPassingTests: passed, failureMessage, testResults }) => ({
          file,
          passed,
          titles: testResults.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName),
          // Where money is not as it has to be, nothing about the machine excuses it.
          money: MONEY.test(failureMessage ?? ''),
        })),
    };
    writeFileSync(countsFile, JSON.stringify(counts));
  }
};
