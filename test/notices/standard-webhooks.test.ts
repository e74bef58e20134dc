import { expect, test } from "vitest";
import { keyOf, signedHeaders } from "../../src/notices/standard-webhooks.ts";

// The vector that the libraries of Standard Webhooks and of Svix test themselves with.
const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const SIGNED = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";

const sign = (secrets: readonly string[]): Promise<Record<string, string>> => {
  const keys = secrets.map(keyOf).filter((key) => key !== null);
  return signedHeaders(keys, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, '{"test": 2432232314}');
};

test("a message is signed as Standard Webhooks say", async () => {
  expect(await sign([SECRET])).toEqual({
    "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
    "webhook-timestamp": "1614265330",
    "webhook-signature": SIGNED,
  });
});

test("each of several secrets signs, and without one there is no signature", async () => {
  const other = `whsec_${btoa("x".repeat(64))}`;
  const { "webhook-signature": signature = "" } = await sign([other, SECRET]);
  const [first, second, ...more] = signature.split(" ");
  expect(first).toMatch(/^v1,[\w+/]{43}=$/);
  expect(first).not.toBe(SIGNED);
  expect([second, ...more]).toEqual([SIGNED]);
  expect(await sign([])).toEqual({
    "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
    "webhook-timestamp": "1614265330",
  });
});

test.each([
  ["without its prefix", SECRET.slice(6)],
  ["that is no Base64", "whsec_%%%"],
  ["that is too short", `whsec_${btoa("x".repeat(23))}`],
  ["that is too long", `whsec_${btoa("x".repeat(65))}`],
  ["that is empty", "whsec_"],
])("a secret %s is none", (_, secret) => {
  expect(keyOf(secret)).toBeNull();
});
