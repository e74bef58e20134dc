import type { D1Binding } from "../../src/stores/d1/mod.ts";
import type { Row, SqlValue } from "../../src/stores/durable-object/mod.ts";

/** The bindings of vitest.workerd.config.ts. */
interface WorkerdEnv {
  readonly DB: D1Binding & { withSession(constraint: string): D1Binding };
  readonly SQL_OBJECT: ObjectNamespace;
  readonly KEY_VALUE_OBJECT: ObjectNamespace;
}

interface ObjectNamespace {
  idFromName(name: string): object;
  get(id: object): ObjectStub;
}

interface ObjectStub {
  fetch(url: string): Promise<Response>;
}

/** The state of a Durable Object, as its class gets it. */
export interface ObjectState {
  readonly storage: ObjectStorage;
}

interface ObjectStorage {
  readonly sql: {
    exec(sql: string, ...values: SqlValue[]): SqlCursor;
  };
  transactionSync<T>(run: () => T): T;
}

interface SqlCursor {
  readonly columnNames: string[];
  readonly rowsWritten: number;
  toArray(): Row[];
}

declare global {
  // For workerd.d.ts: what declares modules of other names cannot import files.
  interface WorkerdTestEnv extends WorkerdEnv {}
  interface WorkerdTestStub extends ObjectStub {}
  interface WorkerdTestState extends ObjectState {}
}
