/** The 1 KiB body of the benchmark. */
export interface Order {
  customer: string;
  priority: number;
  express: boolean;
  items: { sku: string; quantity: number; price: number }[];
}

export const ORDER: Order = {
  // The padding makes the whole document 1 KiB long.
  customer: "c5f1b2a0-7a0e-4a51-9a52-0d4f5a1f2c11".padEnd(36 + 1024 - 929, "-"),
  priority: 3,
  express: true,
  items: Array.from({ length: 17 }, (_, at) => ({
    sku: `SKU-${1000 + at}-ABC`,
    quantity: at + 1,
    price: 9.5 + at,
  })),
};

export const ORDER_TEXT = JSON.stringify(ORDER);

/** Computes the response to an order. */
export function summary(order: Order): { customer: string; total: number } {
  let total = 0;
  for (const { quantity, price } of order.items) total += quantity * price;
  return { customer: order.customer, total };
}

const ORDER_NAMES = new Set(["customer", "priority", "express", "items"]);
const ITEM_NAMES = new Set(["sku", "quantity", "price"]);

/** Validates an order by hand: types and unknown names at both levels. */
export function isOrder(value: unknown): value is Order {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const order = value as Order;
  for (const name of Object.keys(order)) if (!ORDER_NAMES.has(name)) return false;
  if (typeof order.customer !== "string" || typeof order.priority !== "number") return false;
  if (typeof order.express !== "boolean" || !Array.isArray(order.items)) return false;
  for (const item of order.items) {
    if (typeof item !== "object" || item === null) return false;
    for (const name of Object.keys(item)) if (!ITEM_NAMES.has(name)) return false;
    if (typeof item.sku !== "string" || typeof item.quantity !== "number" || typeof item.price !== "number")
      return false;
  }
  return true;
}
