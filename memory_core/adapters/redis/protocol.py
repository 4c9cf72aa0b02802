"""The data in Redis: names of keys, scripts, and memories as bytes.

Every part of a key is percent-encoded, so that no id can reach into another owner's keys (`a:b` +
`c` is not `a` + `b:c`). The braces are a Redis Cluster hash tag: all keys of an owner are in a
single slot, as the scripts over several keys need.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from urllib.parse import quote, unquote

import lz4.block
import numpy as np
import orjson

from memory_core.domain.errors import PlainError, described
from memory_core.domain.memory import Memory, Vector
from memory_core.domain.scope import Owner

SESSION_TTL_S = 24 * 3600
"""Counted from the last write. A read does not prolong it."""
VECTOR_TTL_S = 24 * 3600
ERASED_TTL_S = 8 * 24 * 3600
"""How long erased epochs are remembered.

This is longer than the life of any message in a queue, and so of any worker that it wakes.
"""
SESSION_CAP = 500
CHECKED = "mc:checked"
"""The key that readiness writes, to check that writes are accepted."""
CHECKED_TTL_S = 60
ACCESSES_TTL_S = 7 * 24 * 3600
"""Accesses that no worker wrote for so long are dropped."""


@dataclass(frozen=True, slots=True)
class SessionKeys:
    """The two keys of a session's working set.

    Attributes:
        entries: The entries (a hash).
        order: Their order (a sorted set by sequence).

    """

    entries: str
    order: str


def session_keys(owner: Owner, session_id: str) -> SessionKeys:
    """The keys `mc:{app:user}:session:<id>:entries` and `…:order`.

    Args:
        owner: The owner of the session.
        session_id: The session.

    """
    base = f"mc:{{{_part(owner.app_id)}:{_part(owner.user_id)}}}:session:{_part(session_id)}"
    return SessionKeys(f"{base}:entries", f"{base}:order")


def owner_pattern(owner: Owner) -> str:
    """The pattern of all keys of an owner.

    Only the star in it is special, since encoded parts have no other special characters.
    """
    return f"mc:{{{_part(owner.app_id)}:{_part(owner.user_id)}}}:*"


def erased_key(owner: Owner) -> str:
    """The key `mc:{app:user}:erased` of the epochs whose memories are refused."""
    return f"mc:{{{_part(owner.app_id)}:{_part(owner.user_id)}}}:erased"


@dataclass(frozen=True, slots=True)
class AccessKeys:
    """The keys of an owner's accesses.

    Attributes:
        waiting: The accesses that wait (a hash by memory id).
        apart: The accesses that are set aside.

    """

    waiting: str
    apart: str


GATHERED = "mc:touched"
"""The set of owners with accesses that wait."""


def access_keys(owner: Owner) -> AccessKeys:
    """The keys `mc:{app:user}:touches` and `…:touches:apart`."""
    base = f"mc:{{{_part(owner.app_id)}:{_part(owner.user_id)}}}:touches"
    return AccessKeys(base, f"{base}:apart")


def owner_name(owner: Owner) -> str:
    """An owner as a member of the set of owners."""
    return f"{_part(owner.app_id)}:{_part(owner.user_id)}"


def owner_of(name: str) -> Owner:
    """The owner of such a name."""
    app_id, _, user_id = name.partition(":")
    return Owner(unquote(app_id), unquote(user_id))


def vector_key(key: str) -> str:
    """The key `mc:vector:<key>`.

    It belongs to no owner, since `key` is already a hash of the model and the text.
    """
    return f"mc:vector:{_part(key)}"


def _part(value: str) -> str:
    return quote(value, safe="")


# Lua scripts, for changes that must be atomic in Redis.
#
# KEYS come in pairs: entries (hash), order (sorted set). Scripts that write back have the set of
# erased epochs as the third key.
#
# The stamp is in the hash as two fields that no memory id can have (`#` is forbidden in ids). It
# means: no memory that a commit up to `#sequence` removed or changed is in this set in its old
# form. So only a drop or a rebuild raises it, and adding never does. Note: if each save raised it,
# a set whose drop was lost would look valid again.
#
# A third field, `#renewed`, is the time when both keys last got their time to live. Adding renews
# it only after a 24th of it has passed, which saves two commands for nearly every turn. Sequences
# stay below 2^53, so Lua's doubles compare them exactly.


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
"""  # noqa: E501
"""ARGV: epoch, the commit's sequence, cap, TTL and the present in seconds.

Then follow the id, the entry and the place in the order of each memory. Answers 0 when refused: the
commit is older than the set's stamp, or the epoch is erased.
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
"""ARGV: epoch, the commit's sequence, the removal before it, then the memory ids.

