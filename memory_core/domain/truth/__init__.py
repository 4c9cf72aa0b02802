"""Truth: which of several statements of one slot holds, and when.

A slot holds one truth at a time: a user's (subject, attribute) of semantic facts, a `key` of
procedures; a semantic memory without either is alone in one. Its log is a list of entries
(`entries`), `resolve` makes a `Timeline` of it, and `evolution.truth_projection` the stored
fields of every member. Nothing here reads a clock or a store.

At a moment, of the values said to have begun by then, the one said last holds, ties by sequence;
until its end (after a span that was over, what held before goes on), or until a retraction of it
that was said later. Each assertion, in the order of saying, overwrites:

=====================================================  ================================================================================
an assertion                                           overwrites
=====================================================  ================================================================================
without a stated end                                   all from its `valid_from` on
that repeats what holds, with no end or the same       as far as that holds
that edits a memory which held when it was edited      as far as that, or what took its place, holds
that edits a memory which did not (`corrects_past`)    the last interval of the edited version
that edits, and was trimmed by an undo                 its own memory where that holds
whose stated end had passed when it was said           its interval; what held before goes on after it
whose stated end lay ahead                             all from its `valid_from` on, but what begins at that end or later
=====================================================  ================================================================================

A repeat is a statement of the value that holds at the later of its `asserted_at` and `valid_from`.
A retraction overwrites the value that it names, and every wording of it that was edited; said from
at or before an assertion's `valid_from` it voids that assertion, as if it had not been said. One
that names nothing ends what holds at its `valid_from`, nothing announced. As a memory a retraction
holds where it ended something and nothing else holds, and in the gap that it is said into. A hidden
statement overwrites only what was saved before it was hidden. A pair does not overwrite each other,
unless the values are equal.

How it is used, in one commit:

1. `evolution.slot_log` reads the slot's document by its id: the log, perhaps a `Seal` of its oldest
   part, which is read where the seal does not do without.
2. What `evolution.truth_commands` says of an operation is added, with the sequence of the commit. A
   statement of a value that holds takes the id and version of the memory that has it (a mention);
   any other is a new memory, or of a key the next version.
3. `evolution.slot_commits` compares the projections before and after, reads the members that differ
   by id, and writes these with the slot under its own If-Match, in one batch. An earlier interval
   is a superseded memory with a derived id. A status of archived, decayed or compressed stays.

Note: `now` alone lets a projection change with an unchanged log, where an interval ends;
the hourly run writes that.
"""  # noqa: E501
