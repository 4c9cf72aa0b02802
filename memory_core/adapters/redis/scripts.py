"""What must happen in one step inside Redis, as Lua.

KEYS come in pairs: entries (hash), order (sorted set); where something is written back, the set of erased epochs is the third.

The stamp lives in the hash as two fields that no memory id can have (`#` is forbidden in ids). It says: no memory that a commit
up to `#sequence` removed or changed is in this set in its old form. So adding never raises it; only a drop or a rebuild does.
Note: raising it with every save would make a set whose drop was lost look good again.

A third field, `#renewed`, says when both keys were given their time to live. Adding gives it again only when a 24th of it has passed:
each command costs the in-process Redis 0.03 ms. Sequences stay below 2^53, so Lua's doubles compare them exactly.
"""

from __future__ import annotations

RECALL = """
local stamp = redis.call('HMGET', KEYS[1], '#epoch', '#sequence')
if not stamp[1] then return {false, false, {}} end
local ids = redis.call('ZREVRANGE', KEYS[2], 0, tonumber(ARGV[1]) - 1)
if #ids == 0 then return {stamp[1], stamp[2], {}} end
return {stamp[1], stamp[2], redis.call('HMGET', KEYS[1], unpack(ids))}
"""
"""ARGV: limit (≥ 1). Answers {epoch, sequence, entries newest first}."""

REMEMBER = """
local entries, order = KEYS[1], KEYS[2]
if redis.call('SISMEMBER', KEYS[3], ARGV[1]) == 1 then return 0 end
local epoch, sequence, cap, ttl, now = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local held, places = {}, {}
for i = 6, #ARGV, 3 do
  local n = #held
  held[n + 1], held[n + 2], places[n + 1], places[n + 2] = ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i]
end
local added = #held / 2
local stamp = redis.call('HMGET', entries, '#epoch', '#sequence', '#renewed')
local age = now - tonumber(stamp[3] or 0)
local renew = age < 0 or age * 24 >= ttl
if stamp[1] and stamp[1] == epoch then
  if tonumber(sequence) < tonumber(stamp[2]) then return 0 end
  redis.call('HSET', entries, '#renewed', renew and now or stamp[3], unpack(held))
else
  redis.call('DEL', entries, order)
  redis.call('HSET', entries, '#epoch', epoch, '#sequence', sequence, '#renewed', now, unpack(held))
end
redis.call('ZADD', order, unpack(places))
local count = redis.call('ZCARD', order)
if count > cap then
  local oldest = redis.call('ZPOPMIN', order, count - cap)
  for i = 1, #oldest, 2 do redis.call('HDEL', entries, oldest[i]) end
elseif count == added and redis.call('HLEN', entries) > 3 + added then
  -- the server evicted the order and kept the hash: what is in no order would never leave
  redis.call('DEL', entries)
  redis.call('HSET', entries, '#epoch', stamp[1], '#sequence', stamp[2], '#renewed', now, unpack(held))
end
if renew or count == added then
  redis.call('EXPIRE', entries, ttl)
  redis.call('EXPIRE', order, ttl)
end
return 1
"""
"""ARGV: epoch, commit's sequence, cap, TTL and the present in seconds, then id, entry, place in the order of each memory.

0: refused, older than the set's stamp, or of an erased epoch.
"""

DROP = """
local epoch, sequence, previous = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
for pair = 1, #KEYS, 2 do
  local entries, order = KEYS[pair], KEYS[pair + 1]
  local stamp = redis.call('HMGET', entries, '#epoch', '#sequence')
  if stamp[1] and stamp[1] == epoch and tonumber(stamp[2]) >= previous then
    for i = 4, #ARGV do
      redis.call('HDEL', entries, ARGV[i])
      redis.call('ZREM', order, ARGV[i])
    end
    if tonumber(stamp[2]) < sequence then redis.call('HSET', entries, '#sequence', ARGV[2]) end
  else
    redis.call('DEL', entries, order)
  end
end
return 1
"""
"""ARGV: epoch, commit's sequence, the removal before it, then the memory ids. A set that missed that removal is deleted."""

REBUILD = """
local entries, order = KEYS[1], KEYS[2]
if redis.call('SISMEMBER', KEYS[3], ARGV[1]) == 1 then return 0 end
local epoch, sequence, ttl, now = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local stamp = redis.call('HMGET', entries, '#epoch', '#sequence')
local newer = {}
if stamp[1] and stamp[1] == epoch then
  if tonumber(sequence) < tonumber(stamp[2]) then return 0 end
  -- what was saved after the rebuild had read is not in it, and must not go with the old set
  local ids = redis.call('ZRANGEBYSCORE', order, '(' .. sequence, '+inf', 'WITHSCORES')
  for i = 1, #ids, 2 do newer[#newer + 1] = {ids[i], redis.call('HGET', entries, ids[i]), ids[i + 1]} end
end
redis.call('DEL', entries, order)
redis.call('HSET', entries, '#epoch', epoch, '#sequence', sequence, '#renewed', now)
for _, kept in ipairs(newer) do
  if kept[2] then
    redis.call('HSET', entries, kept[1], kept[2])
    redis.call('ZADD', order, kept[3], kept[1])
  end
end
for i = 5, #ARGV, 3 do
  redis.call('HSET', entries, ARGV[i], ARGV[i + 1])
  redis.call('ZADD', order, ARGV[i + 2], ARGV[i])
end
redis.call('EXPIRE', entries, ttl)
redis.call('EXPIRE', order, ttl)
return 1
"""
"""ARGV: epoch, sequence it was read at, TTL and the present in seconds, then id, entry, place of each memory.

0: refused, since there is a newer set, or since it is of an erased epoch.
"""

TAKE = """
if redis.call('EXISTS', KEYS[2]) == 0 then
  if redis.call('EXISTS', KEYS[1]) == 0 then return {} end
  redis.call('RENAME', KEYS[1], KEYS[2])
  redis.call('HSET', KEYS[2], '#flush', ARGV[1])
end
return redis.call('HGETALL', KEYS[2])
"""
"""Accesses that wait are set apart whole under an attempt's id, unless those of an attempt are set apart already. KEYS: waiting, apart."""

TAKEN = """
if redis.call('HGET', KEYS[1], '#flush') == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
"""
"""An attempt's accesses are written down, by it or by another that took them over. KEYS: apart."""
