/**
 * A store as JSON lines: exported, checked, and imported into another store.
 *
 * @module
 */
export { exportStore } from "./export-store.ts";
export { importStore } from "./import-store.ts";
export type {
  ExportOptions,
  ImportOptions,
  ImportPolicy,
  TransferLines,
  TransferPart,
} from "./options.ts";
export type { ImportCounts, ImportReport, NotImportedJob } from "./report.ts";
export { TransferError, type TransferIssue } from "./transfer-error.ts";
