"""Words that turn a statement around: negations of several languages, and words that exclude each other.

Sentence vectors hardly see them ("allergic" and "not allergic" to peanuts: cosine 0.97 with MiniLM), so whoever compares
two statements asks here. The lists hold what is frequent and unambiguous in its language; a word that is a negation in
one language and common in another (Italian and German "mai") is left out.
"""

from __future__ import annotations

from collections.abc import Collection

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
    "has had", "do did", "does did", "monday tuesday wednesday thursday friday saturday sunday",
    "january february march april may june july august september october november december",
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
_ENDINGS = ("", "s", "d", "es", "ed", "ing")
_REVERSING = ("un", "in", "im", "il", "ir", "dis", "non", "de", "mis")


def _groups() -> dict[str, frozenset[int]]:
    found: dict[str, set[int]] = {}
    for number, words in enumerate(_RIVALS):
        for word in words.split():
            found.setdefault(word, set()).add(number)
    return {word: frozenset(numbers) for word, numbers in found.items()}


_GROUPS = _groups()


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
