import { type GrpcServer, HealthService } from "@tollway/grpc-wire";
import type { Health } from "../observe/health.ts";

/** Service names with the overall health: the whole server, the Go service's name, the protocol's. */
const names = ["", "ratelimit", "envoy.service.ratelimit.v3.RateLimitService"];

/** Serves `grpc.health.v1.Health`. @returns a function that ends the subscription to the service's health */
export function serveHealth(server: GrpcServer, health: Health): () => void {
  const service = new HealthService();
  const update = (healthy: boolean): void => {
    for (const name of names) service.set(name, healthy ? "SERVING" : "NOT_SERVING");
  };
  update(health.healthy);
  service.addTo(server);
  return health.subscribe(update);
}
