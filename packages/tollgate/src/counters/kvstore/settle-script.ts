/**
 * The script that settles reservations (`reservations.ts`), and decides groups of limits that see holds. Like the script
 * of `acquire-script.ts` it returns states, and Tollgate repeats the decision on them.
 */
import { REMEMBERED, Step } from "../reservations.ts";
import { Refuses } from "../store.ts";
import { makeScript } from "./scripts.ts";
import { MUL_DIV, STATES_LUA, TOGETHER_LUA, UNUSABLE } from "./states-script.ts";
import { PACK_WORDS, READ_WORDS } from "./words-script.ts";

/** The step of a decision that sees holds. The others are those of {@link Step}. */
export const ACQUIRE_STEP = 6;

/** Keys of each counter: its state, its holds, their ends, its commits. */
export const KEYS_PER_COUNTER = 4;
/** Words of the reply: first the present, then for each counter. */
export const WORDS_PER_COUNTER = 9;
/** Words of a quota. */
export const WORDS_PER_QUOTA = 5;

/** Commits that a counter remembers. */
const MAX_COMMITS = 10_000;
/** Seconds for which the key of commits exists. */
const KEPT = REMEMBERED / 1000;
/** The same for the keys of holds: ten minutes after the longest time to live, so that their ends can be counted. */
const KEPT_HOLDS = KEPT + 600;

/**
 * The first argument is words (`resp/words.ts`):
 *
 * - the present in microseconds, 0 for the server's clock; seconds that a key outlives its state; number of quotas
 * - for each quota: kind, limit, burst, window size in seconds, 1 if its decisions see holds
 * - steps of any number of callers, one after the other, each with
 *   - the request's instant in milliseconds; step; hold back; time to live in milliseconds; most holds of a counter; number
 *     of counters; number of groups
 *   - for each counter: quota, end of its window in milliseconds (0 for no windows)
 *   - for each group: refuses, hits, number of limits; for each limit: counter, quota
 *
 * The other arguments are the reservations of the steps, empty for none.
 *
 * The keys are those of the counters of all steps. The holds are a hash: `sum` and `count` of the open ones, hits of
 * `ended` ones that a decision or a look found, and for each reservation `hits until end`. `until` is when it stops counting;
 * it is 0 if it has. Their ends are a sorted set by the next of both instants. Holds of windows follow the request's clock, like
 * their windows; others follow the present.
 *
 * The reply is words: the present, and for each counter of each step: the words of its state, hits of open holds, their number,
 * hits of the own hold, whether it is known, whether it was committed, and hits of holds that have ended since the last
 * call. {@link UNUSABLE} words if a key of the step holds something else.
 */
