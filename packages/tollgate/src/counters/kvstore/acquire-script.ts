/**
 * The script that decides groups of limits. It does what `acquire.ts` and `algorithms/` do, with the same steps in the
 * same doubles: Lua has no integers. The reply has the stored states, and Tollgate repeats the decision on them
 * (`acquire-call.ts`). So the script returns no results, and the pure algorithms define every answer.
 */
import { HoldBack, MAX_COUNT, Refuses } from "../store.ts";
import { makeScript } from "./scripts.ts";

/** The algorithms in the script's arguments. */
export const kinds = { fixed_window: 1, accepted_window: 2, sliding_window: 3, token_bucket: 4 } as const;

/** The reply's first word of a key that does not hold a state: another type, or other text. */
export const UNUSABLE = -1;

/** floor(a x b / c), or ceil if `up` is 1, as in `algorithms/exact.ts`. */
export const MUL_DIV = `
local floor, ceil, max, min = math.floor, math.ceil, math.max, math.min
local function rest(a, b, product)
  local split = 134217729 * a
  local aHigh = split - (split - a)
  local aLow = a - aHigh
  split = 134217729 * b
  local bHigh = split - (split - b)
  local bLow = b - bHigh
  return aHigh * bHigh - product + aHigh * bLow + aLow * bHigh + aLow * bLow
end
local function mulDiv(a, b, c, up)
  local product = a * b
  if product <= ${MAX_COUNT} then
    if up == 1 then return ceil(product / c) end
    return floor(product / c)
  end
  local quotient = floor(product / c)
  if quotient > ${MAX_COUNT} then return quotient end
  local estimate = quotient * c
  local remainder = product - estimate + (rest(a, b, product) - rest(quotient, c, estimate))
  while remainder < 0 do
    remainder = remainder + c
    quotient = quotient - 1
  end
  while remainder >= c do
    remainder = remainder - c
    quotient = quotient + 1
  end
  if remainder > 0 then return quotient + up end
  return quotient
end`;

/** Number of arguments before the quotas, and of each quota. */
export const ACQUIRE_ARGS = { first: 3, quota: 4 } as const;

/**
 * Arguments, all integers:
 *
 * - the present in microseconds, 0 for the server's clock; seconds that a key outlives its state; the number of quotas
 * - for each quota: kind, limit, burst, window size in seconds
 * - for each key: its quota
 * - steps, each one of
 *   - key, hits, times: so many equal groups of one limit
 *   - 0, hold back, number of groups; for each group: refuses, hits, number of limits; for each limit: key, quota
 *
 * A state is the text `count`, `count instant previous` (sliding window) or `parts instant` (bucket). The reply is the
 * present, and the stored words of each key: 1, 3 or 2 integers, zeros for a missing key, or {@link UNUSABLE} first.
 */
