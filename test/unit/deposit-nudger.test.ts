import { createNudger } from '../../src/client/nudger.js';

it('keeps one nudge of a target in flight and one behind it, however many come, and the last one counts', async () => {
  const sent: number[] = [];
  let [flying, most] = [0, 0];
  const nudger = createNudger(
    async (n: number) => {
      flying += 1;
      most = Math.max(most, flying);
      await new Promise((resolve) => setImmediate(resolve));
      sent.push(n);
      flying -= 1;
    },
    (error) => {
      throw error;
    },
  );
  for (let n = 1; n <= 50; n += 1) nudger.nudge('one', n);
  await nudger.idle();
  expect([sent, most]).toEqual([[1, 50], 1]);
  nudger.nudge('one', 51);
  await nudger.idle();
  expect(sent).toEqual([1, 50, 51]);
});

it('sends to different targets at once', async () => {
  const sent: string[] = [];
  const nudger = createNudger(
    async (to: string) => void sent.push(to),
    () => undefined,
  );
  for (const to of ['a', 'b', 'c']) nudger.nudge(to, to);
  expect(sent).toEqual(['a', 'b', 'c']);
  await nudger.idle();
});

it('never throws and goes on after a nudge that failed: the sweep will come for that one', async () => {
  const [failures, sent]: [unknown[], number[]] = [[], []];
  const nudger = createNudger(
    async (n: number) => {
      if (n === 1) throw new Error('Temporal is away');
      sent.push(n);
    },
    (error) => void failures.push(error),
  );
  nudger.nudge('one', 1);
  nudger.nudge('one', 2);
  await nudger.idle();
  expect([failures.length, sent]).toEqual([1, [2]]);
});

it('remembers ten thousand targets at most and leaves the rest to the sweep', async () => {
  const sent = new Set<number>();
  const nudger = createNudger(
    async (n: number) => void sent.add(n),
    () => undefined,
  );
  for (let n = 0; n < 10_050; n += 1) nudger.nudge(String(n), n);
  await nudger.idle();
  expect(sent.size).toBe(10_000);
});
