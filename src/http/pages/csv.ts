/** A cell of a CSV: a text, or a figure of ours (a plain decimal, with a sign or none). */
export type CsvCell = string | null | { readonly figure: string };

/** A spreadsheet takes a text that begins so for a formula. */
const FORMULA = /^[=+\-@\t\r]/;
const FIGURE = /^-?[0-9]+(\.[0-9]+)?$/;

/**
 * Rows as RFC 4180 has them, with CRLF and in UTF-8. A text that a spreadsheet would run gets an apostrophe in front; a
 * figure stays as it is, since it can be nothing else.
 */
export function writeCsv(names: readonly string[], rows: readonly (readonly CsvCell[])[]): string {
  return [names, ...rows].map((row) => `${row.map(cellText).join(',')}\r\n`).join('');
}

/** The file as a download; `name` is ours. */
export function csvResponse(name: string, text: string): Response {
  return new Response(text, {
    headers: {
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': `attachment; filename="${name}.csv"`,
    },
  });
}

function cellText(cell: CsvCell): string {
  if (cell === null) return '';
  if (typeof cell !== 'string') {
    if (!FIGURE.test(cell.figure)) throw new Error('A figure of a CSV is not a plain decimal.');
    return cell.figure;
  }
  const text = FORMULA.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
