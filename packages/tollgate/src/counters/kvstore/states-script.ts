/** Parts of the scripts for limits: the algorithms on the states of keys, as in `acquire.ts` and `algorithms/`. */
import { HoldBack, MAX_COUNT, Refuses } from "../store.ts";

/** The algorithms in a script's arguments. */
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

/**
 * Functions on states. The script has defined `now` (microseconds) and `jitter` (seconds). A state has `level`, `at` and
 * `previous`, `fresh` for a key that does not exist, and its quota `q`; no `level` if the key does not hold a state.
 */
export const STATES_LUA = `
local PARTS = 1000000
local function readQuota(kind, limit, burst, seconds)
  local q = { kind = kind, limit = limit, burst = burst, seconds = seconds }
  q.size = q.seconds * 1000000
  q.full = q.limit == 0 and 0 or q.burst * PARTS
  return q
end

local function readState(key, q)
  local kind, text = q.kind, redis.pcall('GET', key)
  local level, at, previous = 0, 0, 0
  if type(text) == 'string' then
    if kind == 3 then
      level, at, previous = string.match(text, '^(%d+) (%d+) (%d+)$')
    elseif kind == 4 then
      level, at, previous = string.match(text, '^(-?%d+) (%d+) ?(%d*)$')
      if previous == '' then previous = 0 end
    else
      level = string.match(text, '^-?%d+$')
      if level then level = max(0, min(tonumber(level), ${MAX_COUNT})) end
    end
  elseif text then
    level = nil
  end
  return { level = tonumber(level), at = tonumber(at), previous = tonumber(previous), fresh = not text, q = q }
end

-- Microseconds from the last change of a bucket to the end of its granted tokens.
local function grantTime(q)
  if q.limit == 0 then return q.size end
  return max(q.size, mulDiv(q.full, q.seconds, q.limit, 1))
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
      if s.previous > 0 and now - at >= grantTime(q) then s.previous = 0 end
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
  if kind == 4 then return needed <= floor(level / PARTS) + (q.limit == 0 and 0 or s.previous) end
  if kind == 3 and s.previous ~= 0 then
    level = mulDiv(s.previous, q.size - s.at % q.size, q.size, 1) + level
  end
  return level + needed <= q.limit
end

local function apply(s, q, hits)
  local kind, level = q.kind, s.level
  if kind == 4 then
    if hits < 0 and -hits >= (q.full - level) / PARTS then
      s.level = q.full
    else
      if s.previous > 0 then
        local granted = min(hits - max(floor(level / PARTS), 0), s.previous)
        if granted > 0 then
          s.previous = s.previous - granted
          hits = hits - granted
        end
      end
      s.level = max(min(level - hits * PARTS, q.full), q.full - ${MAX_COUNT})
    end
  else
    s.level = min(max(level + hits, 0), ${MAX_COUNT})
  end
  s.changed = true
end

local function isUnused(s, q)
  if q.kind == 4 then return s.level >= q.full and s.previous == 0 end
  return s.level == 0 and s.previous == 0
end

-- Ends the decisions of a request on a state. An unused state is the same as no state.
local function finish(s, q)
  if not s.changed then return end
  if isUnused(s, q) then s.at, s.level, s.previous = 0, 0, 0 end
  s.written = true
end

local function writeState(key, s)
  local q = s.q
  if (s.fresh or q.kind > 2) and (s.at == 0 and q.kind > 2 or isUnused(s, q)) then
    if not s.fresh then redis.call('DEL', key) end
  elseif q.kind < 3 then
    local text = string.format('%.0f', s.level)
    if s.fresh then
      redis.call('SET', key, text, 'EX', string.format('%.0f', q.seconds + jitter))
    else
      redis.call('SET', key, text, 'KEEPTTL')
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
      if s.previous > 0 then
        text = text .. string.format(' %.0f', s.previous)
        left = max(left, grantTime(q))
      end
    end
    local ttl = ceil((s.at + left) / 1000000) - floor(now / 1000000) + jitter
    redis.call('SET', key, text, 'EX', string.format('%.0f', min(max(ttl, 1), 315576000000)))
  end
end`;

/** Decides groups together. A state may have `held`: hits that open holds take. */
export const TOGETHER_LUA = `
local function fits(s, q, hits)
  local held = s.held or 0
  if held == 0 then return accepts(s, q, hits) end
  if q.kind ~= 1 then hits = max(hits, 1) end
  return accepts(s, q, hits + held)
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
      if group.hits >= 0 and not fits(s, limit.q, group.hits) then
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
end`;
