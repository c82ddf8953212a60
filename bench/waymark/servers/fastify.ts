import fastify from "fastify";
import type { Order } from "../order.ts";
import { summary } from "../order.ts";
import { printAddress } from "./harness.ts";

const app = fastify({ requestTimeout: 120_000, keepAliveTimeout: 65_000, bodyLimit: 1024 * 1024 });
app.get("/", (_request, reply) => reply.type("application/json; charset=utf-8").send('"Hello, world"'));
const querystring = {
  type: "object",
  properties: { verbose: { type: "boolean" }, lang: { type: "string" } },
  required: ["verbose", "lang"],
};
const params = { type: "object", properties: { id: { type: "number" } }, required: ["id"] };
app.get<{ Params: { id: number }; Querystring: { verbose: boolean; lang: string } }>(
  "/users/:id",
  { schema: { params, querystring } },
  async ({ params: { id }, query: { verbose, lang } }) => ({ id, verbose, lang }),
);
const item = {
  type: "object",
  properties: { sku: { type: "string" }, quantity: { type: "number" }, price: { type: "number" } },
  required: ["sku", "quantity", "price"],
  additionalProperties: false,
};
const body = {
  type: "object",
  properties: {
    customer: { type: "string" },
    priority: { type: "number" },
    express: { type: "boolean" },
    items: { type: "array", items: item },
  },
  required: ["customer", "priority", "express", "items"],
  additionalProperties: false,
};
app.post<{ Body: Order }>("/orders", { schema: { body } }, async (request) => summary(request.body));
await app.listen({ port: 0, host: "127.0.0.1" });
printAddress(app.server);
