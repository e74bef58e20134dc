import type { InsightSource } from "../hono/insight-source.ts";
import type { DeclaredSchedule } from "./declared.ts";
import { type Forecast, forecast } from "./forecast.ts";
import { apply, plan } from "./plan.ts";
import type { Plan } from "./plan-report.ts";

/** What the option `insight` of `createRouter` takes. */
export interface Insight extends InsightSource {
  forecast(...args: Parameters<InsightSource["forecast"]>): Promise<Forecast>;
  plan(...args: Parameters<InsightSource["plan"]>): Promise<Plan>;
  apply(...args: Parameters<InsightSource["apply"]>): Promise<Plan>;
}

/**
 * Makes what answers `GET /forecast`, `POST /plan` and `POST /apply` of a router:
 * `createRouter(scheduler, { auth, insight: insight() })`.
 *
 * @example
 * const router = createRouter(scheduler, { auth, insight: insight() });
 */
export function insight(): Insight {
  return {
    forecast,
    plan: (scheduler, declared, options) => plan(scheduler, declared as readonly DeclaredSchedule[], options),
    async apply(scheduler, declared, { revision: ifRevision, by, ...options }) {
      const found = await plan(scheduler, declared as readonly DeclaredSchedule[], options);
      return apply(found, { ifRevision, ...(by === undefined ? {} : { by }) });
    },
  };
}
