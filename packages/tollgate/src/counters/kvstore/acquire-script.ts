/**
 * The script that decides groups of limits. It does what `acquire.ts` and `algorithms/` do, with the same steps in the
 * same doubles: Lua has no integers. The reply has the stored states, and Tollgate repeats the decision on them
 * (`acquire-call.ts`). So the script returns no results, and the pure algorithms define every answer.
 */
import { makeScript } from "./scripts.ts";
import { MUL_DIV, STATES_LUA, TOGETHER_LUA, UNUSABLE } from "./states-script.ts";

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
 *   - minus the number of limits, hits, times, keys: so many equal groups of several limits, each with its key's quota
 *   - 0, hold back, number of groups; for each group: refuses, hits, number of limits; for each limit: key, quota
 *
 * A state is the text `count`, `count instant previous` (sliding window), or `parts instant` and with granted tokens
 * `parts instant granted` (bucket). The reply is the present, and the stored words of each key: 1 integer for a fixed
 * window, else 3; zeros for a missing key, or {@link UNUSABLE} first.
 */
export const acquireScript = makeScript(`${MUL_DIV}
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

${STATES_LUA}
${TOGETHER_LUA}
local quotas = {}
for i = 1, tonumber(ARGV[3]) do quotas[i] = readQuota(arg(), arg(), arg(), arg()) end

local states, out = {}, { now }
for i = 1, #KEYS do
  local q = quotas[arg()]
  local kind, s = q.kind, readState(KEYS[i], q)
  states[i] = s
  local words = #out
  if s.level then
    out[words + 1] = s.level
    if kind >= 3 then out[words + 2], out[words + 3] = s.at, s.previous end
    advance(s, q)
  else
    out[words + 1] = kind == 4 and 0 or ${UNUSABLE}
    if kind >= 3 then out[words + 2], out[words + 3] = ${UNUSABLE}, 0 end
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

local function takeList(limits, hits, times)
  for i = 1, #limits do
    if not limits[i].level then return end
  end
  for _ = 1, times do
    local accepted = true
    for i = 1, #limits do
      local s = limits[i]
      advance(s, s.q)
      s.changed = false
      if hits >= 0 and not accepts(s, s.q, hits) then accepted = false end
    end
    if not accepted then return end
    for i = 1, #limits do
      local s = limits[i]
      if hits ~= 0 then apply(s, s.q, hits) end
      finish(s, s.q)
    end
  end
end

while next < #ARGV do
  local key = arg()
  if key > 0 then
    take(states[key], states[key].q, arg(), arg())
  elseif key < 0 then
    local hits, times, limits = arg(), arg(), {}
    for i = 1, -key do limits[i] = states[arg()] end
    takeList(limits, hits, times)
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
  if states[i].written then writeState(KEYS[i], states[i]) end
end
return out`);
