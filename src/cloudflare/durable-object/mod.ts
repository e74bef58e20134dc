export type { AlarmTickOptions, AttachOptions } from "./attach-options.ts";
export { type AttachedScheduler, attachScheduler } from "./attach-scheduler.ts";
export type { Plain, PlainPage } from "./plain.ts";
export type { RemoteScheduleUpdate, RemoteTrigger, RemoteVerbs } from "./remote-verbs.ts";
export type { AlarmStorage, ObjectContext, ObjectStorage } from "./shapes.ts";
