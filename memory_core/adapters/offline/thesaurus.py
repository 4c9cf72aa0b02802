"""The `Thesaurus` of English words, from a table that ships with the product.

Beside it stand a few groups of everyday words, above all in German and Japanese, of which the table
has none.

No model runs, whatever embedder is in use. For 18,000 word stems the table has up to 24 other stems
whose vectors are near. `deployment/related_words.py` made it with the local sentence embedder.
Note: the stems are those of `domain.text`; another stemmer needs a new table.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import cache, cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from memory_core.domain.ranking.candidates import Related
from memory_core.domain.text.analyzer import ENGLISH, terms_of, words

TABLE = Path(__file__).with_name("related_words.npz")
SCALE = 255
"""Table value of the likeness 1, as the table has a single byte for each."""
ALIKE = 0.6
"""The likeness of the words of a group, as of the words of a compound."""
_ENGLISH = (
    "commute: train bus tram tube cycle bike walk drive",
    "sport: swimming running jogging gym yoga cycling climbing tennis football",
    "flatmate roommate housemate",
    "kid: son daughter twin",
    "boss: chefin",
    "landlord: vermieter vermieterin",
)
_GERMAN = (
    "oma omi großmutter großmama",
    "opa opi großvater großpapa",
    "mutter mama mutti",
    "vater papa vati",
    "eltern: mutter vater mama papa",
    "geschwister: bruder schwester",
    "kinder: sohn tochter",
    "frau ehefrau",
    "mann ehemann",
    "auto wagen pkw fahrzeug",
    "fahrrad rad bike",
    "urlaub ferien reise verreisen",
    "arzt ärztin doktor hausarzt hausärztin",
    "chef chefin vorgesetzter vorgesetzte teamleiter teamleiterin",
    "arbeit arbeite arbeitest job stelle beruf arbeitgeber firma",
    "wohnung wohne wohnst zuhause bude",
    "handy smartphone telefon handynummer telefonnummer",
    "fahrstuhl aufzug lift",
    "friseur friseurin frisör frisörin",
    "haustier: hund katze kater hase hamster",
    "haustiere: hund katze kater hase hamster",
    "sport: training joggen laufen schwimmen yoga fußball tennis fitness",
    "medikament medikamente tablette tabletten pille pillen medizin",
    "allergie allergien allergisch unverträglichkeit verträgt vertrage",
    "hochzeit heiraten trauung",
    "umzug umziehen umgezogen",
    "kaufen gekauft geholt besorgt",
    "gehalt lohn verdiene verdienst",
    "kollege kollegin kollegen",
)
_JAPANESE = (
    "両親: 父母 実家 親 父 母",
    "仕事: 職業 勤め 勤務 会社 職場 働い 働く 就職 転職 職 営業 経理 事務 看護 農家 店員",
    "仕事: ッフ staff",
    "職業: 仕事 勤め 勤務 会社 働い 働く 営業 経理 事務 看護 農家",
    "勤め 会社 職場 働い 働く 就職 転職 入社 勤務",
    "住: 住所 引越 引っ 越し 転勤 転居 暮ら",
    "住ん: 住所 引越 引っ 越し 転勤 転居 暮ら",
    "車 愛車 クル ルマ",
    "祖母 おば ばあ",
    "祖父 おじ じい",
    "妻 奥さ 嫁 家内",
    "夫 旦那 主人",
    "子供: 子ど 息子 娘",
    "子ど: 子供 息子 娘",
    "兄弟: 兄 弟 姉 妹 姉妹",
    "旅行 旅 休暇",
    "病院 医院 医者",
    "歯医 歯科",
    "趣味: 好き 習っ 習い 始め",
    "携帯 スマ マホ 電話",
    "先生 教師 講師",
    "上司 部長 課長 店長",
    "給料 年収 月給 手取 時給",
    "ペッ: 犬 猫 飼っ 飼い",
    "食事 ご飯 ごは 食べ",
)
"""Words for the same thing; before a colon, a word for the kind of the things after it.

A question for the kind finds the things, but a question for a thing finds no other of its kind.
"""


def _by_stem() -> dict[str, dict[str, None]]:
    """By a word of a group, the other words that it finds."""
    others: dict[str, dict[str, None]] = {}
    # The language is that of words in Latin letters, of which Japanese groups have none.
    for language, groups in ((ENGLISH, _ENGLISH), ("german", _GERMAN), (ENGLISH, _JAPANESE)):
        for group in groups:
            kind, _, things = group.rpartition(":")
            stems = dict.fromkeys(terms_of(things.split(), language))
            for stem in terms_of(kind.split(), language) or stems:
                others.setdefault(stem, {}).update(stems)
    return others


@cache
def _places() -> dict[str, int]:
    """The places of the table's stems."""
    with np.load(TABLE) as parts:
        stems = parts["stems"].tobytes().decode("ascii").split()
    return {stem: place for place, stem in enumerate(stems)}


def are_plain_words(text: str) -> bool:
    """Whether all words are plain English ones; the table has no stem of a name."""
    return _places().keys() >= set(terms_of(words(text), ENGLISH))


class RelatedWords:
    """A `Thesaurus` with the table, read at the first query (10 ms, 2 MB)."""

    async def related(self, terms: Sequence[str]) -> tuple[Related, ...]:
        """The words near each of the terms, nearest first."""
        is_read = "_table" in self.__dict__  # a cached property is an attribute once it is read
        table = self._table if is_read else await asyncio.to_thread(lambda: self._table)
        return tuple(
            related_word
            for of, term in enumerate(terms)
            for related_word in (*table.near(term, of), *self._of_groups(term, of))
        )

    def _of_groups(self, term: str, of: int) -> list[Related]:
        return [Related(stem, of, ALIKE) for stem in self._groups.get(term, ()) if stem != term]

    @cached_property
    def _groups(self) -> dict[str, dict[str, None]]:
        return _by_stem()

    @cached_property
    def _table(self) -> _Table:
        with np.load(TABLE) as parts:
            return _Table(_places(), parts["ends"], parts["words"], parts["likeness"])


class _Table:
    def __init__(
        self,
        places: dict[str, int],
        ends: npt.NDArray[np.int64],
        words: npt.NDArray[np.uint16],
        likeness: npt.NDArray[np.uint8],
    ) -> None:
        self._places, self._stems = places, list(places)
        self._ends, self._words, self._likeness = ends, words, likeness

    def near(self, term: str, of: int) -> list[Related]:
        """The words near a term; none for a word that the table does not know."""
        place = self._places.get(term)
        if place is None:
            return []
        first, end = int(self._ends[place - 1]) if place else 0, int(self._ends[place])
        pairs = zip(
            self._words[first:end].tolist(), self._likeness[first:end].tolist(), strict=True
        )
        return [Related(self._stems[word], of, likeness / SCALE) for word, likeness in pairs]


class NoRelatedWords:
    """A `Thesaurus` without related words."""

    async def related(self, terms: Sequence[str]) -> tuple[Related, ...]:
        """No related words."""
        return ()
