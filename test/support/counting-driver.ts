import type { Row, SqlDriver, SqlStatement } from "../../src/stores/sql/driver/driver-and-failures.ts";

/** Trips to a database. */
export interface Trips {
  readonly reads: number;
  readonly writes: number;
}

/** Tells how many steps of SQLite's virtual machine the costliest of these statements took. */
export type StepCount = (driver: SqlDriver, statements: readonly SqlStatement[]) => Promise<number>;

/** A driver that counts what its store asks for: a statement by itself is a read, a batch a write. What the driver asks
 *  for by itself when it opens, settings of a connection, is not counted. */
export class CountingDriver implements SqlDriver {
  readonly #inner: SqlDriver;
  readonly #countSteps: StepCount | null;
  #stepsMax = 0;
  #reads = 0;
  #writes = 0;
  #inFlight = 0;

  constructor(inner: SqlDriver, countSteps: StepCount | null = null) {
    this.#inner = inner;
    this.#countSteps = countSteps;
  }

  get isLocal(): boolean {
    return this.#inner.isLocal;
  }

  get trips(): Trips {
    return { reads: this.#reads, writes: this.#writes };
  }

  /** Steps of the costliest statement; 0 where they are not counted. */
  get stepsMax(): number {
    return this.#stepsMax;
  }

  /** Whether an answer is waited for. */
  get isBusy(): boolean {
    return this.#inFlight > 0;
  }

  /** Begins to count anew. */
  reset(): void {
    this.#reads = 0;
    this.#writes = 0;
    this.#stepsMax = 0;
  }

  async open(): Promise<void> {
    await this.#inner.open?.();
  }

  execute(statement: SqlStatement): Promise<Row[]> {
    this.#reads++;
    return this.#watch(this.#inner.execute(statement), [statement]);
  }

  batch(statements: readonly SqlStatement[]): Promise<Row[][]> {
    this.#writes++;
    return this.#watch(this.#inner.batch(statements), statements);
  }

  failureKind(error: unknown): ReturnType<SqlDriver["failureKind"]> {
    return this.#inner.failureKind(error);
  }

  async close(): Promise<void> {
    await this.#inner.close?.();
  }

  async #watch<T>(answering: Promise<T>, statements: readonly SqlStatement[]): Promise<T> {
    this.#inFlight++;
    try {
      const answer = await answering;
      const steps = await this.#countSteps?.(this.#inner, statements);
      this.#stepsMax = Math.max(this.#stepsMax, steps ?? 0);
      return answer;
    } finally {
      this.#inFlight--;
    }
  }
}
