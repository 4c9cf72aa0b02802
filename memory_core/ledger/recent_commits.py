"""The last commits of this process, by user.

That is the head, and the events since some earlier head. Note: events hold whole memories, 3 KB
each as measured. So the events of all users together are limited, and the user with the oldest
commit is dropped first.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterable

from memory_core.domain.memory import Event, Head
from memory_core.domain.scope import Owner

OF_A_USER, OF_ALL = 256, 2_048
"""Events that are kept. They serve calls under way, which decided on an earlier head: at 600 events
a second the last three seconds, 6 MB. Missing events are read from the store.
"""


class RecentCommits:
    """The last commits of the most recent users."""

    def __init__(self, of_a_user: int = OF_A_USER, of_all: int = OF_ALL) -> None:
        self._of_a_user, self._of_all = of_a_user, of_all
        self._users: OrderedDict[Owner, tuple[Head, deque[Event]]] = OrderedDict()
        self._count = 0

    @property
    def count(self) -> int:
        """The number of kept events of all users."""
        return self._count

    def add(self, owner: Owner, head: Head, events: Iterable[Event]) -> None:
        """Keep a commit; events of another epoch are dropped.

        Args:
            owner: Whose commit it is.
            head: After the commit.
            events: Events of the commit, in order.

        """
        known, recent = self._users.pop(owner, (head, deque(maxlen=self._of_a_user)))
        self._count -= len(recent)
        if known.epoch != head.epoch:
            recent.clear()
        recent.extend(events)
        self._count += len(recent)
        self._users[owner] = (head, recent)
        while self._count > self._of_all and len(self._users) > 1:
            self._count -= len(self._users.popitem(last=False)[1][1])

    def head(self, owner: Owner) -> Head | None:
        """The head of the user's last commit by this process, if it is kept."""
        known = self._users.get(owner)
        return None if known is None else known[0]

    def events(self, owner: Owner) -> Iterable[Event]:
        """The user's events that are kept, in order."""
        known = self._users.get(owner)
        return () if known is None else known[1]

    def forget(self, owner: Owner) -> None:
        """Drop the commits of a user."""
        known = self._users.pop(owner, None)
        self._count -= 0 if known is None else len(known[1])
