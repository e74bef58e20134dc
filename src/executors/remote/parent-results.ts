import { DeserializationError, SchedulerStateError } from "../../core/errors.ts";
import type { JobResultRecord } from "../../records/job-result.ts";
import { revivedError } from "../../records/revived-error.ts";
import { type SerializedError, serializedError } from "../../records/serialized-error.ts";
import { JobResult } from "../../scheduler/views/job-result.ts";
import type { Serializer } from "../../serializers/serializer.ts";
import type { JobCall } from "../job-executor.ts";

/** A result of a job on its way to a worker, which has no serializer of the store: the texts in the record are replaced
 *  by their values. */
export interface SentResult {
  /** The record as JSON, with the index of a value in the place of each text. */
  readonly record: string;
  readonly values: readonly SentValue[];
}

/** What a text of the store stands for, or why it cannot be read. */
type SentValue = { readonly value: unknown } | { readonly error: SerializedError };

/** The scheduler's side: the results of the jobs that the job of a call came after.
 *  @throws {StoreUnavailableError}
 *  @throws {SchedulerStateError} when whoever made the call cannot read them */
export async function sentResults(call: JobCall): Promise<(SentResult | null)[]> {
  if (call.getParentResults === undefined) {
    throw new SchedulerStateError("getParentResults() of a handler's context: whoever runs the job cannot read them");
  }
  const { records, serializer } = await call.getParentResults();
  return records.map((record) => (record === null ? null : sentResult(record, serializer)));
}

function sentResult({ returnValue, job, ...record }: JobResultRecord, serializer: Serializer): SentResult {
  const values: SentValue[] = [];
  const index = (text: string | null): string | null => {
    if (text === null) return null;
    values.push(readValue(text, serializer));
    return String(values.length - 1);
  };
  const indexed = { ...record, returnValue: index(returnValue) };
  const kept = job === undefined ? {} : { job: { ...job, payload: index(job.payload) } };
  return { record: JSON.stringify({ ...indexed, ...kept }), values };
}

function readValue(text: string, serializer: Serializer): SentValue {
  try {
    return { value: serializer.deserialize(text) };
  } catch (error) {
    return { error: serializedError(error) };
  }
}

/** The worker's side: the result as handlers get it. */
export function receivedResult({ record, values }: SentResult): JobResult {
  const deserialize = (index: string): unknown => {
    const sent = values[Number(index)];
    if (sent === undefined) throw new DeserializationError("a value of the result was not sent");
    if ("error" in sent) throw revivedError(sent.error);
    return sent.value;
  };
  const serialize = (): never => {
    throw new SchedulerStateError("a result in a worker cannot be stored");
  };
  return new JobResult(JSON.parse(record) as JobResultRecord, { serialize, deserialize });
}
