/**
 * The contracts of data stores, event brokers and job executors: cases that any test runner can run against an
 * implementation. `escapement/contracts` has the interfaces.
 *
 * @module
 */
export {
  ContractViolation,
  type DataStoreCase,
  type DataStoreContext,
  dataStoreContract,
} from "./data-store-contract/mod.ts";
export { type EventBrokerCase, type EventBrokerContext, eventBrokerContract } from "./event-broker-contract.ts";
export {
  type JobExecutorCase,
  type JobExecutorContext,
  type JobExecutorTask,
  type JobExecutorTaskContext,
  jobExecutorContract,
  jobExecutorHandlers,
} from "./job-executor-contract.ts";
