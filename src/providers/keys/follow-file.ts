import { statSync } from 'node:fs';

/**
 * Answers what a file holds, read again only when it was replaced: a rotation needs no restart. What `read` throws is
 * thrown each time until the file is mended.
 */
export function followFile<Content>(file: string, read: (file: string) => Content): () => Content {
  let seen: { stamp: string; content: Content } | null = null;
  return () => {
    const stamp = stampOf(file);
    if (seen === null || stamp === null || seen.stamp !== stamp) {
      const content = read(file);
      seen = { stamp: stamp ?? '', content };
    }
    return seen.content;
  };
}

/** Null for a file that is not there. The mode belongs to it: a file that was opened to others is read, and refused. */
function stampOf(file: string): string | null {
  const found = statSync(file, { bigint: true, throwIfNoEntry: false });
  return found ? `${found.ino} ${found.mtimeNs} ${found.size} ${found.mode}` : null;
}
