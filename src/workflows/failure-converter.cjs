// CommonJS: the SDK loads it by `require`, and bundles it with the workflows.
const { DefaultFailureConverter } = require('@temporalio/common');

/**
 * Puts messages and stacks of failures where the codec encrypts them. Workflow code knows no configuration: a worker
 * that encrypts nothing says so in front of the bundle, and messages stay readable in Temporal's UI.
 */
exports.failureConverter = new DefaultFailureConverter({
  encodeCommonAttributes: globalThis.sverkaFailuresInClear !== true,
});
