// An allocator for few sizes: powers of two, each with a list of freed blocks, above a bump pointer. Blocks never move.
import { BATCH_ITEMS, STAGING_BYTES } from "./layout";

const freeLists: usize = memory.data(33 * 4, 16);
export const STAGING: usize = memory.data(STAGING_BYTES, 16);
export const INPUT: usize = memory.data(BATCH_ITEMS * 8, 16);
export const OUTPUT: usize = memory.data(BATCH_ITEMS * 8, 16);
export const SPECS: usize = memory.data(BATCH_ITEMS * 4, 16);

let top: usize = (__heap_base + 63) & ~63;

/** A block of at least `bytes`, zeroed, aligned to a cache line. */
export function acquire(bytes: usize): usize {
  const size = blockSize(bytes);
  const list = listOf(size);
  let block = load<usize>(list);
  if (block != 0) {
    store<usize>(list, load<usize>(block));
  } else {
    block = top;
    top += size;
    growTo(top);
  }
  memory.fill(block, 0, size);
  return block;
}

export function release(block: usize, bytes: usize): void {
  const list = listOf(blockSize(bytes));
  store<usize>(block, load<usize>(list));
  store<usize>(list, block);
}

// @ts-ignore: decorator
@inline
function blockSize(bytes: usize): usize {
  return bytes <= 64 ? 64 : <usize>1 << (32 - clz<u32>(<u32>bytes - 1));
}

// @ts-ignore: decorator
@inline
function listOf(size: usize): usize {
  return freeLists + (<usize>ctz<u32>(<u32>size) << 2);
}

// The memory grows by a quarter at a time, and by 2 MB at most, because growing detaches the views of JavaScript.
// Where so much is not available, it grows by what is needed.
function growTo(end: usize): void {
  const pages = memory.size();
  const wanted = <i32>((end + 0xffff) >> 16);
  if (wanted <= pages) return;
  if (memory.grow(max(wanted - pages, min(pages >> 2, 32))) >= 0) return;
  if (memory.grow(wanted - pages) < 0) unreachable();
}
