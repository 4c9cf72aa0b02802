"""Starts an Azurite, says where it is, and waits to be killed: what its starter's death leaves
behind can only be seen from outside.
"""

from __future__ import annotations

import signal
import sys
from pathlib import Path

from tests.azurite_server import AzuriteServer


def main() -> None:
    """The first argument is the folder to keep things in."""
    server = AzuriteServer(Path(sys.argv[1]))
    server.start()
    sys.stdout.write(server.connection_string + "\n")
    sys.stdout.flush()
    signal.pause()


if __name__ == "__main__":
    main()
