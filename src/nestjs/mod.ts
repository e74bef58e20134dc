/**
 * A module of NestJS: the scheduler is injected, starts with the application, and stops with it.
 *
 * @module
 */
export { type HandlerDecorator, Handles, Scheduled } from "./decorators.ts";
export {
  EscapementModule,
  type EscapementModuleAsyncOptions,
  type EscapementModuleOptions,
} from "./escapement-module.ts";
