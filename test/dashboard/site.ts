import { existsSync, mkdirSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { AxeBuilder } from "@axe-core/playwright";
import { getRequestListener } from "@hono/node-server";
import { Hono } from "hono";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { type DashboardOptions, dashboard } from "../../src/dashboard/mod.ts";
import { createRouter, type RouterOptions } from "../../src/hono/mod.ts";
import type { Scheduler } from "../../src/mod.ts";
import { HANG_MS } from "../support/hang.ts";

const CHROMIUM = "/usr/bin/chromium";
const CHROMIUM_ARGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"];

/** Whether this machine can run these tests; else it says why not. */
export const hasChromium: boolean = existsSync(CHROMIUM);
if (!hasChromium) console.log(`the page is not tested: ${CHROMIUM} is missing (apt-get install -y chromium)`);

export const quiet = { debug(): void {}, info(): void {}, warn(): void {}, error(): void {} };

const WRITE = "a-long-random-text-that-may-write";
export const READ = "a-long-random-text-that-may-read";

/** A program's own server, with the page of a scheduler at `/scheduler`. */
export interface Site extends AsyncDisposable {
  readonly url: string;
  /** As if the program had ended, and was started again at the same port. */
  stop(): Promise<void>;
  start(): Promise<void>;
}

export async function serveSite(
  scheduler: Scheduler,
  options: DashboardOptions = {},
  routerOptions: Partial<RouterOptions> = {},
): Promise<Site> {
  const auth = {
    tokens: [
      { token: WRITE, scope: "write", name: "ada" },
      { token: READ, scope: "read" },
    ],
  } as const;
  let server: Server | null = null;
  let port = 0;
  let closeRouter = (): void => {};
  const start = async (): Promise<void> => {
    const router = createRouter(scheduler, { auth, logger: quiet, dashboard: dashboard(options), ...routerOptions });
    closeRouter = () => router.close();
    const listener = getRequestListener(new Hono().route("/scheduler", router).fetch);
    server = createServer((request, response) => void listener(request, response));
    await new Promise<void>((resolve) => server?.listen(port, "127.0.0.1", resolve));
    port = (server.address() as AddressInfo).port;
  };
  const stop = async (): Promise<void> => {
    closeRouter();
    server?.closeAllConnections();
    await new Promise<void>((resolve) => (server === null ? resolve() : server.close(() => resolve())));
  };
  await start();
  return { url: `http://127.0.0.1:${port}/scheduler`, start, stop, [Symbol.asyncDispose]: stop };
}

export function launch(): Promise<Browser> {
  return chromium.launch({ executablePath: CHROMIUM, args: CHROMIUM_ARGS, timeout: HANG_MS });
}

/** A tab, and everything that went wrong in it. */
export interface Tab extends AsyncDisposable {
  readonly page: Page;
  /** Lines of the console, reports of the policy, and requests to elsewhere; none is right. */
  readonly complaints: string[];
  go(place: string): Promise<void>;
  picture(name: string): Promise<void>;
  /** What axe-core finds wrong. */
  violations(themes: readonly ("light" | "dark")[]): Promise<string[]>;
}

/** Opens the page as somebody who has a token. @param mayFail what complaints may be about */
export async function openTab(
  browser: Browser,
  site: Pick<Site, "url">,
  { token = WRITE, ...options }: BrowserContextOptions & { token?: string } = {},
): Promise<Tab> {
  const context = await browser.newContext({
    viewport: { width: 1400, height: 900 },
    timezoneId: "Europe/London",
    locale: "en-GB",
    ...options,
  });
  context.setDefaultTimeout(HANG_MS);
  const page = await context.newPage();
  const complaints: string[] = [];
  const origin = new URL(site.url).origin;
  page.on("console", (message) => {
    // A rule that is still being typed is refused (422), which the browser writes down as well.
    const isRefusal = /status of 422/.test(message.text());
    if (["error", "warning"].includes(message.type()) && !isRefusal) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("request", (request) => {
    if (!request.url().startsWith(origin) && !/^(blob|data):/.test(request.url())) complaints.push(request.url());
  });
  await page.addInitScript(() => {
    document.addEventListener("securitypolicyviolation", (event) => console.error(`CSP: ${event.violatedDirective}`));
  });
  await page.goto(site.url);
  await page.getByLabel("Token").fill(token);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("navigation").first().waitFor();
  return {
    page,
    complaints,
    async go(place) {
      await page.goto(`${site.url}#/${place}`);
    },
    async picture(name) {
      const folder = process.env.DASHBOARD_PICTURES;
      if (folder === undefined) return;
      mkdirSync(folder, { recursive: true });
      await page.screenshot({ path: join(folder, `${name}.png`) });
    },
    async violations(themes) {
      const found: string[] = [];
      for (const theme of themes) {
        await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
        // The other mode opens a page for each look, because of frames, of which there are none here.
        const { violations } = await new AxeBuilder({ page }).setLegacyMode(true).analyze();
        for (const { id, nodes } of violations)
          found.push(`${theme} ${id}: ${nodes.map(({ html }) => html).join("\n")}`);
      }
      return found;
    },
    [Symbol.asyncDispose]: () => context.close(),
  };
}