export const settleScript = makeScript(`${MUL_DIV}
${READ_WORDS}
local now, jitter = arg(), arg()
if now == 0 then
  local time = redis.call('TIME')
  now = time[1] * 1000000 + time[2]
end
${STATES_LUA}
${TOGETHER_LUA}
${PACK_WORDS}
local quotas, out = {}, { now }
for i = 1, arg() do
  quotas[i] = readQuota(arg(), arg(), arg(), arg())
  quotas[i].sees = arg()
end
-- Of the present step.
local asked, step, holdBack, id, ttl, most, states, groups
local function text(number) return string.format('%.0f', number) end

-- Ends the holds that no longer count. Returns their hits.
local function expire(s)
  local expired = 0
  for _, one in ipairs(redis.call('ZRANGEBYSCORE', s.ends, '-inf', text(s.now))) do
    local hits, untilAt, endAt = string.match(redis.call('HGET', s.holds, one) or '', '^(%d+) (%d+) (%d+)$')
    if hits and untilAt ~= '0' then
      expired = expired + hits
      s.held = max(s.held - hits, 0)
      s.count = max(s.count - 1, 0)
    end
    if hits and tonumber(endAt) > s.now then
      redis.call('HSET', s.holds, one, hits .. ' 0 ' .. endAt)
      redis.call('ZADD', s.ends, endAt, one)
    else
      redis.call('HDEL', s.holds, one)
      redis.call('ZREM', s.ends, one)
    end
    s.ended = true
  end
  return expired
end

local function read(s)
  local q = s.q
  s.now = s.windowEnd > 0 and asked or floor(now / 1000)
  s.adds, s.held, s.count, s.own, s.known, s.committed = 0, 0, 0, 0, 0, 0
  local expired = 0
  local sum, count, before = unpack(redis.call('HMGET', s.holds, 'sum', 'count', 'ended'))
  s.unreported = 0
  if sum then
    s.held, s.count = tonumber(sum), tonumber(count)
    before = tonumber(before or '0')
    expired = before + expire(s)
    if step == ${ACQUIRE_STEP} or step == ${Step.LOOK} then
      s.unreported, expired = expired, 0
    elseif before > 0 then
      s.ended = true
    end
  end
  if id ~= '' then
    local own = sum and redis.call('HGET', s.holds, id)
    if own then
      local hits, untilAt = string.match(own, '^(%d+) (%d+) ')
      s.known = 1
      if untilAt ~= '0' then s.own = tonumber(hits) end
    end
    if step ~= ${Step.RESERVE} then
      local remembered = redis.call('ZSCORE', s.commits, id)
      if remembered and tonumber(remembered) > s.now then s.committed = 1 end
    end
  end
  local word = #out
  out[word + 1], out[word + 2], out[word + 3] = s.level or ${UNUSABLE}, s.at or ${UNUSABLE}, s.previous or 0
  out[word + 4], out[word + 5], out[word + 6] = s.held, s.count, s.own
  out[word + 7], out[word + 8], out[word + 9] = s.known, s.committed, expired
  if q.sees == 0 then s.sum, s.held = s.held, 0 end
  if s.level then advance(s, q) end
end

local function hold(group, sign)
  for _, limit in ipairs(group.limits) do
    limit.s.adds = limit.s.adds + sign * group.hits
    limit.s.held = limit.s.held + sign * group.hits
  end
end

local function reserve()
  local refused, quota, exceeding, full = false, 0, 0, false
  for _, group in ipairs(groups) do
    group.accepted = true
    for _, limit in ipairs(group.limits) do
      if not fits(limit.s, limit.q, group.hits) then group.accepted = false end
    end
    local exceeds = not group.accepted
    for _, limit in ipairs(group.limits) do
      if group.accepted and limit.s.adds == 0 and limit.s.count >= most then
        group.accepted = false
        full = full or group.refuses ~= ${Refuses.NEVER}
      end
    end
    if group.accepted then hold(group, 1) end
    if group.refuses == ${Refuses.TOGETHER} then
      quota = quota + 1
      if not group.accepted then exceeding = exceeding + 1 end
    elseif group.refuses == ${Refuses.ALWAYS} and exceeds then
      refused = true
    end
  end
  if full or refused or (quota > 0 and quota == exceeding) then
    for _, group in ipairs(groups) do
      if group.accepted then hold(group, -1) end
    end
  end
end

local function charge(s, q, hits)
  if hits == 0 then return end
  apply(s, q, hits)
  s.charged = true
end

-- COMMIT and CANCEL
local function finishHolds()
  for _, group in ipairs(groups) do
    for _, limit in ipairs(group.limits) do
      local s = limit.s
      if s.committed == 0 then
        if id ~= '' and not s.finished then
          s.finished = true
          s.held = max(s.held - s.own, 0)
          if s.own > 0 then s.count = max(s.count - 1, 0) end
        end
        if step == ${Step.COMMIT} then charge(s, limit.q, group.hits) end
      end
    end
  end
end

local function write(s)
  if s.charged and isUnused(s, s.q) then s.at, s.level, s.previous = 0, 0, 0 end
  if s.charged or s.written then writeState(s.key, s) end
  if s.adds > 0 then
    local ends = s.now + ttl
    local untilAt = s.windowEnd > 0 and min(ends, s.windowEnd) or ends
    s.count = s.count + 1
    redis.call('HSET', s.holds, id, text(s.adds) .. ' ' .. text(untilAt) .. ' ' .. text(ends))
    redis.call('ZADD', s.ends, text(untilAt), id)
  end
  if s.finished then
    if s.known == 1 then
      redis.call('HDEL', s.holds, id)
      redis.call('ZREM', s.ends, id)
    end
    redis.call('ZADD', s.commits, text(s.now + ${REMEMBERED}), id)
    redis.call('ZREMRANGEBYSCORE', s.commits, '-inf', text(s.now))
    redis.call('ZREMRANGEBYRANK', s.commits, 0, -${MAX_COMMITS + 1})
    redis.call('EXPIRE', s.commits, text(${KEPT} + jitter))
  end
  if s.adds > 0 or s.ended or s.finished and s.known == 1 then
    if s.unreported == 0 and redis.call('EXISTS', s.ends) == 0 then
      redis.call('DEL', s.holds)
    else
      local sum = text(s.sum or s.held)
      redis.call('HSET', s.holds, 'sum', sum, 'count', text(s.count), 'ended', text(s.unreported))
      if s.adds > 0 then
        redis.call('EXPIRE', s.holds, text(${KEPT_HOLDS} + jitter))
        redis.call('EXPIRE', s.ends, text(${KEPT_HOLDS} + jitter))
      end
    end
  end
end

local function settle()
  local usable = true
  for _, s in ipairs(states) do
    read(s)
    usable = usable and s.level
  end
  if usable then
    if step == ${ACQUIRE_STEP} then
      together(holdBack, groups)
    elseif step == ${Step.RESERVE} then
      reserve()
    elseif step == ${Step.REPORT} then
      for _, group in ipairs(groups) do
        for _, limit in ipairs(group.limits) do charge(limit.s, limit.q, group.hits) end
      end
    elseif step == ${Step.COMMIT} or step == ${Step.CANCEL} then
      finishHolds()
    end
  end
  for _, s in ipairs(states) do write(s) end
end

local key, steps = 0, 1
while next < many do
  steps = steps + 1
  id = ARGV[steps]
  asked, step, holdBack = arg(), arg(), arg()
  ttl, most, states, groups = arg(), arg(), {}, {}
  local counters, number = arg(), arg()
  for i = 1, counters do
    local s = readState(KEYS[key + 1], quotas[arg()])
    s.key, s.holds, s.ends, s.commits = KEYS[key + 1], KEYS[key + 2], KEYS[key + 3], KEYS[key + 4]
    s.windowEnd = arg()
    states[i] = s
    key = key + ${KEYS_PER_COUNTER}
  end
  for i = 1, number do
    local group = { refuses = arg(), hits = arg(), limits = {} }
    for j = 1, arg() do
      group.limits[j] = { s = states[arg()], q = quotas[arg()] }
    end
    groups[i] = group
  end
  local first = #out
  local isSettled, failure = pcall(settle)
  if not isSettled then
    local message = type(failure) == 'table' and failure.err or tostring(failure)
    if not string.find(message, 'WRONGTYPE', 1, true) then
      -- Servers put a position before the code.
      return redis.error_reply(string.match(message, '%u+ .*') or 'ERR ' .. message)
    end
    -- A fault in one caller's keys must not block the other callers.
    for i = 1, counters * ${WORDS_PER_COUNTER} do out[first + i] = ${UNUSABLE} end
  end
end
return pack(out, #out)`);
