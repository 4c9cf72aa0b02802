"""Swagger UI, the viewer of `/docs`, as it is kept in the app: `python -m deployment.viewer`
fetches it again from npm.

Of the package only what the page loads is kept, compressed, with its licences. Each file is checked
against its hash, so a new version is a change of this module.
"""

from __future__ import annotations

import gzip
import hashlib
import subprocess
import tarfile
import tempfile
from pathlib import Path

from memory_core.functions.http_docs import FOLDER, VERSION

FILES = {
    "swagger-ui-bundle.js": "e6a898692f2d768e807c3ba4626068a69a2c5dd960dd6c76f3e4d3a3de180af2",
    "swagger-ui.css": "5ed08757e53da3e026d6cbecc61fe5d43585c9560b302d534ad56692519a273d",
    "favicon-32x32.png": "3ed612f41e050ca5e7000cad6f1cbe7e7da39f65fca99c02e99e6591056e5837",
    "LICENSE": "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30",
    "NOTICE": "0d20d1adef18aee3f40dd258172155521ce702ac445cb5f7b7d60ed32dad2fb2",
    "swagger-ui-bundle.js.LICENSE.txt": "37eb6e7e59aed57b2c1acf076574b818ea07b74265717e0bd67b59e0baf9abbb",  # noqa: E501
}
"""Each file of the package that is kept, and the SHA-256 of its content."""
COMPRESSED = (".js", ".css")


class Unexpected(Exception):
    """A file of the package is not the one that was chosen."""


def fetch(folder: Path) -> None:
    """Write the files to `folder`. Raises Unexpected."""
    with tempfile.TemporaryDirectory() as place:
        command = [
            "npm",
            "pack",
            f"swagger-ui-dist@{VERSION}",
            "--ignore-scripts",
            "--loglevel=error",
            "--pack-destination",
            place,
        ]
        subprocess.run(command, check=True, cwd=place)
        (archive,) = Path(place).glob("*.tgz")
        with tarfile.open(archive) as packed:
            for name, expected in FILES.items():
                member = packed.extractfile(f"package/{name}")
                content = b"" if member is None else member.read()
                if hashlib.sha256(content).hexdigest() != expected:
                    raise Unexpected(
                        f"{name} of swagger-ui-dist {VERSION} is another file: "
                        f"{hashlib.sha256(content).hexdigest()}"
                    )
                kept_file(folder, name).write_bytes(
                    gzip.compress(content, 9, mtime=0) if name.endswith(COMPRESSED) else content
                )


def kept_file(folder: Path, name: str) -> Path:
    """Where a file of the package is kept."""
    return folder / (f"{name}.gz" if name.endswith(COMPRESSED) else name)


def kept_content(folder: Path, name: str) -> bytes:
    """The content of a kept file, as the package has it."""
    content = kept_file(folder, name).read_bytes()
    return gzip.decompress(content) if name.endswith(COMPRESSED) else content


if __name__ == "__main__":
    fetch(FOLDER)
