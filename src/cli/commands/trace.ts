import { readTrace } from '../../db/trace.js';
import { argument, type Command } from '../command.js';
import { CliFailure, EXIT } from '../failure.js';
import { type Item, toTraceItem, traceRows } from '../trace-item.js';
import { workflowsOf } from '../workflows-of.js';

export const traceCommand: Command = {
  path: ['trace'],
  summary: 'everything about one id, in order',
  args: [
    {
      name: '<id>',
      description: 'any id of ours, a trace id, a workflow id, a hash, an address paid to, a provider’s own id',
    },
  ],
  examples: ['trace dep_01kb…', 'trace 4bf92f3577b34da6a3ce929d0e0e4736', 'trace deposit:live:custody:cd-77 --json'],
  async run(context, input) {
    const { out, flags } = context;
    const id = argument(input, 0);
    // A pasted key must not travel into a query, a log of it, or an answer.
    if (/^(sk|whsec)_/.test(id)) throw new CliFailure('usage', 'That is a secret. Trace its id: `sverka keys list`.');
    const trace = await readTrace(context.pool(), id, flags.book);
    const workflows = await workflowsOf(context, trace.scope.workflowIds);
    const items: Item[] = [...trace.items, ...workflows.items].sort((a, b) => a.at.getTime() - b.at.getTime());
    if (items.length === 0) {
      const message = 'Nothing is known of this id, in the books asked for. Check the profile and the id.';
      throw new CliFailure('notFound', workflows.note === null ? message : `${message} ${workflows.note}`);
    }
    const notes = [
      ...(workflows.note === null ? [] : [workflows.note]),
      ...(trace.truncated ? ['Of some kinds only the newest are shown.'] : []),
    ];
    const document = {
      object: 'trace',
      id,
      subjects: trace.scope.subjects,
      truncated: trace.truncated,
      notes,
      items: items.map(toTraceItem),
    };
    out.result(document, () => {
      out.table(
        [
          { title: 'TIME (UTC)' },
          { title: 'WHAT' },
          { title: 'ID' },
          { title: 'AMOUNT', align: 'right' },
          { title: 'DETAIL' },
        ],
        items.flatMap((item) => traceRows(item, out.mark)),
      );
      for (const note of notes) context.note(note);
    });
    return EXIT.done;
  },
};
