import { hostKind, hostName, isProcessAlive, processId, processSpace } from "./host.ts";
import { systemRandom } from "./ids.ts";
import { textHash } from "./text-hash.ts";

/** Longest part of an identity that names the host, so that the identity fits into an id. */
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

/** What the id of a run of a scheduler ends with, so that {@link hasRunEnded} knows its process; empty where nobody can
 *  tell. */
export function processMark(): string {
  const [space, pid] = [processSpace(), processId()];
  return space === null || pid === null ? "" : `@${textHash(space)}.${pid}`;
}

/** Whether the process of a run is known to have ended. Nothing is known of processes of another machine or container,
 *  and a process that stands still lives. @param instanceId the id of the run, with its mark */
export function hasRunEnded(instanceId: string): boolean {
  const [, space, pid] = /(@[0-9a-f]{16}\.)(\d+)$/.exec(instanceId) ?? [];
  return space !== undefined && processMark().startsWith(space) && isProcessAlive(Number(pid)) === false;
}
