"""The frameworks' own suites, taken from their source distributions, run on the adapters of
`memory_core_client`.

The plugins run in a suite's own process, where `tests` is the suite's package:
they import nothing of the project's.
"""

HOST_URL = "SUITE_HOST_URL"
"""The environment variable with the address of the host."""
EMBEDDER_PORT = "SUITE_EMBEDDER_PORT"
"""The one with the port at which the host expects the embeddings API."""
DIMENSIONS = 500
"""Of the suites' vectors."""
