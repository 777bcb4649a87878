const transform = {
  jsc: {
    target: 'es2022',
    parser: { syntax: 'typescript', tsx: true },
    transform: { react: { runtime: 'automatic', importSource: 'hono/jsx' } },
  },
  module: { type: 'es6' },
};

// Jest reads a default export: the one place where a tool asks for it.
export default {
  testMatch: ['<rootDir>/test/**/*.test.ts', '<rootDir>/test/**/*.test.tsx'],
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts', '.tsx'],
  transform: { '^.+\\.tsx?$': ['@swc/jest', transform] },
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  modulePathIgnorePatterns: ['<rootDir>/dist', '<rootDir>/.sverka'],
  globalSetup: '<rootDir>/test/support/global-setup.mjs',
  globalTeardown: '<rootDir>/test/support/global-teardown.mjs',
  setupFiles: ['<rootDir>/test/support/setup.ts'],
  reporters: ['default', '<rootDir>/test/support/reporter.cjs'],
  testSequencer: '<rootDir>/test/support/sequencer.cjs',
  maxWorkers: 2,
  // Modules of a file are never given back: a process that has grown so much spends its time on collecting garbage.
  workerIdleMemoryLimit: '900MB',
  testTimeout: 180_000,
};
