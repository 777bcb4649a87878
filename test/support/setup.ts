// A promise that nobody awaited must fail its test file and not only warn.
process.on('unhandledRejection', (error) => {
  throw error;
});
