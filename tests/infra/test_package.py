"""What is sent to Azure: the right files, the packages of Azure's Python, the same bytes for
the same files.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from importlib.util import MAGIC_NUMBER
from pathlib import Path, PurePosixPath
from zipfile import ZipFile

import pytest

from deployment import LEAST_PYTHON, lock, refuse_older, sbom, vocabulary, wheels
from deployment.bytecode import compile_folder, interpreter
from deployment.package import LIMIT_MB, build, lay_out, main, pack
from memory_core.adapters.openai import tokens
from tests.infra.sources import COSMOS, ROOT

UNCHECKED_HASH = 0b01
HERE = f"{sys.version_info.major}.{sys.version_info.minor}"
APP_ONLY = {"with_packages": False, "with_vocabulary": False}


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The zip without packages and vocabulary, which take half a minute, for the Python that
    runs the tests.
    """
    return build(tmp_path_factory.mktemp("package") / "app.zip", HERE, **APP_ONLY)


def test_the_zip_has_the_app_and_nothing_that_only_a_laptop_needs(app: Path) -> None:
    with ZipFile(app) as archive:
        names = archive.namelist()
    assert {
        "function_app.py",
        "host.json",
        "requirements.txt",
        COSMOS,
        "memory_core/py.typed",
    } <= set(names)
    assert any(name.startswith("memory_core/prompts/") for name in names)
    assert {
        "memory_core/functions/console/page.html",
        "memory_core/functions/console/app.js",
    } <= set(names)
    strange = {name.split("/")[0] for name in names} - {
        "function_app.py",
        "host.json",
        "requirements.txt",
        "memory_core",
        "LICENSE",
        ".funcignore",
        "__pycache__",
    }
    assert strange <= {vocabulary.FOLDER}
    assert not [name for name in names if "localhost" in name or name.endswith(".db")]


def test_each_module_has_byte_code_that_is_never_compared_with_its_source(app: Path) -> None:
    """The package is mounted read-only, and the times of its files say nothing."""
    with ZipFile(app) as archive:
        names = set(archive.namelist())
        modules = [PurePosixPath(name) for name in names if name.endswith(".py")]
        compiled = {
            path: f"{path.parent / '__pycache__' / path.stem}.cpython-{HERE.replace('.', '')}.pyc"
            for path in modules
        }
        assert set(compiled.values()) == {name for name in names if name.endswith(".pyc")}
        for name in compiled.values():
            head = archive.read(name)[:8]
            assert (head[:4], int.from_bytes(head[4:], "little")) == (MAGIC_NUMBER, UNCHECKED_HASH)


def test_the_byte_code_is_what_runs_whatever_its_source_says(tmp_path: Path) -> None:
    (tmp_path / "some").mkdir()
    module = tmp_path / "some" / "module.py"
    module.write_text("def place(): return place.__code__.co_filename\n")
    compile_folder(tmp_path / "some", sys.executable)
    module.write_text("def place(): return 'compiled anew'\n")
    ran = subprocess.run(
        [sys.executable, "-c", "import module; print(module.place())"],
        cwd=module.parent,
        capture_output=True,
        text=True,
    )
    assert ran.stdout == f"{module}\n"


def test_what_azd_packs_is_what_the_zip_has(app: Path, tmp_path: Path) -> None:
    folder = lay_out(tmp_path / "build" / "azure", HERE, **APP_ONLY)
    lay_out(folder, HERE, **APP_ONLY)
    assert [path.name for path in folder.parent.iterdir()] == ["azure"]
    with ZipFile(app) as archive:
        zipped = {name: archive.read(name) for name in archive.namelist()}
    assert {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    } == zipped
    # azd leaves __pycache__ out of a folder without such a file, and else what the file names.
    assert all(line.startswith("#") for line in (folder / ".funcignore").read_text().splitlines())


