import type { NewJobRecord } from "../../records/job.ts";
import { addedJob } from "../../stores/shared/added-and-ended-jobs.ts";
import { hasParents } from "../../stores/shared/parents-of-jobs.ts";
import { additionEvents } from "../events/flow-events.ts";
import { givesNoStatements } from "../running/attempt-steps.ts";
import { Job } from "../views/job.ts";
import type { PreparedJob } from "../views/prepared-job.ts";
import type { VerbContext } from "./verb-context.ts";

/** What `prepareJob` returns for a new job. @throws {StoreRefusedError} when the store has no statements to give */
export async function preparedJob(context: VerbContext, record: NewJobRecord): Promise<PreparedJob> {
  const { env, client } = context;
  const statements = await env.store.prepareAddition?.(record);
  if (statements === undefined) throw givesNoStatements("prepareJob()", env.store, "addJob()");
  return {
    job: new Job(addedJob(record), env.store.serializer, client),
    statements,
    committed: () => tellOf(context, record),
  };
}

async function tellOf({ env, closing }: VerbContext, record: NewJobRecord): Promise<void> {
  if (closing.isClosed) return;
  try {
    // Another job may have had the key, and then nothing was added. Only the store knows whether its parents hold it.
    const { idempotencyKey, debounce, once } = record;
    const isSure = idempotencyKey === null && debounce === undefined && once === undefined;
    const job = isSure && !hasParents(record) ? record : await env.store.getJob(record.id);
    if (job !== null) env.events.publish(additionEvents(env, { job, isNew: true }, record, false));
  } catch (error) {
    env.logger.warn(`escapement: nobody was told of job ${record.id}, which starts after the next look`, error);
  }
}
