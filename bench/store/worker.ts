// A Worker that measures the stores of workerd. The clock of workerd goes on during work, unlike Cloudflare's own.
import { DurableObject } from "cloudflare:workers";
import { type D1Binding, D1DataStore } from "../../src/stores/d1/mod.ts";
import type { DataStore } from "../../src/stores/data-store.ts";
import { DurableObjectDataStore, type DurableObjectSqlStorage } from "../../src/stores/durable-object/mod.ts";
import { openTicking } from "./escapement-queue.ts";
import { measureContestant } from "./measurement.ts";

interface Env {
  readonly DATABASE: D1Binding;
  readonly OBJECT: { getByName(name: string): { fetch(request: Request): Promise<Response> } };
}

export class MeasuredObject extends DurableObject {
  fetch(request: Request): Promise<Response> {
    const { storage } = this.ctx as { readonly storage: DurableObjectSqlStorage };
    return measure(request, (tablePrefix) => new DurableObjectDataStore(storage, { tablePrefix }));
  }
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    if (new URL(request.url).pathname.startsWith("/object/")) {
      return env.OBJECT.getByName("measured").fetch(request);
    }
    return measure(request, (tablePrefix) => new D1DataStore(env.DATABASE, { tablePrefix }));
  },
};

async function measure(request: Request, makeStore: (tablePrefix: string) => DataStore): Promise<Response> {
  const label = request.url.slice(request.url.lastIndexOf("/") + 1);
  try {
    const open = async ({ name, isKept }: { name: string; isKept: boolean }) =>
      openTicking(makeStore(`${name}_`), isKept);
    return Response.json(await measureContestant({ keeps: "either", open }, "", label));
  } catch (error) {
    return new Response(error instanceof Error ? (error.stack ?? error.message) : String(error), { status: 500 });
  }
}
