import * as v from "valibot";
import { once } from "../../core/once.ts";
import { RUN_OVERLAP_POLICIES } from "../../records/policies.ts";
import type { TaskRecord } from "../../records/task.ts";
import { duration, flag, metadata, number, oneOf, orNull, text, unlessNull } from "./values.ts";

/** What `TaskView.toJSON()` made, as the record that it was made of. */
export const taskSchema: () => v.GenericSchema<unknown, TaskRecord> = once(() =>
  v.pipe(
    v.object({
      id: text(),
      executor: text(),
      maxRunningJobs: orNull(number()),
      maxRunningPerKey: orNull(number()),
      rateLimit: v.nullable(v.object({ limit: number(), per: duration(), burst: number() })),
      fair: flag(),
      isPaused: flag(),
      misfireGraceTime: orNull(duration()),
      maxRecoveries: number(),
      timeout: orNull(duration()),
      resultExpirationTime: duration(),
      retry: v.object({
        maxAttempts: number(),
        backoff: v.object({
          initial: duration(),
          factor: number(),
          max: duration(),
          jitter: oneOf(["full", "none"]),
        }),
      }),
      overlap: oneOf(RUN_OVERLAP_POLICIES),
      metadata: metadata(),
    }),
    v.transform(
      ({
        maxRunningPerKey,
        rateLimit,
        isPaused: paused,
        misfireGraceTime: misfireGraceMs,
        timeout: timeoutMs,
        resultExpirationTime: resultExpirationMs,
        retry: { maxAttempts: attemptsMax, backoff },
        ...same
      }) => ({
        ...same,
        ...unlessNull("maxRunningPerKey", maxRunningPerKey),
        ...(rateLimit === null
          ? {}
          : { rateLimit: { limit: rateLimit.limit, perMs: rateLimit.per, burst: rateLimit.burst } }),
        paused,
        misfireGraceMs,
        timeoutMs,
        resultExpirationMs,
        retry: {
          attemptsMax,
          initialMs: backoff.initial,
          factor: backoff.factor,
          maxMs: backoff.max,
          jitter: backoff.jitter,
        },
      }),
    ),
  ),
);
