/**
 * The page of a router: what ran, what failed, what comes next, and why.
 *
 * @module
 */

export { type Dashboard, type DashboardOptions, dashboard } from "./dashboard.ts";
