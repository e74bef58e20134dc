import { DOORS, HOST_ROOMS, IO_TIMEOUT_ROOM, LEVELS, PACKAGE_ROOMS, SCHEDULER_FLOORS, TIME_ROOM } from "./levels.ts";
import { type Token, tokenize } from "./tokens.ts";

export type RuleName = "folder" | "upward" | "sideways" | "room" | "door" | "circle" | "package" | "host" | "time";

/** One breach of the rules in docs/architecture.md, with where it is and why it matters. */
export interface Violation {
  readonly rule: RuleName;
  readonly path: string;
  readonly line: number;
  readonly message: string;
}

type Report = (rule: RuleName, line: number, message: string) => void;

const HOST_GLOBALS = new Set(["process", "Deno", "Bun", "Buffer", "require", "__dirname", "__filename", "global"]);
// Only a host has these; `process` and the others are ordinary names of members too.
const HOST_MEMBERS = new Set(["Deno", "Bun", "Buffer"]);
const NODE_BUILTINS =
  /^(node|bun|cloudflare):|^(fs|path|os|crypto|child_process|worker_threads|events|util|url|http|net)(\/|$)/;
const TIMERS = new Set(["setTimeout", "setInterval", "setImmediate"]);
const TIME_MEMBERS: Readonly<Record<string, readonly string[]>> = {
  Date: ["now"],
  Math: ["random"],
  Temporal: ["Now"],
  performance: ["now"],
  crypto: ["randomUUID", "getRandomValues"],
  AbortSignal: ["timeout"],
};

/** Holds one source file (`src/...`) to the rules of levels, packages, host globals and time. Pure. */
export function checkFile(path: string, text: string): Violation[] {
  const violations: Violation[] = [];
  const report: Report = (rule, line, message) => violations.push({ rule, path, line, message });
  const tokens = tokenize(text);
  checkImports(path, tokens, report);
  if (isDoor(path)) checkDoor(tokens, report);
  if (!HOST_ROOMS.some((room) => room.test(path))) checkHostGlobals(tokens, report);
  if (!TIME_ROOM.test(path)) checkTime(path, tokens, report);
  return violations;
}

function checkImports(path: string, tokens: readonly Token[], report: Report): void {
  const level = levelOf(path);
  if (level === null) report("folder", 1, `${path} is in no folder that has a level`);
  for (const { value: specifier, line } of importedSpecifiers(tokens)) {
    if (specifier.startsWith(".")) checkRelative(path, level, resolve(path, specifier), line, report);
    else checkPackage(path, specifier, line, report);
  }
}

/** A file whose only content is the names that others may use. */
function isDoor(path: string): boolean {
  return path in DOORS || (path.endsWith("/mod.ts") && !path.startsWith("src/testing/data-store-contract/"));
}

function checkDoor(tokens: readonly Token[], report: Report): void {
  for (const [index, token] of tokens.entries()) {
    const before = tokens[index - 1]?.value;
    const isStar =
      token.value === "*" && (before === "export" || (before === "type" && tokens[index - 2]?.value === "export"));
    if (isStar) report("door", token.line, "a door names what it shows; export each name by itself");
  }
}

function checkRelative(path: string, level: number | null, target: string, line: number, report: Report): void {
  const targetLevel = levelOf(target);
  if (!target.startsWith("src/")) report("folder", line, `${target} is outside src`);
  // It injects the classes of doors.
  else if (path.startsWith("src/nestjs/") && isDoor(target)) return;
  // The command line is a program, and imports what programs import.
  else if (path.startsWith("src/cli/") && (isDoor(target) || /^src\/(cli|core)\/|\/limits\.ts$/.test(target))) return;
  else if (path.startsWith("src/cli/") && path !== "src/cli/engine.ts") {
    report("upward", line, `${target} is no door; a command imports doors, the core, limits, and cli/engine.ts`);
  } else if (target in DOORS) report("upward", line, `${target} holds public names only; import the file itself`);
  else if (targetLevel === null) report("folder", line, `${target} is in no folder that has a level`);
  else if (level === null) return;
  else if (path in DOORS) {
    if (targetLevel > level) report("upward", line, `${path} must not name ${target}, level ${targetLevel}`);
  } else if (folderOf(path) === folderOf(target)) checkRooms(path, target, line, report);
  else if (targetLevel > level)
    report("upward", line, `level ${level} must not import ${target}, level ${targetLevel}`);
  else if (targetLevel === level) {
    report("sideways", line, `${folderOf(path)} and ${folderOf(target)} share level ${level}; meet in a lower one`);
  }
}

