import * as v from "valibot";
import type { RunCommands } from "../../scheduler/commands/commands.ts";
import type { CheckedRunFilter, FailureFilter, StatsRequest } from "../../scheduler/options/checked-options.ts";
import { FailureGroup, type FailureReport } from "../../scheduler/views/failure-group.ts";
import type { Page } from "../../scheduler/views/page.ts";
import { Run, type RunFacts } from "../../scheduler/views/run.ts";
import type { StatsReport } from "../../scheduler/views/stats.ts";
import { failureGroupSchema, runSchema } from "../wire/job.ts";
import { wireFilter } from "../wire/options.ts";
import { statsReportSchema } from "../wire/stats.ts";
import { type CallContext, placeOf, readPage, wholeList } from "./context.ts";
import { serializer } from "./task-reference.ts";

/** What a client shows of jobs, ended or not, as one list. */
export class RunCalls implements RunCommands {
  readonly #context: CallContext;

  constructor(context: CallContext) {
    this.#context = context;
  }

  async get(id: string): Promise<Run> {
    return runOf(await this.#context.requester.read({ method: "GET", ...placeOf("runs", id) }, runSchema()));
  }

  async page({ include, ...filter }: CheckedRunFilter): Promise<Page<Run>> {
    return readPage(this.#context, wholeList("/runs", include), filter, runSchema(), runOf);
  }

  async failures(filter: FailureFilter): Promise<FailureReport> {
    const call = { method: "GET", path: "/failures", query: wireFilter(filter as object) } as const;
    const { items, seen } = await this.#context.requester.read(call, failuresSchema());
    return { groups: items.map((facts) => new FailureGroup(facts)), seen };
  }

  async stats(request: StatsRequest): Promise<StatsReport> {
    const call = { method: "GET", path: "/stats", query: wireFilter(request as object) } as const;
    return this.#context.requester.read(call, statsReportSchema());
  }
}

const failuresSchema = () =>
  v.object({
    items: v.array(failureGroupSchema()),
    seen: v.object({ count: v.number(), isCapped: v.boolean() }),
  });

function runOf(facts: RunFacts): Run {
  return new Run(facts, serializer);
}
