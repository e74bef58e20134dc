import { BULLMQ } from "./bullmq.ts";
import { BUNQUEUE } from "./bunqueue.ts";
import type { Contestant } from "./contestant.ts";
import { ESCAPEMENT } from "./escapement.ts";
import { GRAPHILE_WORKER } from "./graphile-worker.ts";
import { PG_BOSS } from "./pg-boss.ts";
import { PLAINJOB } from "./plainjob.ts";
import { WORKERD, type WorkerdContestant } from "./workerd.ts";

/** Measured in its process, or from there in workerd. */
export type AnyContestant = Contestant | WorkerdContestant;

export const CONTESTANTS: readonly AnyContestant[] = [
  ...ESCAPEMENT,
  ...WORKERD,
  BULLMQ,
  GRAPHILE_WORKER,
  PG_BOSS,
  PLAINJOB,
  BUNQUEUE,
];
