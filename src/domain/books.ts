/** Every account, key, secret and endpoint belongs to one book; a movement never crosses (DESIGN 3). */
export const BOOKS = ['live', 'test'] as const;
export type Book = (typeof BOOKS)[number];
