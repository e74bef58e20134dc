import type { GenericSchema } from "valibot";
import type { Clock } from "../core/clock.ts";
import type { SchedulerClient } from "../scheduler/scheduler-client.ts";
import type { Endpoint, Endpoints } from "./api.ts";

/** What a caller may do: `read` covers GET and HEAD, `write` everything. */
export type Scope = "read" | "write";

/** What the handler of a route gets: an input that fits the route's schemas. */
export interface Call<E extends Endpoint = Endpoint> {
  readonly client: SchedulerClient;
  readonly clock: Clock;
  readonly scope: Scope;
  readonly request: Request;
  readonly params: Readonly<Record<NonNullable<E["param"]>, string>>;
  readonly query: E extends { query: infer Query } ? Query : undefined;
  readonly body: E extends { body: infer Body } ? Body : undefined;
  /** The header `Idempotency-Key`; undefined when there is none. */
  readonly idempotencyKey: string | undefined;
  /** The path of a resource of this router, with the path that the router is mounted at. */
  pathTo(...segments: readonly string[]): string;
}

/** What a handler answers: a status, the body of this status (null for none), and headers. */
export type Reply<E extends Endpoint = Endpoint> = {
  readonly [Status in keyof E["answers"]]: {
    readonly status: Status;
    readonly body: E["answers"][Status];
    readonly headers?: Readonly<Record<string, string>>;
  };
}[keyof E["answers"]];

/** One route: who may call it, what it takes, and what it does. */
export type Route<E extends Endpoint = Endpoint> = {
  /** `none`: also without signing in. */
  readonly scope: Scope | "none";
  /** Most bytes of the body. Default: {@link BODY_BYTES_MAX}. */
  readonly bodyBytesMax?: number;
  handle(call: Call<E>): Promise<Reply<E>>;
} & (E extends { query: infer Query } ? { readonly query: () => GenericSchema<unknown, Query> } : { query?: never }) &
  (E extends { body: infer Body } ? { readonly body: () => GenericSchema<unknown, Body> } : { body?: never });

/** The routes of a part of the API, by method and path. */
export type Routes<Keys extends keyof Endpoints> = { readonly [Key in Keys]: Route<Endpoints[Key]> };
