/** A text that JavaScript's `<` puts where the code points of an id belong: `compareTexts` costs ten times as much, and
 *  lists compare each id many times. Units of surrogate pairs and those after them change places. */
export function orderKey(id: string): string {
  // Nearly no id has such units.
  if (!/[\ud800-\uffff]/.test(id)) return id;
  return id.replace(/[\ud800-\uffff]/g, (unit) => {
    const code = unit.charCodeAt(0);
    return String.fromCharCode(code < 0xe000 ? code + 0x2000 : code - 0x800);
  });
}

/** The order of entries by id. */
export function inOrderOfIds(a: { readonly orderKey: string }, b: { readonly orderKey: string }): number {
  if (a.orderKey === b.orderKey) return 0;
  return a.orderKey < b.orderKey ? -1 : 1;
}