A set that missed that removal is deleted.
"""

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
"""  # noqa: E501
"""ARGV: epoch, the sequence of the read, TTL and the present in seconds.

Then follow the id, the entry and the place of each memory. Answers 0 when refused: there is a newer
set, or the epoch is erased.
"""

TAKE = """
if redis.call('EXISTS', KEYS[2]) == 0 then
  if redis.call('EXISTS', KEYS[1]) == 0 then return {} end
  redis.call('RENAME', KEYS[1], KEYS[2])
  redis.call('HSET', KEYS[2], '#flush', ARGV[1])
end
return redis.call('HGETALL', KEYS[2])
"""
"""Set all waiting accesses aside under an attempt's id.

If accesses of an attempt are set aside already, these are returned. KEYS: waiting, apart.
"""

TAKEN = """
if redis.call('HGET', KEYS[1], '#flush') == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
"""
"""Delete the accesses of an attempt that are written.

The attempt itself wrote them, or another attempt that took them over. KEYS: apart.
"""


def rate_key(app_id: str, name: str, key: str) -> str:
    """The key `mc:{app}:rate:<limit>:<key>` of the moment when a bucket is full again.

    All buckets of an app are in a single slot, as they are counted together.

    Args:
        app_id: The app.
        name: The name of the limit.
        key: The key of the bucket.

    """
    return f"mc:{{{_part(app_id)}}}:rate:{_part(name)}:{_part(key)}"


SPEND = """
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local ahead, refused = {}, false
for i, key in ipairs(KEYS) do
  local full = tonumber(redis.call('GET', key) or now)
  if full < now then full = now end
  ahead[i] = full - now
  local length = ARGV[2 * i] * 1000000
  if ahead[i] + length / ARGV[2 * i - 1] > length + 1 then refused = true end
end
local answer = {refused and 0 or 1}
for i, key in ipairs(KEYS) do
  if not refused then
    local length = ARGV[2 * i] * 1000000
    ahead[i] = ahead[i] + length / ARGV[2 * i - 1]
    redis.call('SET', key, string.format('%.0f', now + ahead[i]), 'PX', math.ceil(ahead[i] / 1000) + 1)
  end
  answer[i + 1] = math.floor(ahead[i])
end
return answer
"""  # noqa: E501
"""Take a token of each bucket, or of none.

KEYS: buckets. ARGV: the requests and the seconds of each bucket. Answers 1 or 0, and the
microseconds until each is full.
"""


# A memory as bytes, as working sets hold it.
#
# Layout: format byte, little-endian uint16 dimensions (0 = no vector), that many float32, then LZ4
# of the document as JSON. Measured on a chat turn with 384 dimensions: 2.1 KB, of which the vector
# takes 1.5 KB; 12 µs to write, 12 µs to read. The vector is not compressed, since that gains
# nothing. It is float32, since with float16 the same memory would get other scores from other
# stores.


_FORMAT = 1
_HEADER = struct.Struct("<BH")


def to_bytes(memory: Memory) -> bytes:
    """The memory with its embedding, as bytes.

    Fields with their default value are left out, which halves the JSON.
    """
    vector = b"" if memory.embedding is None else vector_to_bytes(memory.embedding)
    document = orjson.dumps(memory.model_dump(exclude_defaults=True))
    compressed: bytes = lz4.block.compress(document)
    return _HEADER.pack(_FORMAT, len(vector) // 4) + vector + compressed


def from_bytes(data: bytes) -> Memory:
    """The memory in an entry.

    Raises ValueError when these bytes are not an entry, or an entry of another version of the
    program.
    """
    if len(data) < _HEADER.size:
        raise ValueError("an entry of the working set is cut short")
    form, dimensions = _HEADER.unpack_from(data)
    start = _HEADER.size + 4 * dimensions
    if form != _FORMAT or len(data) <= start:
        raise PlainError(
            f"an entry of the working set has the unknown format {form} or is cut short"
        )
    try:
        document = lz4.block.decompress(data[start:])
    except lz4.block.LZ4BlockError as error:
        raise PlainError(
            f"an entry of the working set can't be decompressed: {described(error)}"
        ) from error
    memory = Memory.model_validate_json(document)
    if dimensions:
        memory.embedding = vector_from_bytes(data[_HEADER.size : start])
    return memory


def vector_to_bytes(vector: Vector) -> bytes:
    """Little-endian float32, 4 bytes a dimension."""
    return vector.astype("<f4").tobytes()


def vector_from_bytes(data: bytes) -> Vector:
    """The vector in bytes, read-only and without a copy.

    Raises ValueError when the length is not a whole number of float32.
    """
    return np.frombuffer(data, dtype="<f4")
