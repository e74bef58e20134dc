/** A function that makes a value when it is first called, and returns the same value afterwards. What is made at module
 *  scope would cost every program its time, also those that never use it. */
export function once<T extends object>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
