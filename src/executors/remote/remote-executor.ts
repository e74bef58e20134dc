import type { ExecutorOpenOptions, JobCall, JobExecutor } from "../job-executor.ts";
import type { PoolSettings, PoolWords } from "./pool-settings.ts";
import type { OpenChannel } from "./worker-channel.ts";
import { WorkerPool } from "./worker-pool.ts";

/** What the executors with workers have in common. */
export abstract class RemoteExecutor implements JobExecutor {
  readonly #pool: WorkerPool;
  #taskIds: readonly string[] | undefined;

  protected constructor(settings: PoolSettings, words: PoolWords, openChannel: OpenChannel) {
    this.#pool = new WorkerPool(settings, words, openChannel);
  }

  /** The ids of the tasks that the module has handlers for; undefined before `open` has resolved. */
  get taskIds(): readonly string[] | undefined {
    return this.#taskIds;
  }

  /** How many more jobs the workers could begin now, those workers included that would be started for them. */
  get capacity(): number {
    return this.#pool.capacity;
  }

  /** Calls a function each time `capacity` has grown. @returns a function that ends the listening */
  onCapacity(listener: () => void): () => void {
    return this.#pool.onCapacity(listener);
  }

  /** How many workers there are, those included that start or end. */
  get workerCount(): number {
    return this.#pool.size;
  }

  /**
   * Starts the first worker, which imports the module. Idempotent. The scheduler calls it.
   * @throws {OptionsError} when the module cannot be imported, has no tasks, or lacks the data store's serializer
   * @throws {SchedulerStateError} when the executor is open for a data store with another serializer
   * @throws {WorkerLostError} when no worker can be started
   */
  async open(options: ExecutorOpenOptions = {}): Promise<void> {
    this.#taskIds = await this.#pool.open(options);
  }

  /**
   * Runs a job in a worker. When its signal is aborted, so is that of the handler, and after `abortGrace` the worker is
   * killed.
   * @throws what the handler threw
   * @throws {WorkerLostError} when the worker ended before the job did
   * @throws {SerializationError} for a payload or a value that the data store's serializer refuses
   */
  execute(call: JobCall): Promise<unknown> {
    return this.#pool.execute(call);
  }

  /** Ends all workers, whatever they do. Jobs that they still run reject. Idempotent. */
  close(): Promise<void> {
    return this.#pool.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
