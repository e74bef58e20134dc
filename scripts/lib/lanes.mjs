// @ts-check

/**
 * Works on items in their order, on `lanes` of them at once. An item that waits, for a server or for a minute of the
 * clock, then leaves the processor to another one.
 *
 * @template T, R
 * @param {readonly T[]} items
 * @param {number} lanes
 * @param {(item: T) => Promise<R>} work
 * @returns {Promise<R[]>} the answers, in the order of the items
 */
export async function inLanes(items, lanes, work) {
  const answers = /** @type {R[]} */ ([]);
  const left = items.entries();
  const lane = async () => {
    // The lanes share the iterator, so that each item is taken once.
    for (const [index, item] of left) answers[index] = await work(item);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return answers;
}
