/** The problems that a page can answer; each has its words. */
export const PAGE_STATUSES = [400, 403, 404, 405, 409, 413, 422, 429, 500, 503] as const;
export type PageStatus = (typeof PAGE_STATUSES)[number];

/** An error that is answered to the reader as a page of its status. Anything else that is thrown is a bug: 500. */
export class PageError extends Error {
  readonly status: PageStatus;

  constructor(status: PageStatus) {
    super(`page ${status}`);
    this.name = 'PageError';
    this.status = status;
  }
}

/** There is no such thing for this reader: nothing says whether it exists for another. */
export function notFound(): never {
  throw new PageError(404);
}
