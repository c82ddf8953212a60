import { createHash } from "node:crypto";
import { HoldBack, MAX_COUNT, Outcome, Refuses } from "../store.ts";
import { commandHead } from "./resp/writer.ts";

/** A Lua script. It is sent as its digest, or as its text if the server does not know it yet. */
export interface Script {
  readonly text: string;
  readonly sha1: string;
}

export function makeScript(text: string): Script {
  return { text, sha1: createHash("sha1").update(text).digest("hex") };
}

/**
 * Refunds hits, down to 0. A counter above saturation is cut first. KEYS[1], ARGV[1] = hits. Returns the counter before
 * the refund: it determines the position of each caller, even if several refunds were added up. SET with KEEPTTL needs
 * Redis 6.
 */
export const refund = makeScript(`
local v = tonumber(redis.call('GET', KEYS[1]) or '0')
if v <= 0 then return 0 end
if v > ${MAX_COUNT} then
  v = ${MAX_COUNT}
  redis.call('SET', KEYS[1], '${MAX_COUNT}', 'KEEPTTL')
end
redis.call('DECRBY', KEYS[1], string.format('%.0f', math.min(v, tonumber(ARGV[1]))))
return v`);

/** Number of arguments of {@link countTogether}: first one, then some for each count. */
export const TOGETHER_ARGS = { first: 1, each: 4 } as const;

/**
 * Makes counts that may hold each other back (`count-together.ts` has the rule). ARGV[1] = hold back. Each count has KEYS[i]
 * and four arguments: hits, limit, refuses, and the time to live in seconds (positive: always set; negative: set for a
 * fresh key only). Returns outcome and counter of each count. Several counts may have the same key. A counter above
 * saturation is cut first, so that a refund lowers it.
 */
export const countTogether = makeScript(`
local before, now, exceeds, out = {}, {}, {}, {}
local held, together, exceeding = ARGV[1] == '${HoldBack.ALWAYS}', 0, 0
for i = 1, #KEYS do
  local k, hits, refuses = KEYS[i], tonumber(ARGV[4 * i - 2]), ARGV[4 * i]
  if not now[k] then
    local v = tonumber(redis.call('GET', k) or '0')
    if v > ${MAX_COUNT} then
      v = ${MAX_COUNT}
      redis.call('SET', k, '${MAX_COUNT}', 'KEEPTTL')
    end
    before[k] = math.max(0, v)
    now[k] = before[k]
  end
  now[k] = math.max(0, math.min(now[k] + hits, ${MAX_COUNT}))
  out[2 * i] = now[k]
  local over = hits >= 0 and now[k] > tonumber(ARGV[4 * i - 1])
  if over then exceeds[k] = true end
  if refuses == '${Refuses.TOGETHER}' then
    together = together + 1
    if over then exceeding = exceeding + 1 end
  elseif over and refuses == '${Refuses.ALWAYS}' then
    held = true
  end
end
held = held or (together > 0 and together == exceeding)
now = {}
for i = 1, #KEYS do
  local k, hits, ttl = KEYS[i], tonumber(ARGV[4 * i - 2]), tonumber(ARGV[4 * i + 1])
  local from, to = now[k] or before[k], out[2 * i]
  out[2 * i - 1] = ${Outcome.COUNTED}
  if held and not exceeds[k] then
    to = math.max(0, from + math.min(hits, 0))
    if hits >= 0 then out[2 * i - 1] = ${Outcome.HELD} end
  end
  if to > from then
    redis.call('INCRBY', k, string.format('%.0f', to - from))
    if ttl > 0 or from == 0 then redis.call('EXPIRE', k, math.abs(ttl)) end
  elseif to < from then
    redis.call('DECRBY', k, string.format('%.0f', from - to))
  end
  now[k] = to
  out[2 * i] = to
end
return out`);

/** The head of a script call, with the digest or the text. */
export function scriptHead(of: Script, keys: number, args: number, withText: boolean): Buffer {
  const parts = 3 + keys + args;
  return withText
    ? commandHead(parts, "EVAL", of.text, String(keys))
    : commandHead(parts, "EVALSHA", of.sha1, String(keys));
}
