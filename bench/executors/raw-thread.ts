// A thread that answers each message with the same payload: what messages cost without any executor.
import { parentPort } from "node:worker_threads";

parentPort?.on("message", ([id, payload]: [number, unknown]) => parentPort?.postMessage([id, payload]));
