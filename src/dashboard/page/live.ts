import * as api from "./api.ts";
import { getState, type Live, refresh, setState } from "./store.ts";

// How the page stays up to date: by the stream of events, by asking every 5 s where events of other processes do not
// come in, and by trying again where the server does not answer.

/** Least time between two loads because of events: a busy scheduler has thousands a second. */
const REFRESH_MS = 1500;
const POLL_MS = 5000;
/** What is shown is loaded anew after this time, whatever came in, because some things change without an event. */
const SLOW_POLL_MS = 30_000;
/** Longest pause before a stream is opened anew, so that a router that is back is soon seen. */
const RETRY_MS_MAX = 15_000;

let source: EventSource | null = null;
let failures = 0;
let isShared = true;
let isHeard = true;
let lookedAt = 0;
let refreshTimer: ReturnType<typeof setTimeout> | null = null;
let retryTimer: ReturnType<typeof setTimeout> | null = null;
let loadedAt = 0;

function setLive(patch: Partial<Live>): void {
  setState({ live: { ...getState().live, ...patch } });
}

/** Begins once somebody is signed in. */
export async function goLive(): Promise<void> {
  stop();
  if (await look()) open();
}

/** Asks how the store is. @returns whether the server was reached */
async function look(): Promise<boolean> {
  lookedAt = Date.now();
  try {
    const { eventsShared, checkedAt, identity, schedulers } = await api.getHealth();
    isShared = eventsShared !== false;
    // A process that is alone on the store hears of all that happens there.
    isHeard = isShared || !schedulers.some((one, index) => index > 0 || one.identity !== identity);
    const { status } = getState().live;
    // The most that it may be: a slow answer then leaves out none of the runs that have ended.
    setState({ skewMs: Date.parse(checkedAt) - lookedAt });
    if (isUp(status)) setLive({ status: heardStatus() });
  } catch (error) {
    if (error instanceof api.Unreached) return false;
  }
  return true;
}

const heardStatus = (): Live["status"] => (isHeard ? "live" : "polling");
const isUp = (status: Live["status"]): boolean => status === "live" || status === "polling";

/** Ends it, when somebody signs out. */
export function stop(): void {
  source?.close();
  source = null;
  if (retryTimer !== null) clearTimeout(retryTimer);
  retryTimer = null;
}

function open(): void {
  source = new EventSource(api.urlOf(["events"]));
  source.onopen = () => {
    failures = 0;
    setLive({ status: heardStatus(), retryAt: null, seenAt: Date.now() });
    refresh();
  };
  source.onerror = () => void lost();
  source.addEventListener("reset", () => refresh());
  for (const type of SHOWN) source.addEventListener(type, ({ data }) => heard(JSON.parse(data)));
}

/** What changes something that the page shows. */
const SHOWN = (
  "jobAdded jobAcquired jobProgressed jobRetried jobReleased jobBlocked jobAdmitted jobUpdated jobUnclaimed " +
  "scheduleAdded scheduleUpdated scheduleRemoved scheduleFailed scheduleBacklogged " +
  "occurrenceSkipped occurrenceOverdue occurrenceResolved taskAdded taskUpdated taskRemoved taskPaused taskUnpaused " +
  "schedulerStarted schedulerStopped schedulerPaused schedulerResumed"
).split(" ");

interface HeardEvent {
  readonly type: string;
  readonly jobId?: string;
  readonly fraction?: number;
  readonly note?: string | null;
  readonly outcome?: string;
  readonly timestamp: string;
}

function heard({ type, timestamp, jobId = "", fraction = 0, note = null, outcome }: HeardEvent): void {
  const { progress, failures: count } = getState();
  if (type === "jobProgressed") {
    setState({ progress: { ...progress, [jobId]: { fraction, note } } });
    return;
  }
  if (type === "jobAcquired") setState({ started: { ...getState().started, [jobId]: Date.parse(timestamp) } });
  if (type === "jobReleased") {
    if (jobId in progress) {
      setState({ progress: Object.fromEntries(Object.entries(progress).filter(([id]) => id !== jobId)) });
    }
    if (outcome !== "success" && outcome !== "cancelled") setState({ failures: count + 1 });
  }
  if (refreshTimer !== null) return;
  refreshTimer = setTimeout(
    () => {
      refreshTimer = null;
      loadedAt = Date.now();
      refresh();
    },
    Math.max(50, loadedAt + REFRESH_MS - Date.now()),
  );
}

/** The stream has ended: after its 10 minutes, or because the server is gone. A look tells which. */
async function lost(): Promise<void> {
  stop();
  if (!navigator.onLine) return retryLater();
  try {
    await api.getSession();
    setTimeout(open, failures++ === 0 ? 0 : RETRY_MS_MAX);
  } catch (error) {
    failed(error);
  }
}

/** @param error why nobody knows whether somebody is signed in */
function failed(error: unknown): void {
  if (error instanceof api.Refused && error.status === 401) setState({ session: null });
  else retryLater();
}

/** Tries again after a while, unless it is to be tried again already. */
function retryLater(): void {
  if (retryTimer !== null) return;
  source?.close();
  source = null;
  const wait = Math.min(RETRY_MS_MAX, 1000 * 2 ** Math.min(failures++, 4));
  setLive({ status: navigator.onLine ? "reconnecting" : "offline", retryAt: Date.now() + wait });
  retryTimer = setTimeout(() => void retryNow(), wait);
}

/** Tries to reach the server at once. */
export async function retryNow(): Promise<void> {
  stop();
  setLive({ retryAt: null });
  try {
    setState({ session: await api.getSession() });
    await goLive();
  } catch (error) {
    failed(error);
  }
}

/** Once, when the page is opened. */
export function watch(): void {
  api.whenUnreached(retryLater);
  window.addEventListener("offline", retryLater);
  window.addEventListener("online", () => void retryNow());
  setInterval(() => {
    setState({ now: Date.now() + getState().skewMs });
    if (!isUp(getState().live.status) || document.hidden) return;
    if (!isShared && Date.now() - lookedAt >= POLL_MS) void look();
    if (Date.now() - loadedAt >= (isShared ? SLOW_POLL_MS : POLL_MS)) {
      loadedAt = Date.now();
      refresh();
    }
  }, 1000);
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) refresh();
  });
}
