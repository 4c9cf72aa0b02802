from __future__ import annotations

import ast
import unicodedata
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

import memory_core
from memory_core.domain.text.unicode_forms import MAX_MARKS, normal_form

FORMS: tuple[Literal["NFC", "NFD", "NFKC", "NFKD"], ...] = ("NFC", "NFD", "NFKC", "NFKD")
ROOT = Path(memory_core.__file__).parent


@given(st.text(max_size=200), st.sampled_from(FORMS))
def test_an_ordinary_text_has_the_form_that_unicode_gives_it(
    text: str, form: Literal["NFC", "NFD", "NFKC", "NFKD"]
) -> None:
    if longest_run(text) <= MAX_MARKS:
        assert normal_form(form, text) == unicodedata.normalize(form, text)


def taken_apart(text: str) -> list[str]:
    """What its characters are made of, whatever their order; a character at a time, as sorting a
    long run of marks is what takes long.
    """
    return sorted("".join(unicodedata.normalize("NFD", character) for character in text))


@pytest.mark.parametrize(
    "marks",
    ["\u0301" * 8_000 + "\u0316" * 8_000, "\u0301\u0316" * 8_000, "\u0345\u0301\u0316" * 5_000],
    ids=["in two runs", "in turn", "of three"],
)
@pytest.mark.parametrize("form", FORMS)
def test_a_long_run_of_marks_is_cut_where_sorting_it_would_take_long(
    marks: str, form: Literal["NFC", "NFD", "NFKC", "NFKD"]
) -> None:
    """One save of 16,000 marks held the interpreter's lock for half a second, again and again."""
    text = normal_form(form, f"a{marks} b")
    assert longest_run(text) <= 2 * MAX_MARKS  # a mark may be made of two
    assert normal_form(form, text) == text
    assert taken_apart(text.replace("\u034f", "")) == taken_apart(f"a{marks} b")


def longest_run(text: str) -> int:
    longest = run = 0
    for character in text:
        run = (
            run + 1
            if unicodedata.category(character).startswith("M") and character != "\u034f"
            else 0
        )
        longest = max(longest, run)
    return longest


def is_unicodedatas(node: ast.AST) -> bool:
    """Whether this is `unicodedata.normalize`, or an import of it."""
    if isinstance(node, ast.ImportFrom):
        return node.module == "unicodedata" and any(name.name == "normalize" for name in node.names)
    return isinstance(node, ast.Attribute) and ast.unparse(node) == "unicodedata.normalize"


def test_users_texts_get_their_form_from_here_alone() -> None:
    calls = {
        str(path.relative_to(ROOT))
        for path in ROOT.rglob("*.py")
        if any(map(is_unicodedatas, ast.walk(ast.parse(path.read_text()))))
    }
    assert calls == {"domain/text/unicode_forms.py", "adapters/webhook.py"}, (
        "the second reads hosts of 253 characters at most"
    )
