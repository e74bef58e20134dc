// Public names only.

export {
  ContractViolation,
  type DataStoreCase,
  type DataStoreContext,
  dataStoreContract,
} from "./data-store-contract/mod.ts";
export { drain } from "./drain.ts";
export { VirtualClock } from "./virtual-clock.ts";
