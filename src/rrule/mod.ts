/**
 * Rules of iCalendar (RFC 5545) as triggers.
 *
 * @module
 */

export { type RRuleOptions, RRuleTrigger, registerRRule } from "./rrule-trigger.ts";
