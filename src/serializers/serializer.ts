/** Turns values into text for a store, and the text back into values. A value must come back equal, or be refused. */
export interface Serializer {
  /** The text of a value. @throws {SerializationError} when the text cannot carry the value without loss; the message
   *  names the path to the problem */
  serialize(value: unknown): string;
  /** The value of a text. @throws {DeserializationError} when the text was not written by this serializer */
  deserialize(text: string): unknown;
}
