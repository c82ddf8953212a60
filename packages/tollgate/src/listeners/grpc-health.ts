import { type GrpcServer, HealthService } from "@tollway/grpc-wire";
import type { Health } from "../observe/health.ts";

/** The names that the overall health is asked for by: the server as a whole, the Go service's name, the protocol's. */
const names = ["", "ratelimit", "envoy.service.ratelimit.v3.RateLimitService"];

/** Serves `grpc.health.v1.Health`. @returns the way to stop following the service's health */
export function serveHealth(server: GrpcServer, health: Health): () => void {
  const service = new HealthService();
  const tell = (healthy: boolean): void => {
    for (const name of names) service.set(name, healthy ? "SERVING" : "NOT_SERVING");
  };
  tell(health.healthy);
  service.addTo(server);
  return health.subscribe(tell);
}
