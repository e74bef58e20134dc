import { expect, test } from "vitest";
import type { Postgres } from "../../../src/brokers/postgres/connection.ts";
import { ConnectionLink } from "../../../src/brokers/postgres/connection-link.ts";

const TARGET = { optionsWith: (own: object) => [own] as const };
const IGNORED = { lost: () => {}, received: () => {}, deaf: () => {} };

/** What a pool answers that makes up process ids. */
const OF_POOL = [Object.assign([{ pg_backend_pid: 1 }], { state: { pid: 2 } })];

test("a link that is closed while it tests whether it hears ends both connections, though the server hangs", async () => {
  const ended: string[] = [];
  let connections = 0;
  let hang = (): void => {};
  const hangs = new Promise<void>((resolve) => {
    hang = resolve;
  });
  const postgres: Postgres = () => {
    const name = `connection ${++connections}`;
    const unsafe = (statement: string): PromiseLike<unknown> => {
      if (!statement.startsWith("notify")) return Promise.resolve(OF_POOL);
      hang();
      return new Promise(() => {});
    };
    const end = async (): Promise<void> => void ended.push(name);
    return Object.assign(() => {}, { options: {}, unsafe, end });
  };
  const link = new ConnectionLink(
    postgres,
    { hosts: 1, channel: "jobs", target: () => TARGET },
    { ...IGNORED, connected: () => {} },
  );
  link.start();
  await hangs;
  await link.close();
  expect(ended.sort()).toEqual(["connection 1", "connection 2"]);
});
