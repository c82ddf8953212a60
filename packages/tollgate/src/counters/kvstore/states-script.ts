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
local call, match, format, type, tonumber = redis.call, string.match, string.format, type, tonumber
local PARTS = 1000000
-- Servers with integers of 32 bits print larger ones as doubles.
local INTEGER = format('%d', ${MAX_COUNT}) == '${MAX_COUNT}' and '%d' or '%.0f'
local THREE_INTEGERS = INTEGER .. ' ' .. INTEGER .. ' ' .. INTEGER
local function digits(integer) return format(INTEGER, integer) end

local function readQuota(kind, limit, burst, seconds)
  local q = { kind = kind, limit = limit, burst = burst, seconds = seconds }
  q.size = q.seconds * 1000000
  q.full = q.limit == 0 and 0 or q.burst * PARTS
  return q
end

local function newState()
  return { level = 0, at = 0, previous = 0, q = false, fresh = false, changed = false, written = false, stored = false }
end

-- The end of a sliding window's state, in microseconds.
local function slidingEnd(level, at, size)
  local start = at - at % size
  if level > 0 then return start + 2 * size end
  return start + size
end

-- Fills in a state from the value of its key: a text, an error, or false for no key. Keeps as \`stored\` what a write can
-- build on: the integer that INCRBY can change, or the end of a sliding window, which the key outlives.
local function parse(s, text, q)
  local kind, level, at, previous, stored = q.kind, 0, 0, 0, false
  if type(text) == 'string' then
    if kind == 3 then
      level, at, previous = match(text, '^(%d+) (%d+) (%d+)$')
      level, at, previous = tonumber(level), tonumber(at), tonumber(previous)
      if level then stored = slidingEnd(level, at, q.size) end
    elseif kind == 4 then
      level, at, previous = match(text, '^(-?%d+) (%d+) ?(%d*)$')
      if previous == '' then previous = 0 end
      level, at, previous = tonumber(level), tonumber(at), tonumber(previous)
    elseif #text < 16 and match(text, '^[1-9]%d*$') then
      level = tonumber(text)
      stored = level
    else
      level = tonumber(match(text, '^-?%d+$'))
      if level then level = max(0, min(level, ${MAX_COUNT})) end
    end
  elseif text then
    level, at = nil, nil
  end
  s.level, s.at, s.previous, s.stored = level, at, previous, stored
  s.q, s.fresh, s.changed, s.written = q, not text, false, false
end

local function readState(key, q)
  local s = newState()
  parse(s, redis.pcall('GET', key), q)
  return s
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
  s.changed, s.written = false, true
end

local function writeWith(key, text, seconds)
  call('SET', key, text, 'EX', digits(seconds))
end

local function writeState(key, s)
  local q, level, at, previous = s.q, s.level, s.at, s.previous
  if (s.fresh or q.kind > 2) and (at == 0 and q.kind > 2 or isUnused(s, q)) then
    if not s.fresh then call('DEL', key) end
  elseif q.kind < 3 then
    if s.fresh then
      writeWith(key, digits(level), q.seconds + jitter)
    elseif s.stored then
      call('INCRBY', key, digits(level - s.stored))
    else
      call('SET', key, digits(level), 'KEEPTTL')
    end
  else
    local text, ends
    if q.kind == 3 then
      text = format(THREE_INTEGERS, level, at, previous)
      ends = slidingEnd(level, at, q.size)
      if ends == s.stored then
        call('SET', key, text, 'KEEPTTL')
        return
      end
    else
      text = digits(level) .. ' ' .. digits(at)
      ends = at
      if q.limit > 0 and level < q.full then ends = at + mulDiv(q.full - level, q.seconds, q.limit, 1) end
      if previous > 0 then
        text = text .. ' ' .. digits(previous)
        ends = max(ends, at + grantTime(q))
      end
    end
    local ttl = ceil(ends / 1000000) - floor(now / 1000000) + jitter
    writeWith(key, text, min(max(ttl, 1), 315576000000))
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
