import { systemRandom } from "../../core/ids.ts";
import { RECONNECT_PAUSE_MS_MAX, RECONNECT_PAUSE_MS_MIN } from "./limits.ts";

/** The pause before try number `tries` (from 1 on) to connect again, in milliseconds. It doubles with each try, and up
 *  to half of it is random, so that the clients of a server that was restarted do not all come at once. */
export function reconnectPauseMs(tries: number): number {
  const pauseMs = Math.min(RECONNECT_PAUSE_MS_MIN * 2 ** Math.min(tries - 1, 20), RECONNECT_PAUSE_MS_MAX);
  return Math.ceil(pauseMs * (0.5 + systemRandom() / 2));
}
