"""A llama.cpp server as a process of its own: prints its address, and ends when its
standard input does.

Started by `llama_server` with the packages on its path: `python llama_process.py MODEL PREFIX`.
"""

from __future__ import annotations

import sys

import xllamacpp

SLOT_TOKENS = 4096


def main() -> None:
    params = xllamacpp.CommonParams()
    params.model.path, params.api_prefix = sys.argv[1:3]
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_parallel = 1
    params.n_ctx = SLOT_TOKENS
    params.sampling.seed = 7
    # threads of llama.cpp wait for each other busily: two on cores that others use too are twenty
    # times slower than one
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(params)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main()
