import { textHash } from "../../core/text-hash.ts";
import { type Field, recordName } from "../../records/fields/field.ts";
import { TASK_FIELDS } from "../../records/fields/task.ts";
import type { TaskRecord } from "../../records/task.ts";
import type { TaskPut } from "../../stores/data-store.ts";
import { type StoredDeclaration, versionOf } from "../../stores/shared/declarations.ts";

/** By the names of options, a hash of the value of each setting that was given. */
type Hashes = Readonly<Record<string, string>>;

/** A setting that two programs declare differently. */
export interface ContestedSetting {
  readonly name: string;
  /** The hash of the other value. */
  readonly hash: string;
}

/** What becomes of a declaration over what the store has. */
export interface MergedDeclaration {
  /** The settings that hold then. */
  readonly record: TaskRecord;
  /** What is to be put; null where the store needs nothing, or refuses it. */
  readonly put: TaskPut | null;
  /** The settings of which somebody has declared something else under the same version. */
  readonly contested: readonly ContestedSetting[];
  /** Whether the store has another value, of a higher version. */
  readonly isOutdated: boolean;
}

/** The text of a declaration. @param given the names of the settings that the program gave */
export function declarationText(record: TaskRecord, given: ReadonlySet<string>): string {
  const names = Object.keys(TASK_FIELDS).filter((name) => given.has(name));
  const hashOf = (name: string): string => textHash(JSON.stringify(Reflect.get(record, recordFieldOf(name)) ?? null));
  return textOf(Object.fromEntries(names.map((name) => [name, hashOf(name)])));
}

/** Puts what a program says of a task over what the store has: settings of which it says nothing stay as they are, and
 *  so do those that are declared as before. @param stored undefined for none */
export function mergedDeclaration(stored: TaskRecord | undefined, mine: TaskRecord): MergedDeclaration {
  if (stored === undefined) {
    return { record: mine, put: { ...mine, replaces: null }, contested: [], isOutdated: false };
  }
  const [theirs, ours] = [hashesOf(stored), hashesOf(mine)];
  const names = Object.keys(ours).filter((name) => ours[name] !== theirs[name]);
  const isOlder = versionOf(stored) > versionOf(mine);
  const isNewer = versionOf(stored) < versionOf(mine);
  if (names.length === 0 || isOlder) {
    const { version } = mine;
    const put = isNewer && version !== undefined ? { ...stored, version, ...replacing(stored) } : null;
    return { record: stored, put, contested: [], isOutdated: names.length > 0 };
  }
  const fields = names.map(recordFieldOf);
  const kept = Object.entries(stored).filter(([field]) => !fields.includes(field));
  const changed = Object.entries(mine).filter(([field]) => fields.includes(field));
  const { version: _, ...record } = { ...Object.fromEntries([...kept, ...changed]), declaration: "" } as TaskRecord;
  const merged = {
    ...record,
    declaration: textOf({ ...theirs, ...ours }),
    ...(mine.version === undefined ? {} : { version: mine.version }),
  };
  const contested = isNewer ? [] : differing(theirs, names);
  return { record: merged, put: { ...merged, ...replacing(stored) }, contested, isOutdated: false };
}

/** The settings that the store has from somebody else, who declared them under the version of this program. */
export function contestedSettings(stored: TaskRecord, mine: TaskRecord): readonly ContestedSetting[] {
  if (versionOf(stored) !== versionOf(mine)) return [];
  const [theirs, ours] = [hashesOf(stored), hashesOf(mine)];
  return differing(
    theirs,
    Object.keys(ours).filter((name) => ours[name] !== theirs[name]),
  );
}

function differing(theirs: Hashes, names: readonly string[]): ContestedSetting[] {
  return names.flatMap((name) => {
    const hash = theirs[name];
    return hash === undefined ? [] : [{ name, hash }];
  });
}

function replacing({ declaration }: StoredDeclaration): Pick<TaskPut, "replaces"> {
  return { replaces: declaration ?? null };
}

function recordFieldOf(name: string): string {
  return recordName(name, (TASK_FIELDS as Readonly<Record<string, Field>>)[name] ?? { kind: "text" });
}

/** In one order, so that stores may compare texts. */
function textOf(hashes: Hashes): string {
  return JSON.stringify(hashes, Object.keys(TASK_FIELDS));
}

function hashesOf({ declaration }: StoredDeclaration): Hashes {
  try {
    // Text that nobody here has written says nothing.
    return Object(JSON.parse(declaration ?? "{}")) as Hashes;
  } catch {
    return {};
  }
}
