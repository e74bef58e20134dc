// What the library asks of its runtime. Only this file and the drivers name a host's globals. Every answer has a value
// for runtimes that do not know the answer, such as browsers and Workers.

/** The parts of `process` that Node, Deno, Bun and Workers with `nodejs_compat` share. */
interface HostProcess {
  readonly pid?: number;
  readonly env?: Readonly<Record<string, string | undefined>>;
  getBuiltinModule?(id: string): unknown;
  on?(event: HostSignal | "beforeExit", listener: () => void): unknown;
  off?(signal: HostSignal, listener: () => void): unknown;
  kill?(pid: number, signal: 0): unknown;
}

/** A signal that asks a process to end: Ctrl-C, and what service managers send. */
export type HostSignal = "SIGINT" | "SIGTERM";

function hostProcess(): HostProcess | undefined {
  return (globalThis as { readonly process?: HostProcess }).process;
}

/** A module of the runtime itself, such as `node:async_hooks`; undefined where the runtime lacks it. The module is
 *  looked up and not imported, because with an import this library would not load where the module is missing. */
export function builtinModule(id: string): unknown {
  try {
    return hostProcess()?.getBuiltinModule?.(id);
  } catch {
    return undefined;
  }
}

/** The number of this process; null where there are no processes. */
export function processId(): number | null {
  return hostProcess()?.pid ?? null;
}

/** The name of this machine; null where the runtime does not know the name, or does not let this program read
 *  it. */
export function hostName(): string | null {
  if (!isPermitted({ name: "sys", kind: "hostname" })) return null;
  const os = builtinModule("node:os") as { hostname?(): string } | undefined;
  try {
    const name = os?.hostname?.();
    return name === undefined || name === "" ? null : name;
  } catch {
    return null;
  }
}

/** Whether a process of this machine lives; null where that is unknown. */
export function isProcessAlive(pid: number): boolean | null {
  const host = hostProcess();
  // Deno would ask for the permission to run programs.
  if (host?.kill === undefined || hostKind() === "deno") return null;
  try {
    host.kill(pid, 0);
    return true;
  } catch (error) {
    const code = typeof error === "object" && error !== null && "code" in error ? error.code : null;
    if (code === "ESRCH") return false;
    // The process lives, and belongs to somebody else.
    return code === "EPERM" ? true : null;
  }
}

/** Names what numbers of processes are about, so that one number is one process: the run of the kernel, and the
 *  processes that see each other there, such as those of a container. Null where that is unknown: only Linux tells, and
 *  Deno would ask for a permission. */
export function processSpace(): string | null {
  if (hostKind() !== "host") return null;
  try {
    const fs = builtinModule("node:fs") as FileSystem;
    return `${fs.readFileSync("/proc/sys/kernel/random/boot_id", "utf8")} ${fs.readlinkSync("/proc/self/ns/pid")}`;
  } catch {
    return null;
  }
}

/** How many threads this machine runs at the same time; 1 where that is unknown. */
export function processorCount(): number {
  const os = builtinModule("node:os") as { availableParallelism?(): number } | undefined;
  try {
    return os?.availableParallelism?.() ?? (globalThis as unknown as HostGlobals).navigator?.hardwareConcurrency ?? 1;
  } catch {
    return 1;
  }
}

/** Lets the program end although a timer waits, where the runtime can do that. @param handle what `setTimeout` gave */
export function unrefTimer(handle: unknown): void {
  if (typeof handle === "object" && handle !== null && "unref" in handle && typeof handle.unref === "function") {
    handle.unref();
  } else {
    (globalThis as unknown as HostGlobals).Deno?.unrefTimer?.(handle);
  }
}

