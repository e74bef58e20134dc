import type { JobLogRecord } from "../../../records/job-log.ts";
import type { Connection } from "../driver/connection.ts";
import { type Row, type SqlStatement, statement } from "../driver/driver-and-failures.ts";
import { fieldsOf, rowParameters } from "../sql-and-json.ts";

// The logs of jobs. They go with the result of their job, or with the job where that leaves no result: triggers see to
// it, which are made before the first log is written, because most databases have none.

/** The statements that write the logs of leased jobs, before anything becomes of the leases. */
export function logsOfLeased(
  { keepLogs, trimLogs }: LogStatements,
  leases: readonly { readonly jobId: string; readonly fence: number; readonly log?: JobLogRecord }[],
  schedulerId: string,
): SqlStatement[] {
  const rows = leases.flatMap(({ jobId, fence, log }) =>
    log === undefined ? [] : [[jobId, fence, log.attempt, log.dropped, JSON.stringify(log.lines)]],
  );
  return rowParameters(rows).flatMap(({ text }) => [statement(keepLogs, text, schedulerId), statement(trimLogs, text)]);
}

export async function readLogs(
  connection: Connection,
  { getLogs }: LogStatements,
  jobId: string,
  now: number,
): Promise<JobLogRecord[]> {
  return (await connection.read(statement(getLogs, jobId, now))).map(toLog);
}

function toLog({ attempt, dropped, lines }: Row): JobLogRecord {
  return { attempt: Number(attempt), lines: linesIn(lines), dropped: Number(dropped) };
}

/** None in a damaged row. */
function linesIn(text: unknown): JobLogRecord["lines"] {
  try {
    const lines: unknown = JSON.parse(String(text));
    return Array.isArray(lines) ? lines.filter((line) => "message" in fieldsOf<object>(line, {})) : [];
  } catch {
    return [];
  }
}

/** The statements about logs. A comment before each statement lists its arguments. */
export interface LogStatements {
  readonly keepLogs: string;
  readonly trimLogs: string;
  readonly getLogs: string;
}
