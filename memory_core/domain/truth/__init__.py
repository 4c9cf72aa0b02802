"""Truth: which of several statements of a slot holds, and when.

A slot holds a single truth at a time. It is a user's (subject, attribute) of semantic facts, or a
`key` of procedures. A semantic memory with neither has a slot of its own. The slot's log is a list
of entries (`entries`). `resolve` makes a `Timeline` of it, and `evolution.truth_projection` makes
the stored fields of every member. No module of this package reads a clock or a store.

At a moment, the values count that are said to have begun by then. The value that was said last
holds; ties are decided by sequence. It holds until its end, or until a retraction of it that was
said later. After a span that was over when it was said, the value before the span goes on. Each
assertion overwrites a part of the time, in the order of saying:

- Without a stated end: all time from its `valid_from` on.
- A repeat of the value that holds, with no end or the same end: as far as that value holds.
- An edit of a memory that held when it was edited: as far as that memory holds, or the value that
  took its place.
- An edit of a memory that did not hold then (`corrects_past`): the last interval of the edited
  version.
- An edit that was trimmed by an undo: its own memory where that holds. A trimmed mention, or a
  trimmed value of a key, overwrites nothing.
- With a stated end that had passed when it was said: its interval. The value before it
  goes on after it.
- With a stated end that was still ahead: all time from its `valid_from` on, except for intervals
  that begin at that end or later.

A repeat is a statement of the value that holds at the later of its `asserted_at` and `valid_from`.
A retraction overwrites the value that it names, and every wording of it that was edited. If it
starts at or before an assertion's `valid_from`, it voids that assertion, as if it had not been
said. A retraction that names no value ends the value that holds at its `valid_from`, and no value
that is only announced. As a memory, a retraction holds where it ended a value and no other value
holds, and in the gap that it is said into. A hidden statement overwrites only statements that were
saved before it was hidden; a deletion also withdraws what had not begun by then. The memories of a
pair do not overwrite each other, unless their values are equal.

A commit uses the package in three steps:

1. `evolution.slot_log` reads the slot's document by its id. The document holds the log, and perhaps
   a `Seal` of its oldest part. That part is read where the seal is not enough.
2. `evolution.truth_commands` gives the entries of an operation, `evolution.decisions` those of a
   decision. They are added with the sequence of the commit. A statement of a value that holds takes
   the id and version of the memory that has it (a mention). Any other statement is a new memory, or
   the next version of a key.
3. `evolution.slot_commits` compares the projections before and after, and reads the members that
   differ by id. It writes these with the slot under its own If-Match, in a single batch. An earlier
   interval is a superseded memory with a derived id. A status of archived, decayed or compressed
   stays.

Note: a projection can change while the log does not, where an interval ends as time passes. The
hourly run writes that.
"""
