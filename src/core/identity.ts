import { hostKind, hostName, processId } from "./host.ts";
import { systemRandom } from "./ids.ts";

const HOST_LENGTH_MAX = 100;
const RANDOM_LENGTH = 6;

/** The name of a scheduler that was given none: host name, process id and a random part, such as `web-1-4711-k3f9x2`.
 *  Where the host has no name, its kind takes the place. An injected source of randomness is not used, because a test's
 *  constant would give two schedulers one name. */
export function defaultIdentity(): string {
  const name = hostName();
  const host = (name ?? hostKind()).slice(0, HOST_LENGTH_MAX);
  const pid = hostKind() === "worker" ? null : processId();
  return [host, ...(pid === null ? [] : [pid]), randomText()].join("-");
}

function randomText(): string {
  return Array.from({ length: RANDOM_LENGTH }, () => Math.floor(systemRandom() * 36).toString(36)).join("");
}
