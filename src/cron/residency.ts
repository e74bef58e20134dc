import { isYearRange, kernel, upload, views } from "./kernel.ts";
import type { CronSpec } from "./spec.ts";

// Which specs lie in linear memory. A queue: every spec that is put there gets the next ticket, and when there are too
// many, the oldest ones make room. A spec that was removed is put there again when somebody asks it. So memory
// stays within its bound however many specs are made and dropped, without help from the garbage collector, which knows
// nothing of linear memory and may not run for minutes.

/** So many specs may lie in linear memory, of 128 bytes each. */
export const SPECS_MAX = 104_000;
/** Bytes that their date parts and year bitmaps may take: equal ones are shared, so this is enough for many specs.
 *  Day bitmaps and zone tables come on top. */
const DATE_BYTES_MAX = 4 * 1024 * 1024;
const PART_BYTES = 128;
const YEAR_BYTES = 1024;
// Fields of wasm/assembly/layout.ts.
const PART = 4096 + 56;
const YEAR_BITS = 48;
const PART_REFERENCES = 60;

/** The ticket of the oldest spec that lies in memory: a spec with an earlier ticket was removed. */
export let oldestTicket: number = 0;
let nextTicket = 0;
/** The addresses by ticket: a ring, whose length is a power of two. */
let addresses = new Uint32Array(1024);
let specsMax = SPECS_MAX;
let dateBytes = 0;
let dateBytesMax = DATE_BYTES_MAX;

/** The ticket of the spec that was put into memory last. */
export function latestTicket(): number {
  return nextTicket - 1;
}

/** Puts a spec into linear memory. Its address is valid as long as its ticket, {@link latestTicket}, is not earlier
 *  than {@link oldestTicket}. */
export function putSpec(spec: CronSpec, zoneAddress: number): number {
  const yearsAddress = spec.years === null ? 0 : shareYears(spec.years);
  const address = upload(spec, zoneAddress, yearsAddress);
  if (isPartAlone(partOf(address))) dateBytes += PART_BYTES;
  if (nextTicket - oldestTicket === addresses.length) growRing();
  addresses[nextTicket & (addresses.length - 1)] = address;
  nextTicket++;
  while (nextTicket - oldestTicket > specsMax || dateBytes > dateBytesMax) removeOldest();
  return address;
}

/** Makes room for so many specs at once, for a batch that needs all of them. */
export function reserveSpecs(count: number): void {
  specsMax = Math.max(specsMax, count);
  dateBytesMax = Math.max(dateBytesMax, count * PART_BYTES);
}

function removeOldest(): void {
  const address = addresses[oldestTicket & (addresses.length - 1)] ?? 0;
  oldestTicket++;
  const part = partOf(address);
  const yearsAddress = views().u32[(part + YEAR_BITS) >>> 2] ?? 0;
  if (isPartAlone(part)) dateBytes -= PART_BYTES;
  kernel.free(address);
  if (yearsAddress !== 0) dropYears(yearsAddress);
}

function partOf(address: number): number {
  return views().u32[(address + PART) >>> 2] ?? 0;
}

/** Whether a date part belongs to one spec only. */
function isPartAlone(part: number): boolean {
  return views().u32[(part + PART_REFERENCES) >>> 2] === 1;
}

function growRing(): void {
  const longer = new Uint32Array(addresses.length * 2);
  for (let ticket = oldestTicket; ticket < nextTicket; ticket++) {
    longer[ticket & (longer.length - 1)] = addresses[ticket & (addresses.length - 1)] ?? 0;
  }
  addresses = longer;
}

/** A year bitmap in linear memory, and how many specs use it. */
interface SharedYears {
  readonly address: number;
  readonly hash: number;
  specs: number;
}

const yearsByHash = new Map<number, SharedYears[]>();
const yearsByAddress = new Map<number, SharedYears>();

/** The address of an equal bitmap, which is made when there is none. 0 where the years are a range, which needs
 *  none. */
function shareYears(years: Uint32Array): number {
  if (isYearRange(years)) return 0;
  let hash = 0;
  for (const word of years) hash = Math.imul(hash ^ word, 0x9e3779b1) ^ (hash >>> 15);
  const candidates = yearsByHash.get(hash) ?? [];
  let shared = candidates.find(({ address }) => isAt(address, years));
  if (shared === undefined) {
    const address = kernel.acquire(YEAR_BYTES);
    views().u32.set(years, address >>> 2);
    dateBytes += YEAR_BYTES;
    shared = { address, hash, specs: 0 };
    yearsByHash.set(hash, [...candidates, shared]);
    yearsByAddress.set(address, shared);
  }
  shared.specs++;
  return shared.address;
}

function dropYears(address: number): void {
  const shared = yearsByAddress.get(address);
  if (shared === undefined || --shared.specs > 0) return;
  yearsByAddress.delete(address);
  const others = yearsByHash.get(shared.hash)?.filter((one) => one !== shared) ?? [];
  if (others.length === 0) yearsByHash.delete(shared.hash);
  else yearsByHash.set(shared.hash, others);
  kernel.release(address, YEAR_BYTES);
  dateBytes -= YEAR_BYTES;
}

function isAt(address: number, years: Uint32Array): boolean {
  const { u32 } = views();
  return years.every((word, index) => u32[(address >>> 2) + index] === word);
}
