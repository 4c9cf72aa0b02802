"""Words that turn a statement around: negations, and words that exclude each other.

They are of several languages. Sentence vectors hardly see them ("allergic" and "not allergic" to peanuts: cosine 0.97 with MiniLM), so a
comparison of two statements asks this module. The lists hold what is frequent and unambiguous in its language; a word that is a negation in
one language and common in another (Italian and German "mai") is left out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from memory_core.domain.calendar_names import MONTHS, WEEKDAYS
from memory_core.domain.opposite_words import EXCLUSIVE

NEGATIONS = frozenset(
    {
        # English; "n't" is cut off as "not" before words are looked up, "no longer" is found by its "no"
        "not", "no", "never", "none", "nobody", "nothing", "nowhere", "neither", "nor", "without", "hardly", "barely", "except", "unless",
        "stopped", "quit", "former", "formerly", "dont", "doesnt", "didnt", "isnt", "wasnt", "cant", "wont",
        # German
        "nicht", "nichts", "nie", "niemals", "niemand", "ohne", "weder", "kein", "keine", "keinen", "keinem", "keiner", "keines",
        # French: "pas" carries it in speech and in writing, "ne" only sometimes
        "pas", "jamais", "rien", "sans", "aucun", "aucune",
        # Spanish and Portuguese
        "nunca", "jamás", "nada", "nadie", "ningún", "ninguno", "ninguna", "tampoco", "sin", "não", "sem",
        # Russian
        "не", "нет", "ни", "без", "никогда", "никто", "ничего", "нельзя",
        # Chinese and Japanese are read character by character
        "不", "没", "沒", "无", "無", "未", "别", "非", "勿",
    }
)  # fmt: skip
JAPANESE_ENDINGS = ("ません", "ない", "なかった", "なく")

_RIVALS: tuple[str, ...] = (
    # who
    "i you he she we they", "my your his her our their", "me you him her us them", "mother father", "brother sister", "son daughter",
    "husband wife", "man woman", "men women", "boy girl", "uncle aunt",
    # where and when
    "from to", "before after", "above below", "over under", "left right", "in out", "on off", "up down", "north south east west",
    "yesterday today tomorrow", "morning noon afternoon evening night", "early late", "earlier later", "is was", "are were", "am was",
    "has had", "do did", "does did", " ".join(WEEKDAYS), " ".join(MONTHS),
    # how many and how much
    "one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty hundred thousand million",
    "first second third fourth last", "all some none", "few many", "more less", "more fewer", "most least", "minimum maximum", "min max",
    "always never sometimes rarely", "best worst", "better worse", "high low", "higher lower", "big small", "long short", "full empty",
    # what is done and what it is like
    "with without", "for against", "like dislike", "like hate", "love hate", "love dislike",
    "true false", "yes no", "good bad", "open close",
    "open closed", "start stop", "start end", "began ended", "buy sell", "bought sold", "win lose", "won lost", "give take", "gave took",
    "send receive", "sent received", "arrive leave", "arrived left", "accept reject", "accept refuse", "allow forbid", "allow deny",
    "enable disable", "increase decrease", "add remove", "keep drop", "kept dropped", "rise fall", "rose fell", "old new", "old young",
    "hot cold", "warm cold", "fast slow", "light dark", "cheap expensive", "easy hard", "easy difficult", "success failure", "succeed fail",
    "pass fail", "married divorced", "married single", "can cannot", "must may", "public private", "import export",
    # other languages
    "ich du er sie wir ihr", "mein dein sein ihr unser", "vor nach", "links rechts", "immer nie", "mag hasst",
    "je tu il elle nous vous", "mon ton son", "avant après", "gauche droite", "toujours jamais", "aime déteste",
    "yo tú él ella", "antes después", "izquierda derecha", "siempre nunca", "ama odia",
    "я ты он она мы вы они", "до после", "всегда никогда", "любит ненавидит",
    "二 三 四 五 六 七 八 九 十 百 千 万", "我 你 他 她", "上 下", "左 右", "大 小", "多 少", "前 后", "前 後", "爱 恨", "愛 恨", "男 女",
)  # fmt: skip
MOST_BESIDE = 1
"""Words on either side of which one says the opposite of the other: "on" and "off", not "on in the kitchen" and "off in the hall"."""
_ENDINGS = ("", "s", "d", "es", "ed", "ing")
_INFLECTIONS = ("s", "d", "es", "ed", "ing", "er", "est", "r", "st", "ly", "e", "en", "em", "t")
_CHANGED_ENDINGS = (("ier", "y"), ("iest", "y"), ("ily", "y"), ("ies", "y"), ("ied", "y"), ("ing", "e"))
LEAST_LETTERS = 4
"""Of a word that may have an ending."""
_REVERSING = ("un", "in", "im", "il", "ir", "dis", "non", "de", "mis", "non-")


def _groups() -> dict[str, frozenset[int]]:
    found: dict[str, set[int]] = {}
    for number, words in enumerate(_RIVALS):
        for word in words.split():
            found.setdefault(word, set()).add(number)
    return {word: frozenset(numbers) for word, numbers in found.items()}


_GROUPS = _groups()


def _exclusive() -> frozenset[tuple[str, str]]:
    pairs = [tuple(pair.split()) for pair in EXCLUSIVE.split(";")]
    return frozenset((one, other) for first, second in pairs for one, other in ((first, second), (second, first)))


_EXCLUDES = _exclusive()


def _opposites() -> dict[str, set[str]]:
    opposites: dict[str, set[str]] = {}
    for word, opposite in _EXCLUDES:
        opposites.setdefault(word, set()).add(opposite)
    return opposites


_OPPOSITES = _opposites()
_JAPANESE_REVERSING = ("不", "非", "無", "未")


def exclude_each_other(first: Sequence[str], second: Sequence[str]) -> bool:
    """Whether two words that stand in the same place of two statements say opposite things: on and off, married and single.

    Case-folded; a few words each, of which what both have in common says nothing. Symmetric.
    """
    ours, theirs = [one for one in first if one not in second], [one for one in second if one not in first]
    if _exclude_in_japanese(first, second):
        return True
    if any(len([one for one in side if not _is_hiragana(one)]) > MOST_BESIDE for side in (ours, theirs)):
        return False
    return any((one, other) in _EXCLUDES for mine in ours for your in theirs for one in _forms(mine) for other in _forms(your)) or (
        len(ours) == len(theirs) == 1 and (_reverses(ours, frozenset(theirs)) or _reverses(theirs, frozenset(ours)))
    )


def _exclude_in_japanese(first: Sequence[str], second: Sequence[str]) -> bool:
    """Whether the characters of both sides, which are tokens of their own, make words that exclude each other."""
    one, other = ("".join(token for token in side if not _is_hiragana(token)) for side in (first, second))
    if not one or not other or one.isascii() or other.isascii():
        return False
    return (one, other) in _EXCLUDES or any(one == mark + other or other == mark + one for mark in _JAPANESE_REVERSING)


def _is_hiragana(token: str) -> bool:
    return "\u3041" <= token[0] <= "\u309f"


def opposites_of(words: Iterable[str]) -> frozenset[str]:
    """The words that exclude one of these, case-folded."""
    return frozenset(opposite for word in words for form in _forms(word) for opposite in _OPPOSITES.get(form, ()))


def is_form_of(word: str, words: Collection[str]) -> bool:
    """Whether a word is among these, with an ending or without."""
    return any(form in words for form in _forms(word))


def _forms(word: str) -> tuple[str, ...]:
    """A word as it is, and without an English ending of a person, a past or a comparison, or a German ending of an adjective."""
    if not word.isalpha() or len(word) < LEAST_LETTERS:
        return (word,)
    shorter = {word.removesuffix(ending) for ending in _INFLECTIONS if word.endswith(ending)}
    changed = {word[: -len(ending)] + base for ending, base in _CHANGED_ENDINGS if word.endswith(ending)}
    doubled = {stem[:-1] for stem in shorter if len(stem) > LEAST_LETTERS and stem[-1] == stem[-2]}
    return (word, *sorted(shorter | changed | doubled))


def opposed(first: Collection[str], second: Collection[str]) -> bool:
    """Whether a case-folded word of one side excludes one of the other: rivals of one group, or one the other with un-, dis-, …

    English endings do not matter: "enabled" and "disables" are opposed as "enable" and "disable" are. Symmetric.
    """
    ours, theirs = _stems(first), _stems(second)
    if any(_GROUPS[one] & _GROUPS[other] for one in ours for other in theirs if one != other):
        return True
    return _reverses(first, frozenset(second)) or _reverses(second, frozenset(first))


def _reverses(words: Collection[str], others: frozenset[str]) -> bool:
    return any(
        word.startswith(prefix) and len(word) > len(prefix) + 2 and word[len(prefix) :] in others for word in words for prefix in _REVERSING
    )


def _stems(words: Collection[str]) -> frozenset[str]:
    """The listed words that stand among these, with or without an ending."""
    stems = (word.removesuffix(ending) for word in words for ending in _ENDINGS)
    return frozenset(stem for stem in stems if stem in _GROUPS)
