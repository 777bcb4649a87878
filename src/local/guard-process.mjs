// Ends the children of a process that died without doing so itself. It runs in a process group of its own and reads
// JSON lines from a pipe: {"add":{"pid","signal","stage"}}, {"drop":pid}, {"done":true}. End of file without "done"
// means that the parent is dead; its run file (argument 2; argument 3 is its pid) then says at once that nothing is
// ready. Plain JavaScript, so that it is up before anything else has loaded.
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const GRACE_MS = 5_000;
const children = new Map();
let done = false;

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {});
for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  if (message.add) children.set(message.add.pid, message.add);
  if (message.drop) children.delete(message.drop);
  if (message.done) done = true;
}
if (!done) {
  takeBack();
  await endAll();
}
process.exit();

/** The parent's own file alone: the next start may have written its own meanwhile. */
function takeBack() {
  const [file, parent] = process.argv.slice(3);
  if (file === undefined) return;
  try {
    const run = JSON.parse(readFileSync(file, 'utf8'));
    if (run.pids?.self !== Number(parent)) return;
    writeFileSync(`${file}.${process.pid}`, `${JSON.stringify({ ...run, ready: false }, null, 1)}\n`, { mode: 0o600 });
    renameSync(`${file}.${process.pid}`, file);
  } catch (error) {
    if (error.code !== 'ENOENT' && !(error instanceof SyntaxError)) process.exitCode = 1;
  }
}

/** The highest stage first: what uses a server ends before the server does. */
async function endAll() {
  for (const stage of [...new Set([...children.values()].map((child) => child.stage))].sort((a, b) => b - a)) {
    const group = [...children.values()].filter((child) => child.stage === stage);
    for (const child of group) send(child.pid, child.signal);
    const until = Date.now() + GRACE_MS;
    while (group.some((child) => isRunning(child.pid)) && Date.now() < until) await pause(50);
    for (const child of group) send(-child.pid, 'SIGKILL');
  }
}

function send(pid, signal) {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (error.code !== 'ESRCH' && error.code !== 'EPERM') throw error;
  }
}

/** A zombie, which nobody reaps in a container without an init, does not count. */
function isRunning(pid) {
  try {
    process.kill(pid, 0);
    return !/^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch (error) {
    return error.code === 'ENOENT' && process.platform !== 'linux';
  }
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
