/** About how many bytes a record has: the length of all its texts, and a constant for each other value. To print the
 *  record would cost ten times as much. */
export function sizeOf(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return VALUE_BYTES;
  let size = VALUE_BYTES;
  for (const name in value) size += sizeOf(value[name as keyof typeof value]);
  return size;
}

const VALUE_BYTES = 8;
