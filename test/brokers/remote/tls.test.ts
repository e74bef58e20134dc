import * as v from "valibot";
import { expect, test } from "vitest";
import { tlsOptions } from "../../../src/brokers/remote/options.ts";

test("settings of TLS that are undefined reach no client, whose own defaults they would replace", () => {
  const undefinedOnes = { cert: undefined, key: undefined, servername: undefined, rejectUnauthorized: undefined };
  expect(v.parse(tlsOptions(), { ca: "PEM", passphrase: undefined, ...undefinedOnes })).toStrictEqual({ ca: "PEM" });
  expect(v.parse(tlsOptions(), { rejectUnauthorized: false })).toStrictEqual({ rejectUnauthorized: false });
});
