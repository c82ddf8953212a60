import { createHash } from "node:crypto";
import { MAX_COUNT, Outcome } from "../store.ts";
import { commandHead } from "./resp/writer.ts";

/** A Lua script: sent by its digest, and with its text where the server does not know it yet. */
export interface Script {
  readonly text: string;
  readonly sha1: string;
}

function script(text: string): Script {
  return { text, sha1: createHash("sha1").update(text).digest("hex") };
}

/**
 * Gives hits back, never below 0 and never from above saturation. KEYS[1], ARGV[1] = hits; answers with the
 * counter before, from which each caller's position follows even where several were added up. SET with KEEPTTL
 * needs Redis 6.
 */
export const giveBack = script(`
local v = tonumber(redis.call('GET', KEYS[1]) or '0')
if v <= 0 then return 0 end
if v > ${MAX_COUNT} then
  v = ${MAX_COUNT}
  redis.call('SET', KEYS[1], '${MAX_COUNT}', 'KEEPTTL')
end
redis.call('DECRBY', KEYS[1], string.format('%.0f', math.min(v, tonumber(ARGV[1]))))
return v`);

/**
 * Counts all or nothing. For each count KEYS[i] and three arguments: hits, limit, and seconds to live (above 0 to
 * be set in any case, below 0 only where the key is fresh). Answers with outcome and counter of each. The same key
 * may stand there twice.
 */
export const allOrNothing = script(`
local first, now, out, over = {}, {}, {}, false
for i = 1, #KEYS do
  local k, hits = KEYS[i], tonumber(ARGV[3 * i - 2])
  if not now[k] then
    first[k] = math.max(0, math.min(tonumber(redis.call('GET', k) or '0'), ${MAX_COUNT}))
    now[k] = first[k]
  end
  local after = math.max(0, math.min(now[k] + hits, ${MAX_COUNT}))
  out[2 * i - 1] = ${Outcome.HELD}
  if hits >= 0 and after > tonumber(ARGV[3 * i - 1]) then
    over = true
    out[2 * i - 1] = ${Outcome.EXCEEDS}
  else
    now[k] = after
  end
  out[2 * i] = after
end
if over then
  for i = 1, #KEYS do out[2 * i] = first[KEYS[i]] end
  return out
end
now = {}
for i = 1, #KEYS do
  local k, hits, ttl = KEYS[i], tonumber(ARGV[3 * i - 2]), tonumber(ARGV[3 * i])
  local before = now[k] or first[k]
  if hits > 0 then
    redis.call('INCRBY', k, ARGV[3 * i - 2])
    if ttl > 0 or before == 0 then redis.call('EXPIRE', k, math.abs(ttl)) end
  elseif hits < 0 and before > 0 then
    redis.call('DECRBY', k, string.format('%.0f', math.min(before, -hits)))
  end
  now[k] = out[2 * i]
  out[2 * i - 1] = ${Outcome.COUNTED}
end
return out`);

/** The head of a call of a script, by digest or by text. */
export function scriptHead(of: Script, keys: number, args: number, withText: boolean): Buffer {
  const parts = 3 + keys + args;
  return withText
    ? commandHead(parts, "EVAL", of.text, String(keys))
    : commandHead(parts, "EVALSHA", of.sha1, String(keys));
}
