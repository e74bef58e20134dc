// The router as an API route of the pages, whose bodies Next.js reads.
import { getRequestListener } from "@hono/node-server";
import { Hono } from "hono";
import { makeRouter } from "../../../scheduler.js";

let listener;

export default function handler(request, response) {
  listener ??= getRequestListener(new Hono().route("/api/pages", makeRouter()).fetch);
  return listener(request, response);
}