def test_azd_deploys_that_folder_and_has_nothing_built_on_azure() -> None:
    """A remote build on Flex Consumption took Python 3.11 for an app of 3.13
    (Azure/azure-dev#8538).
    """
    text = (ROOT / "azure.yaml").read_text(encoding="utf-8")
    assert re.search(r"^    remoteBuild: false$", text, re.MULTILINE)
    (folder,) = re.findall(r"^    dist: (\S+)", text, re.MULTILINE)
    assert set(re.findall(r"-m deployment.package --folder (\S+)", text)) == {folder}


def test_a_machine_without_azures_python_is_told_what_to_do(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["--python", "3.99", "--target", str(tmp_path / "no.zip")]) == 1
    assert "no Python 3.99 is on this machine" in capsys.readouterr().err
    assert not (tmp_path / "no.zip").exists()


def test_an_older_python_is_refused_with_one_line_that_deploy_page_agrees_with() -> None:
    """Debian 11 and Ubuntu 22.04 start one as python3; it ended with the traceback of an import."""
    refuse_older(LEAST_PYTHON)
    with pytest.raises(SystemExit, match=r"Python 3\.11 or newer, and this is 3\.10"):
        refuse_older((3, 10))
    page = (ROOT / "docs" / "deploy.md").read_text(encoding="utf-8")
    assert f"another one from {'.'.join(map(str, LEAST_PYTHON))} on" in page


def test_the_same_files_make_the_same_zip(app: Path, tmp_path: Path) -> None:
    again = build(tmp_path / "again.zip", HERE, **APP_ONLY)
    assert hashlib.sha256(again.read_bytes()).digest() == hashlib.sha256(app.read_bytes()).digest()


def test_files_are_packed_with_their_folders_and_may_be_read_by_anybody(tmp_path: Path) -> None:
    (tmp_path / "app" / "inner").mkdir(parents=True)
    (tmp_path / "app" / "inner" / "one.txt").write_text("1")
    pack(tmp_path / "app", tmp_path / "app.zip")
    with ZipFile(tmp_path / "app.zip") as archive:
        (entry,) = archive.infolist()
        assert (entry.filename, entry.external_attr >> 16, archive.read(entry)) == (
            "inner/one.txt",
            0o644,
            b"1",
        )


def test_the_vocabulary_is_the_one_that_the_app_looks_for_first() -> None:
    assert next(iter(tokens._CACHED_AS.values())) == vocabulary.NAME


def test_a_vocabulary_that_is_another_one_is_refused_and_removed(tmp_path: Path) -> None:
    (tmp_path / vocabulary.NAME).write_bytes(b"cut off")
    with pytest.raises(ValueError, match="another one"):
        vocabulary.fetch(tmp_path)
    assert not (tmp_path / vocabulary.NAME).exists()


@pytest.mark.long
@pytest.mark.skipif(
    interpreter(wheels.PYTHON) is None,
    reason="there is no Python of Azure's version; the workflow has one",
)
def test_the_whole_package_is_small_enough_and_built_for_azure(tmp_path: Path) -> None:
    whole = build(tmp_path / "whole.zip")
    assert whole.stat().st_size <= LIMIT_MB * 2**20
    with ZipFile(whole) as archive:
        names = archive.namelist()
        bill = json.loads(archive.read(sbom.NAME))
    assert f"{vocabulary.FOLDER}/{vocabulary.NAME}" in names
    built = [Path(name).name for name in names if name.endswith(".so") and ".libs/" not in name]
    assert built
    assert [
        name for name in built if not re.search(r"\.(cpython-313-x86_64-linux-gnu|abi3)\.so$", name)
    ] == []
    there = {
        tuple(name.split("/")[3].removesuffix(".dist-info").rsplit("-", 1))
        for name in names
        if name.endswith(".dist-info/METADATA")
    }
    assert {(lock.plain_name(name), version) for name, version in there} == {
        (each.name, each.version) for each in lock.read_lock("3.13")
    }
    assert all(component["hashes"] and component["licenses"] for component in bill["components"])
    modules = {name for name in names if name.endswith(".py")}
    assert len({name for name in names if name.endswith(".cpython-313.pyc")}) == len(modules) > 3000
