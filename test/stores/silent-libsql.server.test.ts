import { createClient } from "@libsql/client";
import { afterAll, beforeAll, test } from "vitest";
import { LibsqlDataStore } from "../../src/stores/libsql/mod.ts";
import { LibsqlDataStore as HttpDataStore } from "../../src/stores/libsql-http/mod.ts";
import { LoopbackProxy } from "../support/loopback-proxy.ts";
import { Sqld } from "../support/sqld.ts";
import { expectFiresToGoOn, LOSSES, PLACES } from "./silent-network.ts";

const TIMEOUT = { milliseconds: 500 };

let server: Sqld;
beforeAll(async () => {
  server = await Sqld.start();
});
afterAll(() => server?.stop());

const WAYS = {
  "the light driver": (url: string, options: object) => new HttpDataStore({ url }, options),
  "a url": (url: string, options: object) => new LibsqlDataStore({ url }, options),
  "a url of WebSockets": (url: string, options: object) =>
    new LibsqlDataStore({ url: url.replace("http", "ws") }, options),
  "a client of WebSockets": (url: string, options: object) =>
    new LibsqlDataStore({ client: createClient({ url: url.replace("http", "ws"), concurrency: PLACES }) }, options),
  "a client": (url: string, options: object) => new LibsqlDataStore({ client: createClient({ url }) }, options),
};

test.concurrent.each(Object.entries(WAYS))(
  `over %s, fires go on after ${LOSSES} times in which all connections went silent`,
  async (way, open) => {
    const proxy = await LoopbackProxy.start(server.port);
    const tablePrefix = `${way.replaceAll(" ", "_")}_`;
    await expectFiresToGoOn(open(`http://127.0.0.1:${proxy.port}`, { timeout: TIMEOUT, tablePrefix }), proxy);
    await proxy.stop();
  },
);
