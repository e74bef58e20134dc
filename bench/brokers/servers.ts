import { Mosquitto } from "../../test/support/mosquitto.ts";
import { PostgresServer } from "../../test/support/postgres-server.ts";
import { RedisServer } from "../../test/support/redis-server.ts";

/** A server of the test suite: none of them syncs to the disk, which makes the peers' numbers better, too. */
export interface BenchServer {
  readonly url: string;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export type BenchServerName = "redis" | "postgres" | "mosquitto";

export const START: Readonly<Record<BenchServerName, () => Promise<BenchServer>>> = {
  redis: () => RedisServer.start(),
  postgres: () => PostgresServer.start(),
  mosquitto: () => Mosquitto.start(),
};