export const acquireScript = makeScript(`${MUL_DIV}
local PARTS = 1000000
local next = ${ACQUIRE_ARGS.first}
local function arg()
  next = next + 1
  return tonumber(ARGV[next])
end
local now, jitter = tonumber(ARGV[1]), tonumber(ARGV[2])
if now == 0 then
  local time = redis.call('TIME')
  now = time[1] * 1000000 + time[2]
end

local quotas = {}
for i = 1, tonumber(ARGV[3]) do
  local q = { kind = arg(), limit = arg(), burst = arg(), seconds = arg() }
  q.size = q.seconds * 1000000
  q.full = q.limit == 0 and 0 or q.burst * PARTS
  quotas[i] = q
end

local function advance(s, q)
  local at = s.at
  if q.kind == 3 then
    if now <= at then return end
    local passed = floor(now / q.size) - floor(at / q.size)
    if passed > 0 then
      s.previous = passed == 1 and s.level or 0
      s.level = 0
    end
    s.at = now
  elseif q.kind == 4 then
    if at == 0 then
      s.level = q.full
    elseif now > at then
      s.level = min(s.level + mulDiv(now - at, q.limit, q.seconds, 0), q.full)
    else
      s.level = min(s.level, q.full)
      return
    end
    s.at = now
  end
end

local function accepts(s, q, hits)
  local kind, level = q.kind, s.level
  if kind == 1 then return level + hits <= q.limit end
  local needed = max(hits, 1)
  if kind == 4 then return needed <= floor(level / PARTS) end
  if kind == 3 and s.previous ~= 0 then
    level = mulDiv(s.previous, q.size - s.at % q.size, q.size, 1) + level
  end
  return level + needed <= q.limit
end

local function apply(s, q, hits)
  local kind, level = q.kind, s.level
  if kind == 4 then
    if -hits >= q.burst then s.level = q.full else s.level = min(level - hits * PARTS, q.full) end
  elseif kind == 3 then
    s.level = max(level + hits, 0)
  else
    s.level = min(max(level + hits, 0), ${MAX_COUNT})
  end
  s.changed = true
end

local function isUnused(s, q)
  if q.kind == 4 then return s.level >= q.full end
  return s.level == 0 and s.previous == 0
end

-- Ends the decisions of a request on a state. An unused state is the same as no state.
local function finish(s, q)
  if not s.changed then return end
  if isUnused(s, q) then s.at, s.level, s.previous = 0, 0, 0 end
  s.written = true
end

local states, out = {}, { now }
for i = 1, #KEYS do
  local q = quotas[arg()]
  local kind, text = q.kind, redis.pcall('GET', KEYS[i])
  local level, at, previous = 0, 0, 0
  if type(text) == 'string' then
    if kind == 3 then
      level, at, previous = string.match(text, '^(%d+) (%d+) (%d+)$')
    elseif kind == 4 then
      level, at = string.match(text, '^(-?%d+) (%d+)$')
    else
      level = string.match(text, '^-?%d+$')
      if level then level = max(0, min(tonumber(level), ${MAX_COUNT})) end
    end
  elseif text then
    level = nil
  end
  local s = { level = tonumber(level), at = tonumber(at), previous = tonumber(previous), fresh = not text, q = q }
  states[i] = s
  local words = #out
  if s.level then
    out[words + 1] = s.level
    if kind >= 3 then out[words + 2] = s.at end
    if kind == 3 then out[words + 3] = s.previous end
    advance(s, q)
  else
    out[words + 1] = kind == 4 and 0 or ${UNUSABLE}
    if kind >= 3 then out[words + 2] = ${UNUSABLE} end
    if kind == 3 then out[words + 3] = 0 end
  end
end

local function take(s, q, hits, times)
  if not s.level then return end
  for _ = 1, times do
    advance(s, q)
    s.changed = false
    local accepted = hits < 0 or accepts(s, q, hits)
    if not accepted and q.kind ~= 1 then return end
    if hits ~= 0 then apply(s, q, hits) end
    finish(s, q)
  end
end

local function takeGroup(group, counts)
  if not counts or group.hits == 0 then return end
  for _, limit in ipairs(group.limits) do
    if group.accepted or limit.q.kind == 1 then apply(limit.s, limit.q, group.hits) end
  end
end

local function together(holdBack, groups)
  for _, group in ipairs(groups) do
    for _, limit in ipairs(group.limits) do
      if not limit.s.level then return end
    end
  end
  for _, group in ipairs(groups) do
    for _, limit in ipairs(group.limits) do
      local s = limit.s
      advance(s, limit.q)
      s.changed, s.exceeds, s.levelBefore, s.previousBefore = false, false, s.level, s.previous
    end
  end
  local refused, quota, exceeding = holdBack == ${HoldBack.ALWAYS}, 0, 0
  for _, group in ipairs(groups) do
    group.accepted = true
    for _, limit in ipairs(group.limits) do
      local s = limit.s
      if group.hits >= 0 and not accepts(s, limit.q, group.hits) then
        group.accepted = false
        s.exceeds = true
      end
    end
    takeGroup(group, true)
    if group.refuses == ${Refuses.TOGETHER} then
      quota = quota + 1
      if not group.accepted then exceeding = exceeding + 1 end
    elseif group.refuses == ${Refuses.ALWAYS} and not group.accepted then
      refused = true
    end
  end
  if holdBack ~= ${HoldBack.NEVER} and (refused or (quota > 0 and quota == exceeding)) then
    for _, group in ipairs(groups) do
      for _, limit in ipairs(group.limits) do
        local s = limit.s
        s.level, s.previous, s.changed = s.levelBefore, s.previousBefore, false
      end
    end
    for _, group in ipairs(groups) do
      local counts = group.hits < 0
      for _, limit in ipairs(group.limits) do counts = counts or limit.s.exceeds end
      takeGroup(group, counts)
    end
  end
  for _, group in ipairs(groups) do
    for _, limit in ipairs(group.limits) do finish(limit.s, limit.q) end
  end
end

while next < #ARGV do
  local key = arg()
  if key > 0 then
    take(states[key], states[key].q, arg(), arg())
  else
    local holdBack, groups = arg(), {}
    for i = 1, arg() do
      local group = { refuses = arg(), hits = arg(), limits = {} }
      for j = 1, arg() do
        local s = states[arg()]
        local q = quotas[arg()]
        s.q = q
        group.limits[j] = { s = s, q = q }
      end
      groups[i] = group
    end
    together(holdBack, groups)
  end
end

for i = 1, #KEYS do
  local s = states[i]
  if s.written then
    local q = s.q
    if (s.fresh or q.kind > 2) and (s.at == 0 and q.kind > 2 or isUnused(s, q)) then
      if not s.fresh then redis.call('DEL', KEYS[i]) end
    elseif q.kind < 3 then
      local text = string.format('%.0f', s.level)
      if s.fresh then
        redis.call('SET', KEYS[i], text, 'EX', string.format('%.0f', q.seconds + jitter))
      else
        redis.call('SET', KEYS[i], text, 'KEEPTTL')
      end
    else
      local text, left
      if q.kind == 3 then
        text = string.format('%.0f %.0f %.0f', s.level, s.at, s.previous)
        left = q.size - s.at % q.size
        if s.level > 0 then left = left + q.size elseif s.previous == 0 then left = 0 end
      else
        text = string.format('%.0f %.0f', s.level, s.at)
        left = 0
        if q.limit > 0 and s.level < q.full then left = mulDiv(q.full - s.level, q.seconds, q.limit, 1) end
      end
      local ttl = ceil((s.at + left) / 1000000) - floor(now / 1000000) + jitter
      redis.call('SET', KEYS[i], text, 'EX', string.format('%.0f', min(max(ttl, 1), 315576000000)))
    end
  end
end
return out`);
