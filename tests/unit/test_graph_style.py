"""The page's colours can be read, in light and in dark: WCAG 2.1's contrast of text (4.5) and
of lines (3).
"""

from __future__ import annotations

import re

import pytest

from memory_core.recollection.graph.style import STYLE

LIGHT, DARK = (
    dict(re.findall(r"--([\w-]+): (#\w+)", part))
    for part in STYLE.split("} }", 1)[0].split("@media", 1)
)
LOOKS = ("standing", "past", "gone", "episode")
ON = [(look, f"{look}-ground") for look in LOOKS] + [("text", f"{look}-ground") for look in LOOKS]
ON += [(text, ground) for text in ("text", "soft", "asked") for ground in ("page", "card")]


def luminance(colour: str) -> float:
    digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
    parts = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    red, green, blue = (
        part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(colour: str, other: str) -> float:
    dark, light = sorted((luminance(colour), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])
def test_texts_and_lines_stand_out_from_their_ground(scheme: dict[str, str]) -> None:
    assert {
        name: contrast(scheme[name], scheme[ground])
        for name, ground in ON
        if contrast(scheme[name], scheme[ground]) < 4.5
    } == {}
    assert contrast(scheme["edge"], scheme["card"]) >= 3


def test_dark_has_a_colour_for_each_that_light_has() -> None:
    assert LIGHT.keys() == DARK.keys()
    assert set(re.findall(r"var\(--([\w-]+)\)", STYLE)) - {"tone", "ground"} == LIGHT.keys()
