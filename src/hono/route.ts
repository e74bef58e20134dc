import type { GenericSchema } from "valibot";
import type { Clock } from "../core/clock.ts";
import type { Logger } from "../core/logger.ts";
import type { ChangeOptions } from "../scheduler/options/options.ts";
import type { SchedulerClient } from "../scheduler/scheduler-client.ts";
import type { Endpoint, Endpoints } from "./api.ts";
import type { Scope } from "./auth/auth-options.ts";
import type { GateEnv } from "./auth/gate-env.ts";
import type { EventStreams } from "./events/event-streams.ts";
import type { RequestKey } from "./idempotency.ts";
import type { InsightSource } from "./insight-source.ts";
import type { MetricsSource } from "./options.ts";
import type { Show } from "./show.ts";

/** What the handler of a route gets: an input that fits the route's schemas. */
export interface RouteCall<E extends Endpoint = Endpoint> {
  readonly client: SchedulerClient;
  readonly clock: Clock;
  /** How records look to this caller. */
  readonly show: Show;
  readonly request: Request;
  /** The streams of this router. */
  readonly streams: EventStreams;
  /** What the router tells of its scheduler as metrics; undefined without that option. */
  readonly metrics: MetricsSource | undefined;
  /** What tells the load to come; undefined without that option. */
  readonly insight: InsightSource | undefined;
  readonly logger: Logger;
  /** How many wrong tokens came; undefined where there are no tokens. */
  readonly authFailures: number | undefined;
  readonly params: Readonly<Record<NonNullable<E["param"]>, string>>;
  readonly query: E extends { query: infer Query } ? Query : undefined;
  readonly body: E extends { body: infer Body } ? Body : undefined;
  /** Who asks. Of routes with the scope `none`, nobody knows. */
  readonly caller: GateEnv["Variables"];
  /** The options of a verb that changes something: who asks for it.
   *  @param given the name that the request gives
   *  @throws {OptionsError} where the request may give none */
  by(given: string | undefined): ChangeOptions;
  /** The header `Idempotency-Key`, with a hash of the request; undefined when there is none. */
  requestKey(): RequestKey | undefined;
  /** The path of a resource of this router, with the path that the router is mounted at. */
  pathTo(...segments: readonly string[]): string;
}

/** What a handler answers: a status, the body of this status (null for none), and headers; or an answer that is ready,
 *  where it is no JSON. */
export type Reply<E extends Endpoint = Endpoint> = {
  readonly [Status in keyof E["answers"]]: E["answers"][Status] extends Response
    ? Response
    : {
        readonly status: Status;
        readonly body: E["answers"][Status];
        readonly headers?: Readonly<Record<string, string>>;
      };
}[keyof E["answers"]];

/** One route: who may call it, what it takes, and what it does. */
export type Route<E extends Endpoint = Endpoint> = {
  /** `none`: also without signing in. */
  readonly scope: Scope | "none";
  /** Most bytes of the body. Default: 1,100,000. */
  readonly bodyBytesMax?: number;
  handle(call: RouteCall<E>): Promise<Reply<E>>;
} & (E extends { query: infer Query } ? { readonly query: () => GenericSchema<unknown, Query> } : { query?: never }) &
  (E extends { body: infer Body } ? { readonly body: () => GenericSchema<unknown, Body> } : { body?: never });

/** The routes of a part of the API, by method and path. */
export type Routes<Keys extends keyof Endpoints> = { readonly [Key in Keys]: Route<Endpoints[Key]> };