function checkRooms(path: string, target: string, line: number, report: Report): void {
  checkDialects(path, target, line, report);
  if (folderOf(path) !== "scheduler") return;
  const room = path.split("/")[2] ?? "";
  const targetRoom = target.split("/")[2] ?? "";
  const floor = SCHEDULER_FLOORS[room];
  const targetFloor = SCHEDULER_FLOORS[targetRoom];
  if (floor === undefined) report("room", line, `${room} has no floor in SCHEDULER_FLOORS`);
  else if (targetFloor === undefined) report("room", line, `${targetRoom} has no floor in SCHEDULER_FLOORS`);
  else if (room !== targetRoom && targetFloor >= floor) {
    report("room", line, `${room}, floor ${floor}, must not import ${target}, floor ${targetFloor}`);
  }
}

/** What SQL databases share knows no dialect, and no dialect knows another one or its drivers. */
function checkDialects(path: string, target: string, line: number, report: Report): void {
  if (!path.startsWith("src/stores/sql/")) return;
  const [own, other] = [dialectOf(path), dialectOf(target)];
  if (other !== null && own !== other) report("room", line, `${path} must not import ${target}, of a dialect of SQL`);
}

function dialectOf(path: string): string | null {
  return /^src\/stores\/(?:sql\/)?(sqlite|postgres)\//.exec(path)?.[1] ?? null;
}

function checkPackage(path: string, specifier: string, line: number, report: Report): void {
  if (NODE_BUILTINS.test(specifier)) {
    if (HOST_ROOMS.some((room) => room.test(path))) return;
    report("host", line, `"${specifier}" exists on some runtimes only`);
    return;
  }
  const name = specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
  const room = PACKAGE_ROOMS[name];
  if (room === undefined) report("package", line, `"${name}" has no entry in PACKAGE_ROOMS`);
  else if (!room.test(path)) report("package", line, `"${name}" must not be imported here, only in ${room.source}`);
}

function checkHostGlobals(tokens: readonly Token[], report: Report): void {
  for (const [index, token] of tokens.entries()) {
    if (token.kind !== "word") continue;
    if (token.value === "globalThis") {
      for (const name of hostNamesReachedFrom(tokens, index)) report("host", token.line, `globalThis reaches ${name}`);
    } else if (HOST_GLOBALS.has(token.value) && isHostUse(tokens, index)) {
      report("host", token.line, `${token.value} exists on some runtimes only`);
    }
  }
}

function isHostUse(tokens: readonly Token[], index: number): boolean {
  const name = tokens[index]?.value ?? "";
  const before = tokens[index - 1]?.value ?? "";
  const after = tokens[index + 1]?.value ?? "";
  if (before === "." || before === "?.") return HOST_MEMBERS.has(name);
  const isKey = ["{", ",", ";", "readonly"].includes(before) && (after === ":" || after === "?");
  // `process(schedule) { ... }` is a method; nobody calls the host object. `require(...)` is called.
  const isMethod = after === "(" && name !== "require" && name !== "Buffer";
  return !isKey && !isMethod;
}

/** `globalThis.process`, `globalThis["Bun"]`, `(globalThis as { Deno?: ... }).Deno`, `"Deno" in globalThis`. */
function hostNamesReachedFrom(tokens: readonly Token[], index: number): string[] {
  const names: string[] = [];
  const isHostName = (token: Token | undefined): token is Token => token !== undefined && HOST_GLOBALS.has(token.value);
  const twoBefore = tokens[index - 2];
  if (tokens[index - 1]?.value === "in" && isHostName(twoBefore)) names.push(twoBefore.value);
  for (const token of tokens.slice(index + 1, index + 25)) {
    if (token.value === ";") break;
    if (isHostName(token)) return [...names, token.value];
  }
  return names;
}

