"""Sealed parts: the oldest statements of a long log leave it, and their painting stays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from memory_core.domain.truth.entries import Account, Entry, Hiding, Merge, Pair, Place, Retraction, Statement, Withdrawal
from memory_core.domain.truth.resolve import Seal, members_of, paint
from memory_core.domain.truth.timeline import State


def seal_oldest(log: Sequence[Entry], count: int, before: Seal | None = None) -> tuple[Seal, list[Entry], list[Entry]] | None:
    """Seal the statements that were said first, with the withdrawals and deletions that concern only these.

    Args:
        log: all entries that are not sealed yet.
        count: how many statements to seal.
        before: the seal that there is already.

    Returns:
        The new seal, the entries of the sealed part and those that stay; None if the rest cannot be resolved without these
        statements. Ask for another count then.

    """
    statements = sorted((one for one in log if isinstance(one, Statement)), key=lambda one: one.order)
    if not 0 < count <= len(statements):
        return None
    oldest, rest = statements[:count], statements[count:]
    seal = _seal_of(log, oldest, before)
    hidden_at = Account.of(log).hidden_at
    if any(one.place in hidden_at and hidden_at[one.place] < max(each.place for each in oldest) for one in rest):
        return None  # what such a statement repeats is decided by what the sealed ones covered
    if any(isinstance(one, Retraction) and one.valid_from <= seal.latest_start for one in rest):
        return None  # it may void what is sealed
    said = {(one.memory_id, one.version) for one in oldest} & {(one.memory_id, one.version) for one in rest}
    if any((one.memory_id, one.version) in said and one.place in hidden_at for one in statements):
        return None  # which of its statements was saved last decides whether the member is hidden
    gone = _sealed_places(log, oldest, {one.memory_id for one in rest})
    return seal, [one for one in log if one.place in gone], [one for one in log if one.place not in gone]


def _sealed_places(log: Sequence[Entry], oldest: Sequence[Statement], kept: set[str]) -> set[Place]:
    gone = {one.place for one in oldest}
    here = {one.place for one in log}
    for entry in sorted(log, key=lambda one: one.place):
        is_hiding = isinstance(entry, Hiding) and entry.memory_id not in kept
        if is_hiding or (isinstance(entry, Withdrawal) and all(place in gone or place not in here for place in entry.places)):
            gone.add(entry.place)
    return gone  # pairs and merges are few, and later statements ask for them


def _seal_of(log: Sequence[Entry], sealed: Sequence[Statement], before: Seal | None) -> Seal:
    account = Account.of(log)
    places = {one.place for one in sealed}
    only = replace(
        account,
        statements=[one for one in account.statements if one.place in places],
        withdrawn=[one for one in account.withdrawn if one.place in places],
    )
    painting = paint(only, before)
    names = {one.memory_id for one in sealed} | (before.memory_ids if before else frozenset())
    return Seal(
        through=max(chain((one.order for one in sealed), [before.through] if before else [])),
        last_place=max(one.place for one in log),
        latest_start=max(chain((one.valid_from for one in sealed), [before.latest_start] if before else [])),
        starts=tuple(painting.cells.starts),
        cells=tuple(tuple(replace(layer, beneath=None, ends_only=None) for layer in cell) for cell in painting.cells.cells),
        wordings=tuple(sorted(painting.wordings.items())),
        members=members_of(only, before),
        memory_ids=frozenset(names),
    )


def reaches_back(seal: Seal, log: Iterable[Entry], known_at: int | None = None) -> bool:
    """Whether the sealed parts have to be read to resolve a log.

    Args:
        seal: what the slot keeps of them.
        log: the entries that are not sealed, with those that are to be added.
        known_at: as of `resolve`.

    Returns:
        True also in some cases in which the seal would have sufficed.

    """
    if known_at is not None and known_at < seal.last_place[0]:
        return True
    here = {one.place: one for one in log}
    return any(_touches(one, seal, here) for one in here.values() if one.place > seal.last_place)


def _touches(entry: Entry, seal: Seal, here: Mapping[Place, Entry]) -> bool:
    if isinstance(entry, Hiding):
        return entry.memory_id in seal.memory_ids
    if isinstance(entry, Pair):
        return seal.memory_ids.issuperset(entry.memory_ids)
    if isinstance(entry, Merge):
        return not seal.memory_ids.isdisjoint(entry.memory_ids)
    if isinstance(entry, Withdrawal):
        return any(place not in here or _touches(here[place], seal, here) for place in entry.places)
    if isinstance(entry, Statement) and any(one.memory_id == entry.memory_id and one.state is State.MERGED for one in seal.members):
        return True
    if isinstance(entry, Retraction) and entry.valid_from <= seal.latest_start:
        return True
    return isinstance(entry, Statement) and entry.order < seal.through
