/** What kind of move it is: when faults and changes stop, those of the lowest number go first. */
export const Kind = Object.freeze({
  /** A scheduler or a client goes on with what it has begun, or with what it finds. */
  work: 0,
  /** A scheduler extends its leases. */
  upkeep: 1,
  /** Time passes. */
  time: 2,
  /** A try arrives that its sender gave up long ago. */
  late: 3,
  /** A fault, a change by a client, or a commit on old knowledge: never needed. */
  chance: 4,
});
export type Kind = (typeof Kind)[keyof typeof Kind];

/** Takes a move of the current state: its kind, its name, who makes it, and what is wrong with it, or null. */
export type Emit = (kind: Kind, name: string, by: number, flaw: string | null) => void;

/** A system of finitely many states, each a row of `width` bytes. */
export interface Model {
  readonly width: number;
  /** Where {@link expand} puts the state that a move leads to, before it emits the move. */
  readonly out: Uint8Array;
  /** Puts one initial state after the other into `out`. */
  start(emit: () => void): void;
  /** Emits every move of a state. */
  expand(bytes: Uint8Array, offset: number, emit: Emit): void;
  /** What is wrong with a state in which nothing is left to do, or null. */
  checkRest(bytes: Uint8Array, offset: number): string | null;
  /** One line for people. */
  show(bytes: Uint8Array, offset: number): string;
}

export interface Exploration {
  readonly states: number;
  readonly moves: number;
  /** False when there are more states than allowed. */
  readonly isComplete: boolean;
  /** What is wrong, and the shortest way to it; null when nothing is. */
  readonly flaw: { readonly text: string; readonly trace: readonly string[] } | null;
}

const CHUNK_BITS = 14;
const CHUNK_STATES = 1 << CHUNK_BITS;

/**
 * Visits all states breadth-first, and stops at the first flaw. From every state the moves of the lowest kind must lead
 * to rest, which must be flawless: the fair run after the last fault.
 */
export function explore(model: Model, statesMax: number): Exploration {
  const table = new StateTable(model.width);
  const calm: number[] = [];
  let moves = 0;
  model.start(() => table.add(model.out, -1));
  for (let index = 0; index < table.size; index++) {
    if (table.size > statesMax) return { states: table.size, moves, isComplete: false, flaw: null };
    const { bytes, offset } = table.at(index);
    let flaw: string | null = null;
    let lowest: number = Kind.chance;
    let next = -1;
    model.expand(bytes, offset, (kind, _name, _by, text) => {
      moves++;
      const to = table.add(model.out, index);
      flaw ??= text;
      if (kind < lowest && to !== index) {
        lowest = kind;
        next = to;
      }
    });
    if (flaw === null && lowest >= Kind.late) flaw = model.checkRest(bytes, offset);
    if (flaw !== null) {
      const trace = [...traceTo(model, table, index), ...flawedMove(model, bytes, offset)];
      return { states: table.size, moves, isComplete: true, flaw: { text: flaw, trace } };
    }
    calm.push(next);
  }
  const cycle = findCycle(calm);
  const flaw =
    cycle === null ? null : { text: "goes round for ever", trace: [...traceTo(model, table, cycle), "... and again"] };
  return { states: table.size, moves, isComplete: true, flaw };
}

/** The first flawed move of a state, if it has one. */
function flawedMove(model: Model, bytes: Uint8Array, offset: number): string[] {
  const lines: string[] = [];
  model.expand(bytes, offset, (_kind, name, by, flaw) => {
    if (flaw !== null && lines.length === 0) lines.push(line(name, by, model.show(model.out, 0)));
  });
  return lines;
}

