import * as v from "valibot";
import type { AbortSignal } from "../core/abort-signal.ts";
import { checker, implementing, oneOf, says, trueOrFalse } from "../core/check.ts";
import { mustBe, optionError } from "../core/option-errors.ts";
import type { DataStore } from "../stores/data-store.ts";

/** What an export has besides tasks, schedules, pauses and blackouts: unfinished jobs, results that have not expired,
 *  and what became of the fire times of its schedules. */
export type TransferPart = "jobs" | "results" | "ledger";

/** Options of `exportStore`. */
export interface ExportOptions {
  /** What to export besides tasks, schedules, pauses and blackouts. Default: nothing. */
  readonly include?: readonly TransferPart[] | undefined;
  /** Ends the export: the loop over the text rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** What an import does with a task, a schedule or a job whose id the store has. `error` imports nothing at all, and
 *  rejects; `doNothing` keeps the stored record; `replace` replaces stored tasks and schedules, and keeps stored jobs,
 *  because they may run. */
export type ImportPolicy = "error" | "doNothing" | "replace";

/** Options of `importStore`. */
export interface ImportOptions {
  /** Whether to check alone, and to answer what an import would do. Default: false. */
  readonly dryRun?: boolean | undefined;
  /** What to do about ids that the store has. Default: `error`. */
  readonly conflictPolicy?: ImportPolicy | undefined;
  /** Ends the import: it rejects with the signal's reason. What was imported by then stays. */
  readonly signal?: AbortSignal | undefined;
}

type Chunks = Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>;

/**
 * The text of an export, in pieces of any size: what `exportStore` gave, a stream of a file, or the body of a response.
 * Text that is read twice, once to check it and once to import it, is best given as a function that opens it anew:
 * other text is kept in memory in between, at most 64,000,000 characters of it.
 */
export type TransferLines = string | Chunks | (() => Chunks);

const parts = ["jobs", "results", "ledger"] as const satisfies readonly TransferPart[];

const signal = (): v.GenericSchema<AbortSignal | undefined> =>
  v.optional(implementing<AbortSignal>("an AbortSignal", ["throwIfAborted"]));

export interface CheckedExport {
  readonly include: readonly TransferPart[];
  readonly signal?: AbortSignal | undefined;
}

export interface CheckedImport {
  readonly dryRun: boolean;
  readonly conflictPolicy: ImportPolicy;
  readonly signal?: AbortSignal | undefined;
}

const exportOptions = checker<CheckedExport>(() =>
  v.strictObject({
    include: v.optional(v.array(oneOf(parts), says(`a list of ${parts.map((part) => `"${part}"`).join(", ")}`)), []),
    signal: signal(),
  }),
);

const importOptions = checker<CheckedImport>(() =>
  v.strictObject({
    dryRun: v.optional(trueOrFalse, false),
    conflictPolicy: v.optional(oneOf(["error", "doNothing", "replace"]), "error"),
    signal: signal(),
  }),
);

export function checkExport(dataStore: DataStore, options: ExportOptions): CheckedExport {
  assertStore(dataStore, "exportStore()");
  return exportOptions(options, "exportStore()");
}

export function checkImport(dataStore: DataStore, lines: TransferLines, options: ImportOptions): CheckedImport {
  assertStore(dataStore, "importStore()");
  const isText = typeof lines === "string" || typeof lines === "function" || isIterable(lines);
  if (!isText) throw optionError("importStore()", "lines", mustBe("text, an iterable of text, or a function", lines));
  return importOptions(options, "importStore()");
}

function isIterable(value: unknown): boolean {
  return typeof value === "object" && value !== null && (Symbol.asyncIterator in value || Symbol.iterator in value);
}

function assertStore(dataStore: unknown, where: string): void {
  const isStore = typeof (dataStore as Partial<DataStore> | null | undefined)?.getSchedules === "function";
  if (!isStore) throw optionError(where, "dataStore", mustBe("a DataStore", dataStore));
}
