"""Private words are refused, with the file and line of each."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.private_words import PrivateWord, main, private_words, words_by_file


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("one = 1", ["one"]),
        ("def merge(held: int) -> int:\n    return held", ["held"]),
        ("texts = [one.text for one in memories]", ["one"]),
        ("for told, text in pairs:\n    print(told)", ["told"]),
        ("if (found := read()):\n    print(found)", ["found"]),
        ("class Merge:\n    kept: int", ["kept"]),
    ],
    ids=["assignment", "argument", "comprehension", "loop", "walrus", "field"],
)
def test_a_name_is_counted_where_it_is_bound_and_not_where_it_is_used(
    source: str, words: list[str]
) -> None:
    assert [word.word for word in private_words(source)] == words


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ('"""What a reader would get wrong: nothing."""', ["get wrong"]),
        ('LIMIT = 3\n"""Whoever has more is refused."""', ["whoever"]),
        ("done = 1  # nobody waits", ["nobody"]),
        ('"""Whether a fact\nhas fallen, and which one stands."""', ["has fallen", "stands"]),
        ('"""What would get\nwrong."""', ["get wrong"]),
    ],
    ids=["module", "constant", "comment", "two lines", "over the end of a line"],
)
def test_words_of_docstrings_and_comments_are_counted(source: str, words: list[str]) -> None:
    assert [word.word for word in private_words(source)] == words


@pytest.mark.parametrize(
    "source",
    [
        'PATTERN = "somebody|nobody|stands"',
        'log.warning("nobody stands anew")',
        (
            '"""The id stands for the memory; the default stands in for it; the score falls below '
            'it, and it falls back."""'
        ),
        "memory.one",
        "merge(one=1)",
        "phone = someone = 1",
    ],
    ids=["string", "message", "standard senses", "attribute", "keyword of a call", "longer names"],
)
def test_strings_that_are_data_and_standard_senses_are_not_counted(source: str) -> None:
    assert private_words(source) == []


def test_a_word_has_the_line_that_it_is_in() -> None:
    assert private_words('"""First.\n\nIt stands.\n"""\none = 1') == [
        PrivateWord(3, "stands"),
        PrivateWord(5, "one"),
    ]


def test_files_are_named_by_their_path_and_those_without_private_words_are_left_out(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "product"
    (folder / "rules").mkdir(parents=True)
    (folder / "plain.py").write_text("memory = 1\n", encoding="utf-8")
    (folder / "rules" / "private.py").write_text("one = 1\n", encoding="utf-8")
    assert words_by_file(folder) == {"product/rules/private.py": [PrivateWord(1, "one")]}


def test_the_check_fails_until_the_words_are_gone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    product, client = tmp_path / "product", tmp_path / "client"
    for folder in (product, client):
        folder.mkdir()
    module, example = product / "merge.py", client / "example.py"
    module.write_text("memory = 1\none = found = 1\n", encoding="utf-8")
    example.write_text("told = 1\n", encoding="utf-8")
    assert main([product, client]) == 1
    assert capsys.readouterr().out.splitlines()[:3] == [
        "product/merge.py:2: found",
        "product/merge.py:2: one",
        "client/example.py:1: told",
    ]

    module.write_text("memory = 1\n", encoding="utf-8")
    assert main([product, client]) == 1
    assert capsys.readouterr().out.splitlines()[:1] == ["client/example.py:1: told"]

    example.write_text("memory = 1\n", encoding="utf-8")
    assert main([product, client]) == 0
    assert capsys.readouterr().out == ""