/** The way from an initial state. */
function traceTo(model: Model, table: StateTable, target: number): string[] {
  const lines: string[] = [];
  for (let index = target; index >= 0; index = table.parentOf(index)) {
    const parent = table.parentOf(index);
    const { bytes, offset } = table.at(index);
    if (parent < 0) {
      lines.push(line("begin", -1, model.show(bytes, offset)));
      continue;
    }
    const from = table.at(parent);
    let label: string | null = null;
    model.expand(from.bytes, from.offset, (_kind, name, by) => {
      if (label === null && isEqual(model.out, bytes, offset)) label = line(name, by, model.show(bytes, offset));
    });
    lines.push(label ?? "?");
  }
  return lines.reverse();
}

function line(name: string, by: number, state: string): string {
  return `${by < 0 ? "" : `${"ABC"[by]} `}${name}`.padEnd(34) + state;
}

/** A state on a cycle of a function that -1 ends, or null. */
function findCycle(next: readonly number[]): number | null {
  // 0: not visited. Otherwise the number of the walk that came by first.
  const walks = new Int32Array(next.length);
  for (let start = 0; start < next.length; start++) {
    let at = start;
    while (at >= 0 && walks[at] === 0) {
      walks[at] = start + 1;
      at = next[at] ?? -1;
    }
    if (at >= 0 && walks[at] === start + 1) return at;
  }
  return null;
}

function isEqual(a: Uint8Array, b: Uint8Array, offset: number): boolean {
  for (let index = 0; index < a.length; index++) if (a[index] !== b[offset + index]) return false;
  return true;
}

/** All states that were seen, in order, each with the state that it was first seen from. */
class StateTable {
  size = 0;
  readonly #width: number;
  readonly #chunks: Uint8Array[] = [];
  readonly #parents: Int32Array[] = [];
  #slots: Int32Array = new Int32Array(1 << 16);

  constructor(width: number) {
    this.#width = width;
  }

  at(index: number): { bytes: Uint8Array; offset: number } {
    const bytes = this.#chunks[index >> CHUNK_BITS] ?? new Uint8Array();
    return { bytes, offset: (index & (CHUNK_STATES - 1)) * this.#width };
  }

  parentOf(index: number): number {
    return this.#parents[index >> CHUNK_BITS]?.[index & (CHUNK_STATES - 1)] ?? -1;
  }

  /** The index of a state, which is new or not. */
  add(state: Uint8Array, parent: number): number {
    const mask = this.#slots.length - 1;
    let slot = hash(state, 0, this.#width) & mask;
    for (;;) {
      // Slots hold the index plus 1; 0 is free.
      const found = (this.#slots[slot] ?? 0) - 1;
      if (found < 0) break;
      const { bytes, offset } = this.at(found);
      if (isEqual(state, bytes, offset)) return found;
      slot = (slot + 1) & mask;
    }
    const index = this.size++;
    if ((index & (CHUNK_STATES - 1)) === 0) {
      this.#chunks.push(new Uint8Array(CHUNK_STATES * this.#width));
      this.#parents.push(new Int32Array(CHUNK_STATES));
    }
    const { bytes, offset } = this.at(index);
    bytes.set(state, offset);
    const parents = this.#parents[index >> CHUNK_BITS];
    if (parents !== undefined) parents[index & (CHUNK_STATES - 1)] = parent;
    this.#slots[slot] = index + 1;
    if (this.size * 2 > this.#slots.length) this.#grow();
    return index;
  }

  #grow(): void {
    const slots = new Int32Array(this.#slots.length * 2);
    const mask = slots.length - 1;
    for (let index = 0; index < this.size; index++) {
      const { bytes, offset } = this.at(index);
      let slot = hash(bytes, offset, this.#width) & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = index + 1;
    }
    this.#slots = slots;
  }
}

/** FNV-1a with a final mix, because the low bits choose the slot. */
function hash(bytes: Uint8Array, offset: number, length: number): number {
  let value = 0x811c9dc5;
  for (let index = offset; index < offset + length; index++) {
    value = Math.imul(value ^ (bytes[index] ?? 0), 0x01000193);
  }
  value ^= value >>> 15;
  value = Math.imul(value, 0x2c1b3c6d);
  return (value ^ (value >>> 13)) >>> 0;
}
