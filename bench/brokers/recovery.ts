import type { BenchBroker } from "./brokers.ts";
import { START } from "./servers.ts";

/** Milliseconds from the moment that a restarted server can be used to the first event that arrives again. */
export async function measureRecovery({ make, server: name }: BenchBroker): Promise<number> {
  const server = await START[name]();
  const [from, to] = [make(server.url), make(server.url)];
  await Promise.all([from.open(), to.open()]);
  await server.restart();
  const restartedAt = performance.now();
  let isHeard = false;
  to.subscribe(() => {
    isHeard = true;
  });
  while (!isHeard) {
    await from.publish([{ type: "taskAdded", timestampMs: 1, taskId: "task" }]).catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const recoveredAt = performance.now();
  await Promise.all([from.close(), to.close()]);
  await server.stop();
  return recoveredAt - restartedAt;
}
