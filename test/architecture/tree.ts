/** A folder or a file of the tree in docs/architecture.md. */
export interface TreeEntry {
  /** From the project's root; a folder ends in a slash. */
  readonly path: string;
  /** The level that the page gives it, or null. */
  readonly level: number | null;
}

/** Reads the first fenced block of the page that begins with `src/`: one entry a line, children indented by two
 *  spaces, `L3` behind a folder for its level, what follows two spaces or more is a comment. Pure. */
export function readTree(page: string): TreeEntry[] {
  const block = /```text\n(src\/\n[\s\S]*?)```/.exec(page)?.[1] ?? "";
  const parents: string[] = [];
  return block
    .split("\n")
    .filter((line) => line.trim() !== "")
    .flatMap((line) => {
      const depth = (line.length - line.trimStart().length) / 2;
      const [, names = "", comment = ""] = /^(\S+(?: \S+)*)(?: {2,}(.*))?$/.exec(line.trim()) ?? [];
      const level = /^L(\d)/.exec(comment)?.[1];
      const parent = parents.slice(0, depth).join("");
      const entries = names.split(" ").map((name) => ({
        path: parent + name,
        level: level === undefined ? null : Number(level),
      }));
      parents.length = depth;
      if (names.endsWith("/")) parents[depth] = names;
      return entries;
    });
}

/** Where the tree of the page and the files differ, one sentence each: what the page names exists, and every folder of
 *  `src` and every file of the scheduler's own floor is named. Pure. */
export function compareTree(
  entries: readonly TreeEntry[],
  paths: readonly string[],
  levels: Readonly<Record<string, number>>,
): string[] {
  const named = new Set(entries.map(({ path }) => path));
  const folders = new Set(paths.flatMap(foldersOf));
  const existing = new Set([...paths, ...folders]);
  const differences = entries.filter(({ path }) => !existing.has(path)).map(({ path }) => `${path} does not exist`);
  for (const folder of [...folders].sort()) if (!named.has(folder)) differences.push(`${folder} is not in the tree`);
  for (const { path, level } of entries) {
    const folder = /^src\/([^/]+)\/$/.exec(path)?.[1];
    if (folder === undefined || levels[folder] === level) continue;
    differences.push(`${path} is of level ${levels[folder]}, and not ${level}`);
  }
  return differences;
}

function foldersOf(path: string): string[] {
  const parts = path.split("/").slice(0, -1);
  return parts.map((_, index) => `${parts.slice(0, index + 1).join("/")}/`);
}
