import { expect, test } from "vitest";
import { shownUrl } from "../../src/stores/libsql/address.ts";

test.each([
  ["file:jobs.db", "file:jobs.db"],
  ["file:jobs.db?authToken=hidden", "file:jobs.db"],
  ["libsql://jobs.example.org", "libsql://jobs.example.org"],
  ["libsql://jobs.example.org?authToken=hid@den", "libsql://jobs.example.org"],
  ["https://me:hidden@jobs.example.org/v2?x=1", "https://jobs.example.org/v2"],
  ["https://me:hid/den@jobs.example.org", "https://jobs.example.org"],
])("errors show the url %s without its token and password", (url, shown) => {
  expect(shownUrl(url)).toBe(shown);
});
