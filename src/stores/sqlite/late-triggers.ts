import { JoinedCall } from "../../core/joined-call.ts";
import type { Connection } from "./driver/connection.ts";
import type { SqlStatement } from "./driver/driver-and-failures.ts";

/** A statement that makes a trigger, unless it is there. @param event with its table and condition @param body
 *  statements, each with its semicolon */
export function lateTrigger(name: string, event: string, body: string): SqlStatement {
  return { sql: `CREATE TRIGGER IF NOT EXISTS ${name} ${event} BEGIN ${body}END`, args: [] };
}

/** SQL of whether triggers are there of which one has this name. */
export function hasTrigger({ sql }: SqlStatement): SqlStatement {
  const [, name = ""] = / EXISTS (\S+) /.exec(sql) ?? [];
  return { sql: "SELECT 1 FROM sqlite_master WHERE type = 'trigger' AND name = ?1", args: [name] };
}

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
