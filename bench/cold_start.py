"""CPU time of a cold start on Azure, with byte code in the package and without:
`python -m bench.cold_start`.

The package is unpacked twice, once without its `__pycache__`, and run side by side by the Python
that it is built for: import of `function_app`, then the first retrieve with the SDKs of an app on
Azure, against the emulators of the tests. CPU time of that process alone, since wall time on a busy
machine says nothing; the package is read-only on Azure, so nothing is written beside it
here either.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import statistics
import subprocess
import tempfile
from pathlib import Path

from bench.tables import show
from deployment import bytecode, wheels
from deployment.package import NoPython, lay_out
from tests import azurite_server, cosmos_server
from tests.azure_stores import AzureStores
from tests.openai_server import OpenAIServer
from tests.served import serving

REPEATS = 5
DIMENSIONS = 512
CHILD = """
import asyncio, json, os, sys, time
began = time.process_time()
sys.path[:0] = [os.getcwd(), os.path.join(os.getcwd(), ".python_packages/lib/site-packages")]
import azure.functions as func
import function_app
functions = {one.get_function_name(): one.get_user_function() for one in function_app.app.get_functions()}
indexed = time.process_time()
body = json.dumps({"user_id": "ana", "query": "Where does Ana live?"}).encode()
headers = {"host": "127.0.0.1:7071", "content-type": "application/json"}
url = "http://127.0.0.1:7071/api/v1/memories/retrieve"
request = func.HttpRequest(method="POST", url=url, headers=headers, params={}, route_params={}, body=body)
answer = asyncio.run(functions["memories_retrieve"](request))
answered = time.process_time()
if answer.status_code != 200:
    sys.exit(answer.get_body().decode())
print(json.dumps([indexed - began, answered - began]), flush=True)
os._exit(0)
"""  # noqa: E501


def main() -> int:
    """Print the medians, side by side; 1 without a Python of Azure's version."""
    python = bytecode.interpreter(wheels.PYTHON)
    if python is None:
        raise NoPython(f"there is no Python {wheels.PYTHON}")
    with (
        tempfile.TemporaryDirectory() as place,
        cosmos_server.running() as cosmos,
        azurite_server.running() as azurite,
    ):
        embedder = OpenAIServer(DIMENSIONS)
        with serving(embedder):
            compiled = lay_out(Path(place) / "compiled", wheels.PYTHON)
            plain = Path(
                shutil.copytree(
                    compiled, Path(place) / "plain", ignore=shutil.ignore_patterns("__pycache__")
                )
            )
            stores = AzureStores()
            stores.cosmos, stores.azurite = cosmos, azurite
            asyncio.run(stores.provision(DIMENSIONS))
            settings = {name: value for name,
                value in stores.settings().items() if "REDIS" not in name} | {
                "MEMORY_SHORT_TERM": "none", "EMBEDDING_PROVIDER": "azure",
                "EMBEDDING_BASE_URL": embedder.root, "EMBEDDING_API_KEY": "a key",
                "MEMORY_AUTH": "off", "PYTHONDONTWRITEBYTECODE": "1",
            }  # fmt: skip
            seen: dict[Path, list[tuple[float, float]]] = {plain: [], compiled: []}
            for _ in range(REPEATS):
                for folder, seconds in seen.items():
                    seconds.append(_start(python, folder, settings))
    rows = []
    for place_in, heading in ((0, "import of function_app"), (1, "import and first retrieve")):
        without, with_it = (
            statistics.median(starts[place_in] for starts in seen[folder])
            for folder in (plain, compiled)
        )
        rows.append([heading, f"{without:.2f}", f"{with_it:.2f}", f"{without / with_it:.2f}"])
    show("Cold start, seconds of CPU", ("", "without byte code", "with", "times faster"), rows)
    return 0


def _start(python: str, folder: Path, settings: dict[str, str]) -> tuple[float, float]:
    environment = {"PATH": os.environ["PATH"], **settings}
    done = subprocess.run(
        [python, "-S", "-c", CHILD], cwd=folder, env=environment, capture_output=True, text=True
    )
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    indexed, answered = json.loads(done.stdout.splitlines()[-1])
    return indexed, answered


if __name__ == "__main__":
    raise SystemExit(main())
