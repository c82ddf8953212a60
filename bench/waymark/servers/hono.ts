import type { Server } from "node:http";
import { createAdaptorServer } from "@hono/node-server";
import { Hono } from "hono";
import { isOrder, summary } from "../order.ts";
import { serveForBench } from "./harness.ts";

const app = new Hono();
app.get("/", (c) => c.json("Hello, world"));
app.get("/users/:id", (c) => {
  const id = Number(c.req.param("id"));
  const verbose = c.req.query("verbose");
  const lang = c.req.query("lang");
  if (Number.isNaN(id) || (verbose !== "true" && verbose !== "false") || lang === undefined)
    return c.json({ error: "arguments" }, 400);
  return c.json({ id, verbose: verbose === "true", lang });
});
app.post("/orders", async (c) => {
  const order: unknown = await c.req.json();
  return isOrder(order) ? c.json(summary(order)) : c.json({ error: "order" }, 400);
});
serveForBench(createAdaptorServer({ fetch: app.fetch }) as Server);