function checkTime(path: string, tokens: readonly Token[], report: Report): void {
  for (const [index, token] of tokens.entries()) {
    if (token.kind !== "word") continue;
    const before = tokens[index - 1]?.value ?? "";
    const after = tokens[index + 1]?.value ?? "";
    const member = tokens[index + 2]?.value ?? "";
    const isMember = before === "." && tokens[index - 2]?.value !== "globalThis";
    if (isMember || (token.value === "AbortSignal" && IO_TIMEOUT_ROOM.test(path))) continue;
    if (TIMERS.has(token.value) && after !== ":") report("time", token.line, `${token.value} belongs to core`);
    else if (after === "." && TIME_MEMBERS[token.value]?.includes(member)) {
      report("time", token.line, `${token.value}.${member} belongs to core; take a Clock or a RandomSource`);
    } else if (token.value === "Date" && ((after === "(" && member === ")") || (before === "new" && after !== "("))) {
      report("time", token.line, "new Date() reads the clock; take a Clock");
    }
  }
}

const AFTER_NAMES = new Map([
  ["interface", ["{", "<", "extends"]],
  ["class", ["{", "<", "extends", "implements"]],
  ["type", ["=", "<"]],
  ["enum", ["{"]],
]);

/** Names of types, classes and enums that several files declare, each with these files, sorted. Pure. */
export function findSharedTypeNames(files: readonly (readonly [path: string, text: string])[]): [string, string[]][] {
  const pathsOf = new Map<string, Set<string>>();
  for (const [path, text] of files) {
    const tokens = tokenize(text);
    for (const [index, { kind, value }] of tokens.entries()) {
      const name = tokens[index + 1];
      const isDeclared = kind === "word" && AFTER_NAMES.get(value)?.includes(tokens[index + 2]?.value ?? "");
      if (!isDeclared || name?.kind !== "word") continue;
      pathsOf.set(name.value, (pathsOf.get(name.value) ?? new Set()).add(path));
    }
  }
  return [...pathsOf]
    .filter(([, paths]) => paths.size > 1)
    .map(([name, paths]): [string, string[]] => [name, [...paths].sort()])
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Circles of files that import each other, types included; each as the paths on it, sorted. Pure. */
export function findCircles(files: readonly (readonly [path: string, text: string])[]): string[][] {
  const known = new Set(files.map(([path]) => path));
  const importsOf = new Map(
    files.map(([path, text]) => {
      const specifiers = importedSpecifiers(tokenize(text)).map(({ value }) => value);
      const targets = specifiers.filter((one) => one.startsWith(".")).map((one) => resolve(path, one));
      // AssemblyScript's imports have no ending.
      return [
        path,
        targets.map((one) => (known.has(one) ? one : `${one}.ts`)).filter((one) => known.has(one)),
      ] as const;
    }),
  );
  const reached = new Map([...known].map((path) => [path, reachedFrom(path, importsOf)] as const));
  const circles = new Map<string, string[]>();
  for (const path of [...known].sort()) {
    const circle = [...(reached.get(path) ?? [])].filter((other) => reached.get(other)?.has(path)).sort();
    if (circle.includes(path)) circles.set(circle.join(" "), circle);
  }
  return [...circles.values()];
}

/** What a file imports, directly or through others: itself only when it stands on a circle. */
function reachedFrom(path: string, importsOf: ReadonlyMap<string, readonly string[]>): Set<string> {
  const reached = new Set<string>();
  const left = [...(importsOf.get(path) ?? [])];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if (reached.has(next)) continue;
    reached.add(next);
    left.push(...(importsOf.get(next) ?? []));
  }
  return reached;
}

function importedSpecifiers(tokens: readonly Token[]): Token[] {
  return tokens.filter((token, index) => {
    if (token.kind !== "string" || token.value === "") return false;
    const before = tokens[index - 1]?.value;
    const twoBefore = tokens[index - 2]?.value;
    if (before === "from") return twoBefore !== ".";
    return before === "import" || (before === "(" && twoBefore === "import");
  });
}

function levelOf(path: string): number | null {
  const room = path.split("/").slice(1, 3).join("/");
  return DOORS[path] ?? LEVELS[room] ?? LEVELS[folderOf(path)] ?? null;
}

function folderOf(path: string): string {
  const parts = path.split("/");
  return parts[0] === "src" && parts.length > 2 ? (parts[1] ?? "") : "";
}

function resolve(from: string, specifier: string): string {
  const parts = from.split("/").slice(0, -1);
  for (const part of specifier.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== ".") parts.push(part);
  }
  return parts.join("/");
}
