import { JSONSerializer } from "../../serializers/json.ts";
import type { Serializer } from "../../serializers/serializer.ts";
import type { CallTexts, JobCall } from "../job-executor.ts";

// Values cross as texts of the data store's serializer, so that they arrive whole, or are refused as they are here. A
// worker has JSON, and needs a serializer of its own where the store has another one.

/** JSON, which every worker has. */
export const JSON_TEXTS: Serializer = new JSONSerializer();

/** The texts of a call. Who calls without a scheduler gets values of JSON. */
export function textsOf({ texts, payload }: JobCall): CallTexts {
  if (texts !== undefined) return texts;
  return {
    payload: () => (payload === undefined ? null : JSON_TEXTS.serialize(payload)),
    returned: (text) => JSON_TEXTS.deserialize(text),
    refused: () => {},
  };
}

/** What a worker has to read as this text, to show that it has the data store's serializer. */
export const SAMPLE: object = { escapement: ["text", 1.5, true, null] };

/** The sample as a serializer writes it; null for JSON, which every worker has. */
export function sampleOf(serializer: Serializer = JSON_TEXTS): string | null {
  return serializer.constructor === JSONSerializer ? null : serializer.serialize(SAMPLE);
}
