"""The long-term store's whole contract, on a real account."""

from __future__ import annotations

import pytest

from tests.contract.test_long_term_across import *  # noqa: F403
from tests.contract.test_long_term_commit import *  # noqa: F403
from tests.contract.test_long_term_reads import *  # noqa: F403
from tests.contract.test_long_term_search import *  # noqa: F403

pytestmark = pytest.mark.live
