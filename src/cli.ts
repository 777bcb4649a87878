import { runCli } from './cli/run-cli.js';

process.exitCode = await runCli({
  args: process.argv.slice(2),
  env: process.env,
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
});
