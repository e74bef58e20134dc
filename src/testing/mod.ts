/**
 * What tests of programs need: a clock that they move, and `drain`.
 *
 * @module
 */
export { drain } from "./drain.ts";
export { VirtualClock } from "./virtual-clock.ts";
