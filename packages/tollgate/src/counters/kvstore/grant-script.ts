/** The script that grants tokens above a bucket. */
import { MAX_GRANTED } from "../algorithms/token-bucket.ts";
import { kinds, MUL_DIV, STATES_LUA } from "./states-script.ts";

/**
 * KEYS[1], ARGV: the present in microseconds, 0 for the server's clock; seconds that the key outlives its state; limit, burst,
 * window size in seconds; tokens. Returns 1, or 0 if the key holds something else.
 */
export const GRANT = `${MUL_DIV}
local now, jitter = tonumber(ARGV[1]), tonumber(ARGV[2])
if now == 0 then
  local time = redis.call('TIME')
  now = time[1] * 1000000 + time[2]
end
${STATES_LUA}
local q = readQuota(${kinds.token_bucket}, tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5]))
local s = readState(KEYS[1], q)
if not s.level then return 0 end
advance(s, q)
s.previous = min(s.previous + tonumber(ARGV[6]), ${MAX_GRANTED})
writeState(KEYS[1], s)
return 1`;
