/** Whether a value is an error, of another realm too (`node:vm`, a frame of a page). */
export function isErrorLike(value: unknown): value is Error {
  return value instanceof Error || Object.prototype.toString.call(value) === "[object Error]";
}
