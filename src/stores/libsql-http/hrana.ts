import type { Row, SqlStatement, SqlValue } from "../sql/driver/driver-and-failures.ts";

// Version 3 of Hrana over HTTP, as far as the driver needs it: one pipeline opens a stream, runs one statement or one
// batch on it, and closes it. So no stream is kept on the server, and no baton here
// (github.com/tursodatabase/libsql, docs/HRANA_3_SPEC.md).

/** A failure that the server, or its answer, is the reason of. Its codes are those of `@libsql/client`. */
export class HranaError extends Error {
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "HranaError";
    this.code = code;
  }
}

/** The steps of a batch that are none of its statements: BEGIN, COMMIT and ROLLBACK. */
const FRAME_STEPS = 3;

/** The body of a request that runs one statement by itself. */
export function executeBody(statement: SqlStatement): string {
  return bodyOf({ type: "execute", stmt: encode(statement) });
}

/** The body of a request that runs the statements as one write transaction. */
export function batchBody(statements: readonly SqlStatement[]): string {
  const steps: unknown[] = [{ stmt: { sql: "BEGIN IMMEDIATE" } }];
  // An error may have ended the transaction. Without a look at that, what follows would be written outside of it.
  const add = (stmt: unknown): void => {
    const isOpen = { type: "not", cond: { type: "is_autocommit" } };
    const condition = { type: "and", conds: [{ type: "ok", step: steps.length - 1 }, isOpen] };
    steps.push({ stmt, condition });
  };
  for (const statement of statements) add(encode(statement));
  add({ sql: "COMMIT" });
  const isCommitted = { type: "ok", step: steps.length - 1 };
  steps.push({ stmt: { sql: "ROLLBACK" }, condition: { type: "not", cond: isCommitted } });
  return bodyOf({ type: "batch", batch: { steps } });
}

function bodyOf(request: unknown): string {
  return JSON.stringify({ requests: [request, { type: "close" }] });
}

function encode({ sql, args }: SqlStatement): unknown {
  return { sql, args: args.map(encodeValue) };
}

function encodeValue(value: SqlValue): unknown {
  if (value === null) return { type: "null" };
  if (typeof value === "string") return { type: "text", value };
  if (Number.isSafeInteger(value)) return { type: "integer", value: String(value) };
  if (Number.isFinite(value)) return { type: "float", value };
  throw new RangeError(`only finite numbers can be passed as arguments, got ${value}`);
}

interface PipelineAnswer {
  readonly results: readonly {
    readonly error?: HranaFailure;
    readonly response?: { readonly result: StatementAnswer & BatchAnswer };
  }[];
}

interface HranaFailure {
  readonly message: string;
  readonly code?: string | null;
}

interface StatementAnswer {
  readonly cols: readonly { readonly name: string }[];
  readonly rows: readonly (readonly Value[])[];
}

interface BatchAnswer {
  readonly step_results: readonly (StatementAnswer | null)[];
  readonly step_errors: readonly (HranaFailure | null)[];
}

interface Value {
  readonly type: string;
  readonly value?: unknown;
  readonly base64?: string;
}

/** The rows of a statement that ran by itself.
 *  @throws {HranaError} when the statement failed, or the answer is none */
export function rowsOf(text: string): Row[] {
  return reading(text, (answer) => decode(resultOf(answer)));
}

/** The rows of the statements of a batch.
 *  @param count how many statements it has
 *  @throws {HranaError} when the batch was undone, or the answer is none */
export function batchRowsOf(text: string, count: number): Row[][] {
  return reading(text, (answer) => {
    const { step_results: results, step_errors: errors } = resultOf(answer);
    const steps = count + FRAME_STEPS;
    if (results.length !== steps || errors.length !== steps) throw new TypeError("a number of steps that nobody sent");
    // The first is why the others did not run. The last step, ROLLBACK, fails where nothing is left to undo.
    const error = errors.slice(0, -1).find((one) => one !== null);
    if (error) throw failureOf(error);
    return results.slice(1, -2).map((result, index) => {
      // The statement, or the one after it, did not run, and nothing says why.
      if (!result || !results[index + 2]) throw new HranaError("TRANSACTION_CLOSED", "the transaction ended too early");
      return decode(result);
    });
  });
}

function reading<T>(text: string, read: (answer: PipelineAnswer) => T): T {
  try {
    return read(JSON.parse(text));
  } catch (cause) {
    if (cause instanceof HranaError) throw cause;
    const start = JSON.stringify(text.slice(0, 80));
    const message = `the answer is not Hrana's JSON, or was cut off; its ${text.length} characters begin with ${start}`;
    throw new HranaError("HRANA_PROTO_ERROR", message, { cause });
  }
}

function resultOf({ results }: PipelineAnswer): StatementAnswer & BatchAnswer {
  const [first] = results;
  if (first?.error) throw failureOf(first.error);
  if (!first?.response) throw new TypeError("no result");
  return first.response.result;
}

function failureOf({ code, message }: HranaFailure): HranaError {
  return code ? new HranaError(code, `${code}: ${message}`) : new HranaError("UNKNOWN", message);
}

function decode({ cols, rows }: StatementAnswer): Row[] {
  return rows.map((values) => {
    const row: Record<string, unknown> = {};
    for (let index = 0; index < values.length; index++) row[cols[index]?.name ?? ""] = decodeValue(values[index]);
    return row;
  });
}

/** An integer that no number holds exactly stays text. */
function decodeValue(value: Value | undefined): unknown {
  if (value?.type === "integer") {
    const number = Number(value.value);
    return Number.isSafeInteger(number) ? number : value.value;
  }
  if (value?.type === "blob") return Uint8Array.from(atob(value.base64 ?? ""), (unit) => unit.charCodeAt(0));
  if (value?.type === "null") return null;
  if (value?.value === undefined) throw new TypeError(`a value of type ${value?.type}`);
  return value.value;
}
