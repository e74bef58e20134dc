import { mustBe } from "../../core/option-errors.ts";
import { JSONSerializer } from "../../serializers/json.ts";
import type { Serializer } from "../../serializers/serializer.ts";
import type { CallTexts, JobCall } from "../job-executor.ts";
import { UnfitModule } from "./task-module.ts";

// Values cross as texts of the data store's serializer, so that they arrive whole, or are refused as they are here. A
// worker has JSON, and needs a serializer of its own where the store has another one.

const JSON_TEXTS = new JSONSerializer();

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
const SAMPLE = { escapement: ["text", 1.5, true, null] };

/** The sample as a serializer writes it; null for JSON, which every worker has. */
export function sampleOf(serializer: Serializer = JSON_TEXTS): string | null {
  return serializer.constructor === JSONSerializer ? null : serializer.serialize(SAMPLE);
}

/**
 * The serializer of a worker.
 * @param sample what the data store's serializer wrote; absent for JSON
 * @param given what the worker's module has
 * @throws {UnfitModule} when that is not the data store's
 */
export function workerSerializer(sample: string | undefined, given: unknown): Serializer {
  if (sample === undefined) return JSON_TEXTS;
  const advice = "export the same one as `serializer`, or pass it to serveTasks(tasks, { serializer })";
  if (given === undefined) {
    throw new UnfitModule(`must have the serializer of the data store, which is no JSONSerializer: ${advice}`);
  }
  if (!isSerializer(given)) throw new UnfitModule(`must have a serializer; it ${mustBe("a Serializer", given)}`);
  try {
    if (JSON.stringify(given.deserialize(sample)) === JSON.stringify(SAMPLE)) return given;
  } catch {
    // It is another one.
  }
  throw new UnfitModule(`has a serializer that does not read what that of the data store writes: ${advice}`);
}

function isSerializer(given: unknown): given is Serializer {
  if (typeof given !== "object" || given === null) return false;
  return ["serialize", "deserialize"].every((name) => typeof Reflect.get(given, name) === "function");
}
