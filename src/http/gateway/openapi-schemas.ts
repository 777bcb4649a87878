import { z } from 'zod';
import { cardSchema } from '../../contracts/card.js';
import { depositSchema } from '../../contracts/deposit.js';
import { depositAddressSchema } from '../../contracts/deposit-address.js';
import { loadSchema } from '../../contracts/load.js';
import { movementSchema } from '../../contracts/movement.js';
import { problemSchema } from '../../contracts/problems.js';
import { requestSchema } from '../../contracts/request.js';
import { amountSchema, ownerSchema, settlementSchema } from '../../contracts/values.js';
import { walletSchema } from '../../contracts/wallet.js';

export type JsonSchema = Readonly<Record<string, unknown>>;

/** Shapes that stand once in `components/schemas` and are referred to everywhere else. */
const NAMED = {
  Amount: amountSchema,
  Card: cardSchema,
  Deposit: depositSchema,
  DepositAddress: depositAddressSchema,
  Load: loadSchema,
  Movement: movementSchema,
  Owner: ownerSchema,
  Problem: problemSchema,
  Request: requestSchema,
  Settlement: settlementSchema,
  Wallet: walletSchema,
} as const;

export interface SchemaBook {
  /** The JSON Schema of a shape, as a reference where it has a name. */
  show(schema: z.ZodType): JsonSchema;
  /** Every named shape that was shown. */
  components(): Record<string, JsonSchema>;
}

/** Turns zod into JSON Schema 2020-12, which is what OpenAPI 3.1 speaks. */
export function createSchemaBook(): SchemaBook {
  // Names are given here and not where a shape is defined: contracts know nothing of OpenAPI.
  for (const [id, schema] of Object.entries(NAMED)) z.globalRegistry.add(schema, { id });
  const used = new Map<string, JsonSchema>();

  return {
    show(schema) {
      // `input`: an object lists what it has, and readers must let further members pass.
      const shown = z.toJSONSchema(schema, { io: 'input', override: dropSafeBounds });
      const { $schema: _, $defs = {}, id, ...rest } = referring(shown);
      for (const [name, definition] of Object.entries($defs as Record<string, JsonSchema>)) {
        const { id: __, ...body } = definition;
        used.set(name, body);
      }
      if (typeof id !== 'string') return rest;
      used.set(id, rest);
      return { $ref: `#/components/schemas/${id}` };
    },
    components: () => Object.fromEntries([...used].sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}

// Every whole number is bounded by what a double can hold; saying so at each of them helps nobody.
function dropSafeBounds({ jsonSchema }: { jsonSchema: { minimum?: number; maximum?: number } }): void {
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
}

function referring(schema: object): Record<string, unknown> {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/'));
}
