import { decimal, duration, int } from "../kinds/kinds.ts";
import { setting } from "../kinds/setting.ts";

export const reservations = {
  ttl: setting(
    "RESERVATION_TTL",
    duration("above 0", 3600e3),
    600e3,
    "Time after which a reservation without a `ttl` of its own ends by itself. At most `1h`.",
  ),
  maxFraction: setting(
    "RESERVATION_MAX_FRACTION",
    decimal(0, 1),
    0.25,
    "Largest share of the smallest limit that one reservation holds. It always holds at least 1.",
  ),
  maxHolds: setting(
    "RESERVATION_MAX_HOLDS",
    int(1, 1_000_000),
    10_000,
    "Maximum number of open reservations of one counter. Further ones fail with RESOURCE_EXHAUSTED.",
  ),
};
