import {
  codeOf,
  type FailureKind,
  messageOf,
  PARENTS_GUARD,
  type Row,
  type SqlDriver,
  type SqlStatement,
} from "../../sql/driver/driver-and-failures.ts";
import type { PgAnswer, PostgresLink } from "./clients.ts";
import { Literals, literal, numbered } from "./literals.ts";
import { decoded } from "./stand-ins.ts";

/** Types of columns that hold numbers (`pg_type.oid`): integers, floating-point numbers and `numeric`. */
const NUMBERS: ReadonlySet<number> = new Set([20, 21, 23, 700, 701, 1700]);

const BOOLEAN = 16;

/** What a transaction begins with that writes, whatever the settings of the database are: each statement sees what was
 *  committed before it began. */
const ISOLATION = "SET TRANSACTION ISOLATION LEVEL READ COMMITTED";

/** Settings that end with the transaction. The statements have few rows, and an index for each: other plans would only
 *  cost their comparison, or be chosen by chance while a table is small. To compile a statement takes longer than to
 *  run it. The functions of the schema keep one plan for all arguments. */
const PLANS = [
  ...["jit", "enable_hashjoin", "enable_mergejoin", "enable_seqscan"].map((name) => [name, "off"]),
  ["plan_cache_mode", "force_generic_plan"],
].map(([name, value]) => `set_config('${name}', '${value}', true)`);

/** How much of the longest wait for an answer the server may wait for a lock. A wait that outlasts the connection would
 *  go on, and write in the end. */
const LOCK_SHARE = 0.8;

/** How a statement reads that calls a function which yields nothing, see `Stored`. */
const CALL_BEGINS = "SELECT ";

const CALL_ENDS = " AS done";

/** Most columns of one SELECT; PostgreSQL takes 1,664. */
const COLUMNS_MAX = 1000;

/** @param isAgain whether the last one gave no answer in time */
export type LinkOpener = (isAgain: boolean) => Promise<PostgresLink>;

export interface PostgresDriverOptions {
  /** A text of which the lock's number is made. */
  readonly lock: string;
  /** The statements that share the lock. */
  readonly sharing: ReadonlySet<string>;
  /** Longest wait for an answer, in milliseconds. */
  readonly timeoutMs: number;
}

/**
 * Runs statements on a server of PostgreSQL. Each batch is one message, and one transaction.
 *
 * Batches that write take a lock of the schema, which ends with the transaction: so they go one after the other, as on
 * SQLite, and the statements of a batch count on what the statements before them have seen. Only batches of statements
 * that may run beside their like share the lock. Reads take none.
 */
export class PostgresDriver implements SqlDriver {
  readonly isLocal = false;
  readonly prepared: (statement: SqlStatement) => SqlStatement = numbered;
  readonly #link: LinkOpener;
  readonly #options: PostgresDriverOptions;
  readonly #literals = new Literals();
  #opened: Promise<PostgresLink> | null = null;

  constructor(link: LinkOpener, options: PostgresDriverOptions) {
    this.#link = link;
    this.#options = options;
  }

  async open(): Promise<void> {
    await this.#opening();
  }

  async execute(statement: SqlStatement): Promise<Row[]> {
    const answers = await this.#run([`SELECT ${PLANS.join(", ")}`, this.#literals.textOf(statement)]);
    return rowsOf(answers.at(-1));
  }

  /** Calls of functions that yield nothing travel as columns of one SELECT, which has them run one after the other: the
   *  server has less to read and to answer. */
  async batch(statements: readonly SqlStatement[]): Promise<Row[][]> {
    const texts = [ISOLATION];
    let calls = [...PLANS, ...this.#lockFor(statements)];
    const places = statements.map((statement) => {
      const text = this.#literals.textOf(statement);
      if (isCall(statement) && calls.length < COLUMNS_MAX) {
        calls.push(text.slice(CALL_BEGINS.length, -CALL_ENDS.length));
        return null;
      }
      if (calls.length > 0) texts.push(`SELECT ${calls.join(", ")}`);
      calls = [];
      return texts.push(text) - 1;
    });
    if (calls.length > 0) texts.push(`SELECT ${calls.join(", ")}`);
    const answers = await this.#run(texts);
    return places.map((place) => (place === null ? [] : rowsOf(answers[place])));
  }

  #lockFor(statements: readonly SqlStatement[]): string[] {
    const { lock, sharing, timeoutMs } = this.#options;
    const isShared = statements.every(({ sql }) => sharing.has(sql));
    return [
      `set_config('lock_timeout', '${Math.ceil(timeoutMs * LOCK_SHARE)}', true)`,
      `pg_advisory_xact_lock${isShared ? "_shared" : ""}(hashtextextended(${literal(lock)}, 0))`,
    ];
  }

  failureKind(error: unknown): FailureKind {
    const message = messageOf(error);
    if (message.includes("escapement guard")) return "guard";
    if (message.includes(PARENTS_GUARD)) return "refused";
    return kindOfState(codeOf(error));
  }

  adviceFor(error: unknown): string {
    const state = codeOf(error);
    if (state === "25006") return "the server takes no writes; give the address of the primary";
    if (state.startsWith("28")) return "check the user and the password";
    if (state === "42501") return "give this user the rights that the schema needs";
    if (state === "3D000") return "make the database first";
    if (state === "53100") return "the disk of the server is full; free space and try again";
    return state === "53300" ? "allow more connections, or put a pool in between" : "";
  }

  async reopen(): Promise<void> {
    const former = this.#opened;
    this.#opened = this.#link(true);
    // Whoever waits for an answer there gets none any more.
    former?.then((link) => link.close?.()).catch(() => undefined);
    await this.#opened;
  }

  async close(): Promise<void> {
    const opened = this.#opened;
    this.#opened = null;
    await (await opened)?.close?.();
  }

  #opening(): Promise<PostgresLink> {
    this.#opened ??= this.#link(false);
    return this.#opened;
  }

  async #run(texts: readonly string[]): Promise<readonly PgAnswer[]> {
    const { query } = await this.#opening();
    return query(texts);
  }
}

function isCall({ sql }: SqlStatement): boolean {
  return sql.startsWith(CALL_BEGINS) && sql.endsWith(CALL_ENDS);
}

function rowsOf(answer: PgAnswer | undefined): Row[] {
  const { columns = [], rows = [] } = answer ?? {};
  return rows.map((values) =>
    Object.fromEntries(columns.map(([name, type], place) => [name, parsed(values[place] ?? null, type)])),
  );
}

/** Numbers and booleans read as those of SQLite do. */
function parsed(text: string | null, type: number): string | number | null {
  if (text === null) return null;
  if (NUMBERS.has(type)) return Number(text);
  return type === BOOLEAN ? Number(text === "t" || text === "true") : decoded(text);
}

/** What an SQLSTATE means. An error without one is a failure of the connection. */
function kindOfState(state: string): FailureKind {
  if (!/^[0-9A-Z]{5}$/.test(state) || /^[A-Z]{5}$/.test(state)) return "connection";
  // Serialization failures and deadlocks, waits that were cut, locks, too many connections, a server that starts.
  if (/^(40|55P03|57014|53300|57P03)/.test(state)) return "busy";
  if (/^(08|57P0[12])/.test(state)) return "connection";
  if (state.startsWith("54")) return "tooLarge";
  return /^(21|22|23)/.test(state) ? "refused" : "unavailable";
}
