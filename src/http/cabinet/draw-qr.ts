import { encode } from 'uqr';

/** A quiet zone of four modules around the code, which readers need. */
const QUIET = 4;

/** The text as a QR code, in black on white in both themes. */
export function drawQr(text: string): string {
  const { data, size } = encode(text, { ecc: 'M', border: 0 });
  const runs = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])));
  const side = size + 2 * QUIET;
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${-QUIET} ${-QUIET} ${side} ${side}">` +
    `<rect x="${-QUIET}" y="${-QUIET}" width="${side}" height="${side}" fill="#fff"/>` +
    `<path d="${runs.join('')}" fill="#000"/></svg>\n`
  );
}
