import { BULLMQ } from "./bullmq.ts";
import { BUNQUEUE } from "./bunqueue.ts";
import type { Contestant } from "./contestant.ts";
import { ESCAPEMENT } from "./escapement.ts";
import { GRAPHILE_WORKER } from "./graphile-worker.ts";
import { PG_BOSS } from "./pg-boss.ts";
import { PLAINJOB } from "./plainjob.ts";

export const CONTESTANTS: readonly Contestant[] = [...ESCAPEMENT, BULLMQ, GRAPHILE_WORKER, PG_BOSS, PLAINJOB, BUNQUEUE];
