"""What other people's scanners say: checkov of Bicep and Terraform, actionlint and zizmor of the
workflows. And that each can say no.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.infra.sources import ROOT
from tests.infra.tools import run

WORKFLOWS = ".github/workflows"
PINNED = re.compile(r"uses: [\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d")


Report = dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def spoilt(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of some files, with a weakness in each language and a Bicep file that is none."""
    folder = tmp_path_factory.mktemp("spoilt")
    for name in ("modules", "terraform"):
        (folder / "infra" / name).mkdir(parents=True)
    for name, old, new in (
        (
            "modules/storage.bicep",
            "supportsHttpsTrafficOnly: true",
            "supportsHttpsTrafficOnly: false",
        ),
        ("terraform/storage.tf", '"TLS1_2"', '"TLS1_0"'),
        ("modules/budget.bicep", "resource budget", "resource = budget"),
    ):
        text = (ROOT / "infra" / name).read_text(encoding="utf-8")
        assert old in text
        (folder / "infra" / name).write_text(text.replace(old, new), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def reports(spoilt: Path) -> list[Report]:
    """checkov's reports by framework, of the project and of what is spoilt: one process for both,
    as half of its time is its start.
    """
    folders = ("--directory", "infra", "--directory", str(spoilt / "infra"))
    written = run(
        "checkov", *folders, "--config-file", "infra/checkov.yaml", "--output", "json"
    ).stdout.strip()
    reports_read, place = [], 0
    while place < len(written):
        report, place = json.JSONDecoder().raw_decode(written, place)
        reports_read.append(
            {
                report_of_type["check_type"]: report_of_type
                for report_of_type in (report if isinstance(report, list) else [report])
            }
        )
        place = len(written) - len(written[place:].lstrip())
    return reports_read


def test_checkov_reads_everything_and_finds_nothing(reports: list[Report]) -> None:
    clean, _ = reports
    assert clean.keys() == {"bicep", "terraform"}
    for report in clean.values():
        failed = [
            f"{check['check_id']} {check['check_name']}: {check['resource']}"
            for check in report["results"]["failed_checks"]
        ]
        assert failed == []
        assert report["summary"]["parsing_errors"] == 0, (
            "checkov passes over a file that it can't read"
        )
        assert report["summary"]["passed"] > 20


def test_checkov_finds_weaknesses_and_counts_what_it_can_not_read(reports: list[Report]) -> None:
    _, weak = reports
    failed = {
        name: {check["check_id"] for check in report["results"]["failed_checks"]}
        for name, report in weak.items()
    }
    assert "CKV_AZURE_3" in failed["bicep"]
    assert "CKV_AZURE_44" in failed["terraform"]
    assert weak["bicep"]["summary"]["parsing_errors"] == 1


def test_every_check_that_is_passed_over_has_a_reason() -> None:
    lines = (ROOT / "infra" / "checkov.yaml").read_text(encoding="utf-8").splitlines()
    skipped = lines[lines.index("skip-check:") + 1 :]
    assert skipped[0].lstrip().startswith("#")
    assert all(line.lstrip().startswith(("# ", "- CKV")) for line in skipped)


def test_the_workflows_are_in_order() -> None:
    linted = run("actionlint", *map(str, sorted((ROOT / WORKFLOWS).glob("*.yml"))))
    assert (linted.returncode, linted.stdout) == (0, ""), linted.stdout + linted.stderr
    audited = run(
        "zizmor", "--offline", "--no-progress", "--config", ".github/zizmor.yml", WORKFLOWS
    )
    assert audited.returncode == 0, audited.stdout


def test_every_action_is_pinned_by_its_commit() -> None:
    for file in sorted((ROOT / WORKFLOWS).glob("*.yml")):
        used = [
            line.strip().removeprefix("- ")
            for line in file.read_text(encoding="utf-8").splitlines()
            if "uses:" in line
        ]
        assert used
        assert [line for line in used if not PINNED.match(line)] == []


@pytest.mark.parametrize(
    ("program", "arguments", "old", "new", "expected"),
    [
        ("actionlint", (), "github.ref }}", "github.reff }}", "reff"),
        ("actionlint", (), "runs-on: ubuntu-24.04", "run-on: ubuntu-24.04", "run-on"),
        (
            "zizmor",
            ("--offline", "--no-progress"),
            "        with:\n          persist-credentials: false\n",
            "",
            "artipacked",
        ),
        (
            "zizmor",
            ("--offline", "--no-progress"),
            "permissions:\n  contents: read",
            "permissions: write-all",
            "excessive-permissions",
        ),
        (
            "zizmor",
            ("--offline", "--no-progress"),
            "@08c6903cd8c0fde910a37f88322edcfb5dd907a8",
            "@v5",
            "unpinned-uses",
        ),
    ],
)
def test_a_mistake_in_a_workflow_is_found(
    tmp_path: Path, program: str, arguments: tuple[str, ...], old: str, new: str, expected: str
) -> None:
    text = (ROOT / WORKFLOWS / "ci.yml").read_text(encoding="utf-8")
    assert old in text
    changed = tmp_path / ".github" / "workflows" / "ci.yml"
    changed.parent.mkdir(parents=True)
    changed.write_text(text.replace(old, new), encoding="utf-8")
    done = run(program, *arguments, str(changed), where=tmp_path)
    assert done.returncode != 0
    assert expected in done.stdout
