import { existsSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { build } from "esbuild";
import { chromium } from "playwright-core";
import { expect, test } from "vitest";
import { CronTrigger } from "../../src/mod.ts";
import { stagePackage } from "../package/stage.ts";
import { HANG_MS } from "../support/hang.ts";

const CHROMIUM = "/usr/bin/chromium";
const CHROMIUM_ARGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Expressions with the zone and the instant from which to look: both transitions, and a zone of half an hour. */
const CASES = [
  ["0 9 * * mon-fri", "Europe/Berlin", "2026-03-27T12:00:00Z"],
  ["30 2 * * *", "Europe/Berlin", "2026-03-28T00:00:00Z"],
  ["30 1 * * *", "America/New_York", "2026-10-31T00:00:00Z"],
  ["*/15 * * * *", "Australia/Lord_Howe", "2026-04-04T14:00:00Z"],
  ["0 0 29 2 *", "UTC", "2026-01-01T00:00:00Z"],
] as const;

test("a bundled page computes the fire times that Node computes", async () => {
  if (!existsSync(CHROMIUM)) {
    throw new Error(`${CHROMIUM} is missing; install it with: apt-get update && apt-get install -y chromium`);
  }
  await using stage = await stagePackage();
  const page = `
    import { CronTrigger } from "escapement";
    globalThis.fireTimes = ${JSON.stringify(CASES)}.map(([text, timeZone, from]) =>
      Array.from(CronTrigger.fromCrontab(text, { timeZone }).fireTimes({ from, limit: 5 }), String));
  `;
  await using site = await serve(await bundle(page, stage.path));
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: CHROMIUM_ARGS, timeout: HANG_MS });
  try {
    const tab = await browser.newPage();
    const errors: string[] = [];
    tab.on("pageerror", (error) => errors.push(String(error)));
    await tab.goto(site.url, { waitUntil: "load", timeout: HANG_MS });
    const inBrowser = await tab.evaluate("globalThis.fireTimes ?? null");
    expect(errors).toEqual([]);
    expect(inBrowser).toEqual(
      CASES.map(([text, timeZone, from]) =>
        Array.from(CronTrigger.fromCrontab(text, { timeZone }).fireTimes({ from, limit: 5 }), String),
      ),
    );
  } finally {
    await browser.close();
  }
});

async function bundle(source: string, packageFolder: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: source, resolveDir: packageFolder },
    bundle: true,
    write: false,
    minify: true,
    format: "esm",
    platform: "browser",
    target: "es2022",
  });
  return outputFiles[0]?.text ?? "";
}

async function serve(script: string): Promise<{ url: string } & AsyncDisposable> {
  const server = createServer(({ url }, response) => {
    if (url === "/page.js") response.setHeader("content-type", "text/javascript").end(script);
    else {
      response.setHeader("content-type", "text/html; charset=utf-8");
      response.end('<!doctype html><link rel="icon" href="data:,"><script type="module" src="/page.js"></script>');
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
