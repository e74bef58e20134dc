import { expect, test } from "vitest";
import { shownAddress } from "../../src/core/shown-address.ts";

test.each([
  ["redis://localhost", "redis://localhost"],
  ["redis://:hidden@localhost:6379/2", "redis://localhost:6379/2"],
  ["rediss://user:hidden@[::1]:6379?family=6&password=hidden", "rediss://[::1]:6379"],
  ["unix:///run/redis.sock", "unix:///run/redis.sock"],
  ["postgres://user:hidden@one:5432,two:5432/db?sslmode=require", "postgres://one:5432,two:5432/db"],
  ["mqtt://us%40er:hid%2Fden@host", "mqtt://host"],
  ["redis://:hid/den@host:1", "redis://host:1"],
  ["redis://:hid@den@host:1", "redis://host:1"],
  ["redis://:hid#den@host:1", "redis://host:1"],
])("the address %s is shown without what is secret", (url, shown) => {
  expect(shownAddress(url)).toBe(shown);
});
