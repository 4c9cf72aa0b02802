"""How many tokens a text takes, estimated without anybody's tokenizer.

A budget in tokens is the caller's, for a model that this product does not know; so the estimate must be cheap, the same everywhere, and
rather too high than too low. Note: characters over four is too low for what a context is full of, dates, names, brackets.

    a word of ASCII letters            1 token for its first 7 letters, 1 for each 5 more begun
    a number                           1 token for each 3 digits begun
    a letter of another alphabet       1/2 token (German, Russian, Arabic, Hindi)
    a character of an unspaced script  1 token (Chinese, Japanese, Korean, Thai), as is any other sign; 2 beyond the basic plane (emoji)
"""

from __future__ import annotations

import re

_ASCII = re.compile(r"([A-Za-z]+)|([0-9]+)|([^\sA-Za-z0-9])")
_LETTERS_OF_FIRST, _LETTERS_A_TOKEN = 7, 5
_DIGITS_A_TOKEN = 3
_FIRST_UNSPACED, _BASIC_PLANE = 0x0E00, 0xFFFF


def count_tokens(text: str) -> int:
    """The estimate for a text, 0 for one of blanks alone. Linear; 2,000 tokens take about a millisecond."""
    halves = 0
    for word, number, sign in _ASCII.findall(text):
        if word:
            halves += 2 * (1 + max(0, -(-(len(word) - _LETTERS_OF_FIRST) // _LETTERS_A_TOKEN)))
        elif number:
            halves += 2 * -(-len(number) // _DIGITS_A_TOKEN)
        else:
            point = ord(sign)
            halves += 2 if point < 0x80 else 1 if point < _FIRST_UNSPACED else 4 if point > _BASIC_PLANE else 2
    return -(-halves // 2)
