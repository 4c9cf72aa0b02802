"""Docstrings that are hard to read are refused, with the line of each."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docstrings import faults, main, methods_of_ports, pronouns


@pytest.mark.parametrize(
    ("source", "texts"),
    [
        ('"""' + "word " * 15 + 'word."""', ["the first line has more than 15 words"]),
        (
            '"""Delete a memory\nsoftly."""',
            ["no blank line after the first", "the first line is no sentence by itself"],
        ),
        ('def _hidden():\n    """Count memories"""', ["the first line is no sentence by itself"]),
        (
            'class Store:\n    def delete(self, owner, name):\n        """Delete."""',
            ["no Args: of delete"],
        ),
        ("def delete(owner, name): ...", ["no Args: of delete"]),
        (
            'def delete(owner, *, name):\n    """Delete.\n\n'
            '    Args:\n        name: Of it.\n\n    """',
            ["Args: of delete are ['name'], not ['owner', 'name']"],
        ),
        (
            'class FadeRules:\n    """Rules.\n\n    Attributes:\n        floor: The least."""\n'
            "    floor: float\n    cap: int",
            ["no cap in Attributes: of FadeRules"],
        ),
    ],
    ids=[
        "long",
        "runs on",
        "no full stop",
        "no sections",
        "no docstring",
        "one is missing",
        "a rule",
    ],
)
def test_what_is_hard_to_read_is_named(source: str, texts: list[str]) -> None:
    assert [fault.text for fault in faults(source)] == texts


@pytest.mark.parametrize(
    "source",
    [
        '"""Delete a memory softly.\n\nIt can be restored."""',
        "def _delete(owner, name): ...",
        'def delete(name):\n    """Delete."""',
        "class _Store:\n    def delete(self, owner, name): ...",
        'class Store:\n    @override\n    def delete(self, owner, name):\n        """Delete."""',
        '@app.command("delete")\ndef delete(owner, name):\n    """Delete."""',
        '@command(app)\nasync def delete(owner, name):\n    """Delete."""',
        (
            'def delete(owner, *names, **rest):\n    """Delete.\n\n    Args:\n        owner: Its.\n'
            "        *names: Of them, which\n            may be many.\n        **rest: More.\n\n"
            '    Returns:\n        count: How many.\n\n    """'
        ),
    ],
    ids=[
        "two paragraphs",
        "private function",
        "one parameter",
        "private class",
        "override",
        "command",
        "own command",
        "all kinds of parameters",
    ],
)
def test_what_can_be_read_has_no_faults(source: str) -> None:
    assert faults(source) == []


def test_a_method_that_a_port_documents_needs_no_sections_in_an_adapter() -> None:
    source = 'class Store:\n    def delete(self, owner, name):\n        """Delete it."""'
    assert faults(source, frozenset({"delete"})) == []
    assert "commit" in methods_of_ports()


def test_pronouns_are_counted_in_docstrings_and_beneath_constants_but_not_in_code() -> None:
    source = '"""The one that `who` names."""\nLIMIT = 3\n"""What nobody passes."""\nwho = "what"'
    assert pronouns(source) == (3, 7)


def test_a_file_with_faults_fails_and_one_without_passes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad, good = tmp_path / "bad.py", tmp_path / "good.py"
    bad.write_text('"""What one keeps"""')
    good.write_text('"""Memories of a user."""')
    assert main([good]) == 0
    assert capsys.readouterr().out == ""
    assert main([bad]) == 1
    printed = capsys.readouterr().out
    assert "bad.py:1: the first line is no sentence by itself" in printed
    assert "666.7 pronouns in 1,000 words" in printed
