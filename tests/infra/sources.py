"""The files of the deployment by their path in the project, so that a test can change one and
see it caught.
"""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]
COSMOS = "memory_core/adapters/cosmos/policy.json"
HOST = "host.json"
MODELS = "memory_core/adapters/openai/models.json"
PROFILES = "infra/profiles.json"


def sources() -> dict[str, str]:
    """Every text below infra/, the policy of the containers, the models, and what the
    Functions host reads.
    """
    files = [
        *(
            path
            for path in (ROOT / "infra").rglob("*")
            if path.is_file() and ".terraform" not in path.parts
        ),
        ROOT / COSMOS,
        ROOT / HOST,
        ROOT / MODELS,
    ]
    return {
        file.relative_to(ROOT).as_posix(): file.read_text(encoding="utf-8")
        for file in sorted(files)
        if file.suffix != ".pyc"
    }


def changed(path: str, old: str, new: str) -> dict[str, str]:
    """The same with `old` replaced in one file, where it has to stand."""
    files = sources()
    assert old in files[path], f"{path} does not have {old!r}"
    return {**files, path: files[path].replace(old, new)}
