/**
 * The script that decides groups of limits. It does what `acquire.ts` and `algorithms/` do, with the same steps in the
 * same doubles: Lua has no integers. The reply has the stored states, and Tollgate repeats the decision on them
 * (`acquire-call.ts`). So the script returns no results, and the pure algorithms define every answer.
 */
import { makeScript } from "./scripts.ts";
import { MUL_DIV, STATES_LUA, TOGETHER_LUA, UNUSABLE } from "./states-script.ts";
import { CHUNK, PACK_WORDS, READ_WORDS } from "./words-script.ts";

/** The script's arguments: one text of packed words. */
export const ACQUIRE_ARGS = 1;

/**
 * The argument and the reply are words: integers as doubles of 8 bytes, the low byte first. The argument is
 *
 * - the present in microseconds, 0 for the server's clock; seconds that a key outlives its state; number of quotas
 * - for each quota: kind, limit, burst, window size in seconds
 * - 1 if steps follow the runs, else 0
 * - runs, which have all keys in order: number of limits, hits, times; for each limit the quota of the next key. So many
 *   equal groups of one limit, or of several ones, which are the first groups of their keys. 0 times: the run only reads.
 * - steps, each one of
 *   - key, hits, times: so many equal groups of one limit
 *   - minus the number of limits, hits, times, keys: so many equal groups of several limits, each with its key's quota
 *   - 0, hold back, number of groups; for each group: refuses, hits, number of limits; for each limit: key, quota
 *
 * A state is the text `count`, `count instant previous` (sliding window), or `parts instant` and with granted tokens
 * `parts instant granted` (bucket). The reply is the present, and the stored words of each key: 1 word for a fixed
 * window, else 3; zeros for a missing key, or {@link UNUSABLE} first.
 */
export const acquireScript = makeScript(`
${READ_WORDS}
local now, jitter, quotas = arg(), arg(), {}
if now == 0 then
  local time = redis.call('TIME')
  now = time[1] * 1000000 + time[2]
end
${MUL_DIV}
${STATES_LUA}
${TOGETHER_LUA}

local texts = {}
for first = 1, #KEYS, ${CHUNK} do
  local last = min(first + ${CHUNK - 1}, #KEYS)
  local chunk = call('MGET', unpack(KEYS, first, last))
  if first == 1 then texts = chunk else for i = first, last do texts[i] = chunk[i - first + 1] end end
end

local function valueOf(key)
  -- MGET answers nothing for a key of another type, either.
  return texts[key] or redis.pcall('GET', KEYS[key])
end

local out, filled = { now }, 1
local function reply(q, level, at, previous)
  filled = filled + 1
  if q.kind < 3 then
    out[filled] = level or ${UNUSABLE}
  else
    out[filled], out[filled + 1], out[filled + 2] = level or 0, at or ${UNUSABLE}, previous or 0
    filled = filled + 2
  end
end

-- The values of a state after equal groups of one limit, and whether they have changed.
local function taken(q, level, at, previous, hits, times)
  if q.kind > 2 then level, at, previous = advanced(q, level, at, previous) end
  local changed = false
  for _ = 1, times do
    if hits >= 0 and not isAccepted(q, level, at, previous, hits) and q.kind ~= 1 then break end
    if hits ~= 0 then
      level, previous = applied(q, level, previous, hits)
      changed = true
    end
  end
  return level, at, previous, changed
end

-- Equal groups of one limit whose key has no others.
local function takeAlone(key, value, q, hits, times)
  local level, at, previous, stored = parse(q, value)
  reply(q, level, at, previous)
  if not level then return end
  local changed
  level, at, previous, changed = taken(q, level, at, previous, hits, times)
  if changed then write(key, q, level, at, previous, not value, stored) end
end

local function take(s, q, hits, times)
  if not s.level then return end
  s.level, s.at, s.previous, s.changed = taken(q, s.level, s.at, s.previous, hits, times)
  finish(s, q)
end

local function takeList(limits, length, hits, times)
  for i = 1, length do
    if not limits[i].level then return end
  end
  for i = 1, length do advance(limits[i], limits[i].q) end
  for _ = 1, times do
    for i = 1, length do
      if hits >= 0 and not accepts(limits[i], limits[i].q, hits) then times = 0 end
    end
    if times == 0 then break end
    if hits ~= 0 then
      for i = 1, length do apply(limits[i], limits[i].q, hits) end
    end
  end
  for i = 1, length do finish(limits[i], limits[i].q) end
end

for i = 1, arg() do quotas[i] = readQuota(arg(), arg(), arg(), arg()) end
local hasSteps = arg() == 1

-- Without steps, no state is needed after its run.
local states, run, key = {}, {}, 0
local function writeStates(first, last)
  for i = first, last do
    if states[i].written then writeState(KEYS[i], states[i]) end
  end
end
while key < #KEYS do
  local length, hits, times = words[next + 1], words[next + 2], words[next + 3]
  next = next + 3
  if length == 1 and not hasSteps then
    takeAlone(KEYS[key + 1], valueOf(key + 1), quotas[words[next + 1]], hits, times)
  else
    for i = 1, length do
      local s = hasSteps and newState() or run[i] or newState()
      fill(s, valueOf(key + i), quotas[words[next + i]])
      reply(s.q, s.level, s.at, s.previous)
      run[i], states[key + i] = s, s
    end
    if length == 1 then take(run[1], run[1].q, hits, times) else takeList(run, length, hits, times) end
    if not hasSteps then writeStates(key + 1, key + length) end
  end
  next = next + length
  key = key + length
end

local function takeStep()
  local key = arg()
  if key > 0 then
    take(states[key], states[key].q, arg(), arg())
  elseif key < 0 then
    local hits, times, limits = arg(), arg(), {}
    for i = 1, -key do limits[i] = states[arg()] end
    takeList(limits, -key, hits, times)
  else
    local holdBack, groups = arg(), {}
    for i = 1, arg() do
      local group = { refuses = arg(), hits = arg(), limits = {} }
      for j = 1, arg() do
        group.limits[j] = { s = states[arg()], q = quotas[arg()] }
      end
      groups[i] = group
    end
    together(holdBack, groups)
  end
end

while next < many do takeStep() end
if hasSteps then writeStates(1, #KEYS) end
${PACK_WORDS}
return pack(out, filled)`);
