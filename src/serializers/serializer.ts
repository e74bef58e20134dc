/** Turns values into text for a store, and back. What goes in must come out equal, or be refused. */
export interface Serializer {
  /** @throws {SerializationError} when the value cannot be carried without loss; the message names the path to it */
  serialize(value: unknown): string;
  /** @throws {DeserializationError} when the text was not written by this serializer */
  deserialize(text: string): unknown;
}
