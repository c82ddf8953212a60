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
 * Functions on states. The script has defined `now` (microseconds) and `jitter` (seconds). The first ones take and return
 * the values of a state, since Lua reads locals much faster than fields: `level`, `at`, `previous`, and as `stored` what a
 * write can build on: the integer that INCRBY can change, or the end of a sliding window, which its key outlives.
 *
 * The others change a table with these values, `fresh` for a key that does not exist, and its quota `q`. A state has no
 * `level` if its key holds something else.
 */
export const STATES_LUA = `
local call, match, format, type, tonumber = redis.call, string.match, string.format, type, tonumber
local PARTS, nowSeconds = 1000000, floor(now / 1000000)
-- Servers with integers of 32 bits print larger ones as doubles.
local INTEGER = format('%d', ${MAX_COUNT}) == '${MAX_COUNT}' and '%d' or '%.0f'
local TWO_INTEGERS = INTEGER .. ' ' .. INTEGER
local THREE_INTEGERS = TWO_INTEGERS .. ' ' .. INTEGER
local function digits(integer) return format(INTEGER, integer) end

local function readQuota(kind, limit, burst, seconds)
  local size = seconds * 1000000
  return {
    kind = kind, limit = limit, burst = burst, seconds = seconds, size = size,
    window = floor(now / size),
    full = limit == 0 and 0 or burst * PARTS,
  }
end

-- The end of a sliding window's state, in microseconds.
local function slidingEnd(level, at, size)
  local start = at - at % size
  if level > 0 then return start + 2 * size end
  return start + size
end

-- Microseconds from the last change of a bucket to the end of its granted tokens.
local function grantTime(q)
  if q.limit == 0 then return q.size end
  return max(q.size, mulDiv(q.full, q.seconds, q.limit, 1))
end

-- The level, the instant, the previous level and \`stored\` of a key's value: a text, an error, or false for no key.
-- Nothing if it is not a state.
local function parse(q, text)
  if not text then return 0, 0, 0 end
  if type(text) ~= 'string' then return end
  local kind = q.kind
  if kind == 3 then
    local level, at, previous = match(text, '^(%d+) (%d+) (%d+)$')
    if not level then return end
    level, at = tonumber(level), tonumber(at)
    return level, at, tonumber(previous), slidingEnd(level, at, q.size)
  elseif kind == 4 then
    local level, at = match(text, '^(-?%d+) (%d+)$')
    if level then return tonumber(level), tonumber(at), 0 end
    local previous
    level, at, previous = match(text, '^(-?%d+) (%d+) (%d+)$')
    return tonumber(level), tonumber(at), tonumber(previous)
  end
  if #text < 16 and match(text, '^[1-9]%d*$') then
    local level = tonumber(text)
    return level, 0, 0, level
  end
  local level = tonumber(match(text, '^-?%d+$'))
  if level then return max(0, min(level, ${MAX_COUNT})), 0, 0 end
end

local function advanced(q, level, at, previous)
  local kind = q.kind
  if kind == 3 then
    if now <= at then return level, at, previous end
    local passed = q.window - floor(at / q.size)
    if passed == 0 then return level, now, previous end
    return 0, now, passed == 1 and level or 0
  elseif kind == 4 then
    local full = q.full
    if at == 0 then return full, now, previous end
    if now <= at then return min(level, full), at, previous end
    if previous > 0 and now - at >= grantTime(q) then previous = 0 end
    level = level + mulDiv(now - at, q.limit, q.seconds, 0)
    if level > full then level = full end
    return level, now, previous
  end
  return level, at, previous
end

local function isAccepted(q, level, at, previous, hits)
  local kind = q.kind
  if kind == 1 then return level + hits <= q.limit end
  if hits < 1 then hits = 1 end
  if kind == 4 then return hits <= floor(level / PARTS) + (q.limit == 0 and 0 or previous) end
  if kind == 3 and previous ~= 0 then
    level = mulDiv(previous, q.size - at % q.size, q.size, 1) + level
  end
  return level + hits <= q.limit
end

-- The level and the previous level after hits.
local function applied(q, level, previous, hits)
  if q.kind ~= 4 then
    level = level + hits
    if level < 0 then return 0, previous end
    if level > ${MAX_COUNT} then return ${MAX_COUNT}, previous end
    return level, previous
  end
  if hits < 0 and -hits >= (q.full - level) / PARTS then return q.full, previous end
  if previous > 0 then
    local granted = min(hits - max(floor(level / PARTS), 0), previous)
    if granted > 0 then
      previous = previous - granted
      hits = hits - granted
    end
  end
  return max(min(level - hits * PARTS, q.full), q.full - ${MAX_COUNT}), previous
end

-- An unused state is the same as no state.
local function isEmpty(q, level, previous)
  if q.kind == 4 then return level >= q.full and previous == 0 end
  return level == 0 and previous == 0
end

local function setWith(key, text, seconds)
  call('SET', key, text, 'EX', digits(seconds))
end

local function write(key, q, level, at, previous, fresh, stored)
  local kind = q.kind
  if (fresh or kind > 2) and (at == 0 and kind > 2 or isEmpty(q, level, previous)) then
    if not fresh then call('DEL', key) end
  elseif kind == 3 then
    local text, ends = format(THREE_INTEGERS, level, at, previous), slidingEnd(level, at, q.size)
    if ends == stored then
      call('SET', key, text, 'KEEPTTL')
    else
      setWith(key, text, ceil(ends / 1000000) - nowSeconds + jitter)
    end
  elseif kind == 4 then
    local text, left = format(TWO_INTEGERS, level, at), 0
    if q.limit > 0 and level < q.full then left = mulDiv(q.full - level, q.seconds, q.limit, 1) end
    if previous > 0 then
      text = text .. ' ' .. digits(previous)
      left = max(left, grantTime(q))
    end
    local seconds = ceil((at + left) / 1000000) - nowSeconds + jitter
    setWith(key, text, min(max(seconds, 1), 315576000000))
  elseif fresh then
    setWith(key, digits(level), q.seconds + jitter)
  elseif stored then
    call('INCRBY', key, digits(level - stored))
  else
    call('SET', key, digits(level), 'KEEPTTL')
  end
end

local function newState()
  return { level = 0, at = 0, previous = 0, stored = 0, fresh = true, q = 0, changed = false, written = false }
end

-- Fills in a state from the value of its key: a text, an error, or false for no key.
local function fill(s, value, q)
  s.q, s.fresh, s.changed, s.written = q, not value, false, false
  s.level, s.at, s.previous, s.stored = parse(q, value)
  return s
end

local function readState(key, q)
  return fill(newState(), redis.pcall('GET', key), q)
end

local function advance(s, q)
  s.level, s.at, s.previous = advanced(q, s.level, s.at, s.previous)
end

local function accepts(s, q, hits)
  return isAccepted(q, s.level, s.at, s.previous, hits)
end

local function apply(s, q, hits)
  s.level, s.previous = applied(q, s.level, s.previous, hits)
  s.changed = true
end

local function isUnused(s, q)
  return isEmpty(q, s.level, s.previous)
end

-- Ends the decisions of a request on a state.
local function finish(s, q)
  if not s.changed then return end
  if isUnused(s, q) then s.at, s.level, s.previous = 0, 0, 0 end
  s.changed, s.written = false, true
end

local function writeState(key, s)
  write(key, s.q, s.level, s.at, s.previous, s.fresh, s.stored)
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
