/** One version of a transaction. Sides are numbers of accounts, 0 for none; money is in units. */
export interface JournalEntry {
  readonly transaction: number;
  readonly status: number;
  readonly from: number;
  readonly to: number;
  /** What this version moved. */
  readonly amount: bigint;
  readonly fromBalance: bigint;
  readonly toBalance: bigint;
  /** When the transaction was made, in milliseconds. */
  readonly createdAt: number;
}

export interface Journal {
  /** Position of the last entry; positions go up by one. */
  last(): number;
  /** A reader who stands before this position has lost entries. */
  min(): number;
  /** Appends and answers the position. */
  append(entry: JournalEntry): number;
  /** The entry at a position after `min`. */
  at(position: number): JournalEntry;
  /** Keeps so many entries at most. */
  retain(keep: number): void;
}

// Columns in chunks: a million entries take some 70 MB, outside the heap, and old ones are given back.
const CHUNK = 4_096;
const WORDS = 6;

interface Chunk {
  readonly places: Uint32Array;
  readonly statuses: Uint8Array;
  readonly money: BigUint64Array;
  readonly times: Float64Array;
}

/** A journal whose first entry will stand at `start + 1`. */
export function createJournal(start: number): Journal {
  const chunks: (Chunk | undefined)[] = [];
  let last = start;
  let min = start;
  const slotOf = (position: number) => (position - start - 1) % CHUNK;
  const chunkOf = (position: number): Chunk => {
    const number = Math.floor((position - start - 1) / CHUNK);
    const chunk = chunks[number] ?? newChunk();
    chunks[number] = chunk;
    return chunk;
  };
  return {
    last: () => last,
    min: () => min,
    append(entry) {
      last += 1;
      write(chunkOf(last), slotOf(last), entry);
      return last;
    },
    at(position) {
      if (position <= min || position > last) throw new RangeError(`The journal has no entry at ${position}.`);
      return read(chunkOf(position), slotOf(position));
    },
    retain(keep) {
      min = Math.max(min, last - keep);
      const gone = Math.floor((min - start) / CHUNK);
      for (let number = gone - 1; number >= 0 && chunks[number] !== undefined; number -= 1) chunks[number] = undefined;
    },
  };
}

function newChunk(): Chunk {
  return {
    places: new Uint32Array(3 * CHUNK),
    statuses: new Uint8Array(CHUNK),
    money: new BigUint64Array(WORDS * CHUNK),
    times: new Float64Array(CHUNK),
  };
}

function write(chunk: Chunk, slot: number, entry: JournalEntry): void {
  const { places, statuses, money, times } = chunk;
  places[3 * slot] = entry.transaction;
  places[3 * slot + 1] = entry.from;
  places[3 * slot + 2] = entry.to;
  statuses[slot] = entry.status;
  times[slot] = entry.createdAt;
  writeWide(money, WORDS * slot, entry.amount);
  writeWide(money, WORDS * slot + 2, entry.fromBalance);
  writeWide(money, WORDS * slot + 4, entry.toBalance);
}

/** 128 bits: what is stored of a bigint is its lower half. */
function writeWide(money: BigUint64Array, index: number, value: bigint): void {
  money[index] = value;
  money[index + 1] = value >> 64n;
}

function read({ places, statuses, money, times }: Chunk, slot: number): JournalEntry {
  const word = (index: number) => money[WORDS * slot + index] ?? 0n;
  const wide = (index: number) => (word(index + 1) === 0n ? word(index) : (word(index + 1) << 64n) | word(index));
  return {
    transaction: places[3 * slot] ?? 0,
    from: places[3 * slot + 1] ?? 0,
    to: places[3 * slot + 2] ?? 0,
    status: statuses[slot] ?? 0,
    createdAt: times[slot] ?? 0,
    amount: wide(0),
    fromBalance: wide(2),
    toBalance: wide(4),
  };
}
