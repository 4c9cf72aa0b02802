"""Memory Core: long-term memory for AI agents."""

import os

__version__ = "0.1.0"

# Read by numpy's BLAS when it is loaded, so it is set here, before anything imports numpy. Our
# products are small and run in a few threads of their own; BLAS's threads beside them wait for one
# another, and took forty times as long for one text's states on a busy machine.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
