/** A request, as every contestant has its own. */
export interface HttpRequest {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly body?: object;
}

/** One question that is put to every contestant that answers it. */
export interface HttpRow {
  readonly title: string;
  /** Requests of one run. */
  readonly amount: number;
  readonly escapement: HttpRequest;
  /** Null: it has no such route. */
  readonly bullBoard: HttpRequest | null;
  /** Where the list of an answer is; then both lists are compared by their payloads. */
  readonly listOf?: { readonly escapement: ListPath; readonly bullBoard: ListPath };
}

/** Leads to the items of an answer, and from an item to its payload. */
interface ListPath {
  readonly items: readonly (string | number)[];
  readonly payload: readonly string[];
}

export const LENGTH = 100;
export const TASK = "mail";

/** What the schedules and jobs carry. */
export function payloadOf(index: number): { to: string; subject: string } {
  return { to: `customer-${index}@example.org`, subject: `Letter ${index} of ${LENGTH}` };
}

/** Creating comes last, because lists and the overview are about what there was at first. */
export const ROWS: readonly HttpRow[] = [
  {
    title: "list 100 schedules",
    amount: 300,
    escapement: { method: "GET", path: "/schedules?limit=100" },
    bullBoard: { method: "GET", path: "/api/job-schedulers" },
    listOf: {
      escapement: { items: ["items"], payload: ["payload"] },
      bullBoard: { items: ["schedulers"], payload: ["template", "data"] },
    },
  },
  {
    title: "list 100 jobs",
    amount: 300,
    escapement: { method: "GET", path: "/jobs?limit=100" },
    bullBoard: { method: "GET", path: `/api/queues?activeQueue=${TASK}&status=waiting&page=1&jobsPerPage=100` },
    listOf: {
      escapement: { items: ["items"], payload: ["payload"] },
      bullBoard: { items: ["queues", 0, "jobs"], payload: ["data"] },
    },
  },
  {
    title: "preview a trigger, 10 fire times",
    amount: 700,
    escapement: {
      method: "POST",
      path: "/triggers/preview",
      body: { trigger: { cron: "30 2 * * *", timeZone: "Europe/Berlin" }, from: "2030-03-25T00:00:00Z", limit: 10 },
    },
    bullBoard: null,
  },
  {
    title: "GET /overview",
    amount: 700,
    escapement: { method: "GET", path: "/overview" },
    bullBoard: { method: "GET", path: "/api/queues" },
  },
  {
    title: "create a job",
    amount: 700,
    escapement: { method: "POST", path: "/jobs", body: { taskId: TASK, payload: payloadOf(0) } },
    bullBoard: {
      method: "POST",
      path: `/api/queues/${TASK}/add`,
      body: { name: TASK, data: payloadOf(0), options: {} },
    },
  },
];

/** What a path leads to. */
export function at(value: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((found, key) => (found as Record<string | number, unknown> | undefined)?.[key], value);
}
