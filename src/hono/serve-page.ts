import type { Context, Hono } from "hono";
import type { Gate } from "./auth/gate.ts";
import type { GateEnv } from "./auth/gate-env.ts";
import type { InsightSource } from "./insight-source.ts";

/** What the router needs of a `dashboard()`. */
export interface PageSource {
  /** The document of the page. @param folder what the URLs of its files begin with @param isSignedIn whether the reader
   *  is, so that the page need not ask */
  document(folder: string, isSignedIn: boolean): string;
  /** The files that the document loads, by name. */
  readonly files: Readonly<Record<string, { readonly type: string; readonly etag: string; readonly text: string }>>;
  /** What answers `GET /forecast`. */
  readonly insight?: InsightSource;
}

/** Where a page is served, and by whom. */
export interface PageSetup {
  readonly page: PageSource;
  readonly gate: Gate;
  /** Where the router is mounted; undefined: where the request says. */
  readonly basePath: string | undefined;
}

/** Serves the page at the mount, and its files below it. It has no secrets, so that nobody need have signed in. */
export function servePage(app: Hono<GateEnv>, setup: PageSetup): void {
  const { page, gate } = setup;
  app.get("/", gate.headers, (c) => pageAnswer(setup, c));
  for (const [name, { type, etag, text }] of Object.entries(page.files)) {
    const own = { "content-type": type, "cache-control": "no-cache", etag };
    app.get(`/${name}`, gate.headers, ({ req }) => {
      const isKept = req.header("if-none-match")?.includes(etag) === true;
      return isKept ? new Response(null, { status: 304, headers: own }) : new Response(text, { headers: own });
    });
  }
}

/** The page at the mount with a slash after it, which no route of its own fits.
 *  @param mountPath the wildcard that the request fits, such as `/scheduler/*` */
export async function pageBehindSlash(setup: PageSetup, c: Context, mountPath: string): Promise<Response | null> {
  const { pathname } = new URL(c.req.url);
  const isGet = c.req.method === "GET" || c.req.method === "HEAD";
  const isMount = pathname.endsWith("/") && pathname.split("/").length === mountPath.split("/").length;
  if (!isGet || !isMount) return null;
  c.res = await pageAnswer(setup, c);
  await setup.gate.headers(c, async () => {});
  return c.res;
}

/** The page, whose files stand beside the mount's own path, however much of it a proxy has taken off. */
async function pageAnswer({ page, gate, basePath }: PageSetup, c: Context): Promise<Response> {
  const last = new URL(c.req.url).pathname.split("/").at(-1) ?? "";
  const folder = basePath === undefined ? `./${last === "" ? "" : `${last}/`}` : `${basePath}/`;
  return new Response(page.document(folder, await gate.knows(c)), {
    headers: { "content-type": "text/html; charset=utf-8" },
  });
}
