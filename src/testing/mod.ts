// Public names only.

export {
  ContractViolation,
  type DataStoreCase,
  type DataStoreContext,
  dataStoreContract,
} from "./data-store-contract/mod.ts";
export { drain } from "./drain.ts";
export { type EventBrokerCase, type EventBrokerContext, eventBrokerContract } from "./event-broker-contract.ts";
export {
  type JobExecutorCase,
  type JobExecutorContext,
  type JobExecutorTask,
  type JobExecutorTaskContext,
  jobExecutorContract,
  jobExecutorHandlers,
} from "./job-executor-contract.ts";
export { VirtualClock } from "./virtual-clock.ts";
