import { JoinedCall } from "../../../core/joined-call.ts";
import type { Connection } from "../driver/connection.ts";
import type { SqlStatement } from "../driver/driver-and-failures.ts";

/** Triggers that are made before they have something to do for the first time, so that they cost nothing before. */
export class LateTriggers {
  readonly #connection: Connection;
  readonly #triggers: readonly SqlStatement[];
  readonly #making = new JoinedCall(() => this.#make());
  #areMade = false;

  constructor(connection: Connection, triggers: readonly SqlStatement[]) {
    this.#connection = connection;
    this.#triggers = triggers;
  }

  /** Calls a function that writes.
   *  @param needsThem whether what it writes needs the triggers */
  before<T>(needsThem: () => boolean, write: () => Promise<T>): Promise<T> {
    return this.#areMade || !needsThem() ? write() : this.#making.run().then(write);
  }

  /** What has to come first in a batch of others that needs the triggers. */
  get statements(): readonly SqlStatement[] {
    return this.#areMade ? [] : this.#triggers;
  }

  async #make(): Promise<void> {
    await this.#connection.write(() => [...this.#triggers]);
    this.#areMade = true;
  }
}
