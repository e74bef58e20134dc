import * as v from "valibot";
import { type Checker, checker, textUpTo } from "../core/check.ts";
import { type Insight, insight } from "../insight/insight.ts";
import { pageFiles } from "./built/page-files.ts";
import { documentOf } from "./document.ts";

/** Options of `dashboard`. */
export interface DashboardOptions {
  /** What the page calls this scheduler, beside the name of the package and in the title: `"production"`. It is shown
   *  before anybody signs in, too: text of 1 to 64 characters. Default: nothing. */
  readonly instance?: string | undefined;
}

/** A page, as the option `dashboard` of `createRouter` takes it. */
export interface Dashboard {
  /** The document of the page. @param folder what the URLs of its files begin with, such as `/scheduler/`
   *  @param isSignedIn whether the reader is */
  document(folder: string, isSignedIn: boolean): string;
  /** The files that the document loads, by name. */
  readonly files: Readonly<Record<string, { readonly type: string; readonly etag: string; readonly text: string }>>;
  /** What tells the page the load to come. */
  readonly insight: Insight;
}

/** The schema is made at the first call, because importing must cost nothing. */
let check: Checker<DashboardOptions> | undefined;

/**
 * Makes the page that a router serves at its mount: overview, schedules, timeline, runs, tasks and system, live. The
 * page asks the routes of its router and nothing else, signs in by a token of the router, and keeps none.
 * @throws {OptionsError} for unknown or invalid options
 * @example
 * const router = createRouter(scheduler, { auth, dashboard: dashboard({ instance: "production" }) });
 * app.route("/scheduler", router);
 */
export function dashboard(options: DashboardOptions = {}): Dashboard {
  check ??= checker(v.strictObject({ instance: v.optional(textUpTo(64)) }), {});
  const { instance = "" } = check(options, "dashboard()");
  return {
    files: pageFiles,
    insight: insight(),
    document: (folder, isSignedIn) => documentOf(instance, folder, isSignedIn),
  };
}