/** The kind of host that runs this program, where it has no name of its own. */
export function hostKind(): "deno" | "worker" | "browser" | "host" {
  const { Deno, navigator, document, WebSocketPair } = globalThis as unknown as HostGlobals;
  if (Deno !== undefined) return "deno";
  // The navigator can be switched off (`no_global_navigator`).
  if (navigator?.userAgent === "Cloudflare-Workers" || WebSocketPair !== undefined) return "worker";
  return document === undefined ? "host" : "browser";
}

/** Whether the runtime ends what a request began together with the request, as Workers do. A promise of one request
 *  then never settles for another request, so that calls that overlap must not wait for each other. */
export function endsWorkWithRequests(): boolean {
  return hostKind() === "worker";
}

/** What is asked of a runtime about files that it may have. */
interface FileSystem {
  readFileSync(path: string, encoding: "utf8"): string;
  readlinkSync(path: string): string;
  statSync(path: string, options: { readonly throwIfNoEntry: false }): FileStat | undefined;
}

interface FileStat {
  readonly mtimeMs: number;
  readonly size: number;
  readonly dev: number;
  readonly ino: number;
}

/** A text that changes when somebody writes to a file, if the file system has noticed: many notice after some
 *  milliseconds only. Empty when there is no such file; null where the runtime does not let this program ask. */
export function fileMark(path: string): string | null {
  return statOf(path, ({ mtimeMs, size }) => `${mtimeMs} ${size}`);
}

/** A text by which a file is told from one that takes its place. Empty and null as for {@link fileMark}. */
export function fileIdentity(path: string): string | null {
  return statOf(path, ({ dev, ino }) => `${dev} ${ino}`);
}

function statOf(path: string, textOf: (stat: FileStat) => string): string | null {
  try {
    if (!isPermitted({ name: "read", path })) return null;
    const stat = (builtinModule("node:fs") as FileSystem).statSync(path, { throwIfNoEntry: false });
    return stat === undefined ? "" : textOf(stat);
  } catch {
    return null;
  }
}

interface HostGlobals {
  readonly WebSocketPair?: unknown;
  readonly Deno?: {
    readonly permissions?: { querySync?(query: object): { readonly state: string } };
    unrefTimer?(handle: unknown): void;
  };
  readonly navigator?: { readonly userAgent?: string; readonly hardwareConcurrency?: number };
  readonly document?: object;
}

/** Whether the program may do something. Deno would ask at the terminal for a permission that is not given yet. */
function isPermitted(query: object): boolean {
  const { Deno } = globalThis as unknown as HostGlobals;
  if (Deno === undefined) return true;
  try {
    return Deno.permissions?.querySync?.(query).state === "granted";
  } catch {
    return false;
  }
}

/** The value of an environment variable; undefined when the variable is not set, or when the runtime does not let this
 *  program read it. */
export function environmentVariable(name: string): string | undefined {
  try {
    return hostProcess()?.env?.[name];
  } catch {
    return undefined;
  }
}

/** Calls a listener each time the process gets one of the signals, until the returned function is called. Where the
 *  runtime has no signals, the listener is never called. While there is a listener, a signal no longer ends the process
 *  by itself. */
export function onSignal(signals: readonly HostSignal[], listener: (signal: HostSignal) => void): () => void {
  const host = hostProcess();
  const removals = signals.map((signal) => {
    const call = (): void => listener(signal);
    try {
      host?.on?.(signal, call);
    } catch {
      // A signal that the operating system does not have, such as SIGTERM for Deno on Windows.
    }
    return () => host?.off?.(signal, call);
  });
  return () => {
    for (const remove of removals.splice(0)) remove();
  };
}

/** Calls a listener when the program has nothing left to do, and not when it is ended from within or without. Where the
 *  runtime does not tell, the listener is never called. */
export function onProgramEnd(listener: () => void): void {
  try {
    hostProcess()?.on?.("beforeExit", listener);
  } catch {
    // The edge runtime of Next.js has a process whose methods throw.
  }
}

/** Whether Bun runs this program. */
export function isBun(): boolean {
  return "Bun" in globalThis;
}
