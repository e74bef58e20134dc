import type { RunCommands } from "../../scheduler/commands/commands.ts";
import type { RunFilter } from "../../scheduler/options/checked-options.ts";
import type { Page } from "../../scheduler/views/page.ts";
import { Run, type RunFacts } from "../../scheduler/views/run.ts";
import { runSchema } from "../wire/job.ts";
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

  async page(filter: RunFilter): Promise<Page<Run>> {
    return readPage(this.#context, wholeList("/runs"), filter, runSchema(), runOf);
  }
}

function runOf(facts: RunFacts): Run {
  return new Run(facts, serializer);
}
