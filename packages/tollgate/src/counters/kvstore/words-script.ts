/** Parts of scripts whose argument and reply are words: see `resp/words.ts`. */

/** Words that a script packs or unpacks at once: a Lua function can return 8,000 values. */
export const CHUNK = 4000;

/** Unpacks the first argument: `many` words in `words`. `arg()` returns the next word, after `next`. */
export const READ_WORDS = `
local packed, words, next = ARGV[1], {}, 0
local many = #packed / 8
for first = 1, many, ${CHUNK} do
  local size = math.min(${CHUNK}, many - first + 1)
  local chunk = { struct.unpack('<' .. string.rep('d', size), packed, 8 * first - 7) }
  if first == 1 then words = chunk else for i = 1, size do words[first + i - 1] = chunk[i] end end
end
local function arg()
  next = next + 1
  return words[next]
end`;

/** Packs a list of integers as the reply. */
export const PACK_WORDS = `
local function pack(list, length)
  local texts = {}
  for first = 1, length, ${CHUNK} do
    local last = math.min(first + ${CHUNK - 1}, length)
    texts[#texts + 1] = struct.pack('<' .. string.rep('d', last - first + 1), unpack(list, first, last))
  end
  return table.concat(texts)
end`;
