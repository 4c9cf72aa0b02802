"""The tokenizer's vocabulary in the app: without it tiktoken would download it at every cold start,
and long texts are cut by characters.

It is taken out of a package that carries it, as it is, and checked against the hash that tiktoken
knows. The app finds it by TIKTOKEN_CACHE_DIR. cl100k_base, since it is the embedding models' own
and half the size of o200k_base, which cuts alike.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
from pathlib import Path
from zipfile import ZipFile

CARRIER = "litellm==1.60.0"
NAME = "9b5ad71b2ce5302211f9c61530b329a4922fc6a4"
"""As tiktoken's cache names it: the SHA-1 of the address that it would else ask."""
SHA256 = "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"
FOLDER = "vocabulary"


def fetch(folder: Path) -> Path:
    """The file in `folder`, fetched if it is not there. Raises ValueError for one that is not what
    it should be.
    """
    file = folder / NAME
    if not file.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as place:
            command = [
                sys.executable,
                "-m",
                "pip",
                "download",
                "--quiet",
                "--no-deps",
                "--only-binary=:all:",
                "--dest",
                place,
                CARRIER,
            ]
            subprocess.run(command, check=True)
            with ZipFile(next(Path(place).glob("*.whl"))) as wheel:
                data = wheel.read(f"litellm/litellm_core_utils/tokenizers/{NAME}")
        file.write_bytes(data)
    if hashlib.sha256(file.read_bytes()).hexdigest() != SHA256:
        file.unlink()
        raise ValueError(f"the vocabulary in {CARRIER} is another one")
    return file


if __name__ == "__main__":
    print(fetch(Path(sys.argv[1] if len(sys.argv) > 1 else FOLDER)))
