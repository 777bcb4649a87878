import { z } from 'zod';

/** `{"object":"list","data":[…],"has_more":true,"next_cursor":"…"}` (API.md 1). */
export function listSchema<Item extends z.ZodType>(item: Item) {
  return z.object({
    object: z.literal('list'),
    data: z.array(item),
    has_more: z.boolean(),
    next_cursor: z.string().nullable(),
  });
}

export interface ListResource<Item> {
  object: 'list';
  data: Item[];
  has_more: boolean;
  next_cursor: string | null;
}
