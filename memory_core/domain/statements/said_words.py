"""Words by which `said_things` reads a sentence: persons, and function words between things."""

from __future__ import annotations

import re
from types import MappingProxyType

_ONE_NAME = (
    "mother mom mum mama mutter", "father dad papa vater", "grandmother grandma granny oma",
    "grandfather grandpa opa", "wife frau", "husband mann", "flatmate roommate housemate",
    "sister sis schwester", "brother bro bruder", "friend buddy pal mate kumpel",
)  # fmt: skip
_NAME_OF = {name: names.split()[0] for names in _ONE_NAME for name in names.split()}
_PERSONS = """
    parents son daughter child kid partner boyfriend girlfriend fiancé fiancee colleague coworker
    neighbour neighbor boss cousin aunt uncle niece nephew man woman guy lady girl boy ex twin
    in-law intern client customer trainee classmate landlord landlady tenant eltern sohn tochter
    partnerin freund freundin kollege kollegin kollegen nachbar nachbarin nachbarn tante onkel
    cousine neffe nichte mitbewohner mitbewohnerin kinder schwager schwägerin chef chefin azubi
"""
_ALL_PERSONS = frozenset((*_PERSONS.split(), *_NAME_OF))
_LAST_IN_GERMAN = (
    "mutter", "vater", "bruder", "schwester", "sohn", "tochter", "kollege", "kollegin", "nachbar",
    "nachbarin", "freund", "freundin", "mitbewohner", "mitbewohnerin", "kumpel", "team",
)  # fmt: skip
"""The ends of compounds that name persons: Schwiegermutter."""
PERSON_IN_JAPANESE = (
    r"(?:義理の)?(?:お?父(?:さん)?|お?母(?:さん)?|兄|姉|弟|妹|夫|妻|旦那|息子|娘|友達|友人|同僚|祖父|祖母"
    r"|彼女|彼氏|おば(?:あ?さん)?|おじ(?:い?さん)?|いとこ|両親|先輩|後輩|先生|上司|部下"
    r"|隣の(?:人|家|部署|チーム))"
)
KIN_IN_JAPANESE = re.compile(rf"{PERSON_IN_JAPANESE}(?=[はがのもと])")
SELVES_IN_JAPANESE = frozenset(["私", "僕", "俺", "うち", "自分", "私たち", "わたし"])

_SELVES = """
    i i'm i've i'd i'll im ive we we're we've we'll user ich wir me us mich mir uns myself themself
"""
SELVES = frozenset(_SELVES.split())
OBJECTS = frozenset(_SELVES.split()[-7:])
"""The speaker, where the speaker is not the subject."""
_OTHERS = "he he's he'd she she's she'd you you're you've hers theirs"
OTHERS = frozenset(_OTHERS.split())
THEY = frozenset(["they", "they're", "they've", "they'd", "it", "it's", "es", "er", "sie"])
"""Subjects that tell of no person: "they moved my flight"."""
ALTERS = frozenset(["increased", "raised", "lowered", "reduced", "doubled", "halved"])
"""What an unknown person does to a thing of another person: a doctor to a dose."""
COUNTS = frozenset(
    [
        "one",
        "two",
        "three",
        "some",
        "any",
        "many",
        "both",
        "most",
        "each",
        "none",
        "einer",
        "eine",
        "eines",
    ]
)
"""Words that, before "of", count the thing after it."""
_MY = """
    my our mine ours user's mein meine meinen meinem meiner meines unser unsere unseren unserem
    unserer
"""
MY = frozenset(_MY.split())
_THEIR = """
    his her their your its sein seine seinen seinem seiner ihre ihren ihrem ihrer dein deine deinen
"""
THEIR = frozenset(_THEIR.split())
_THE = """
    the a an this that these those some any no every each der die das den dem des ein eine einen
    einem einer eines kein keine keinen
"""
THE = frozenset(_THE.split())
PART = "part"
"""The kind of a word that names the whole of which a thing is a part: the kitchen budget, the
budget for the kitchen.
"""
_LINKS = {
    PART: "of for für von vom", "in": "in at beim bei im", "from": "from",
    "to": "to nach zum zur", "with": "with mit",
}  # fmt: skip
LINKS = MappingProxyType({word: kind for kind, words in _LINKS.items() for word in words.split()})
"""Words between a thing and the words that tell it from other things, by the kind that they add."""
FRESH = frozenset(
    [
        "and",
        "but",
        "so",
        "because",
        "that",
        "when",
        "while",
        "although",
        "und",
        "aber",
        "weil",
        "denn",
        "dass",
        "als",
    ]
)
"""Words that another subject may follow."""
_ADVERBS = """
    on from now today yesterday finally also just so lately recently unfortunately sadly jetzt
    heute gestern endlich leider
"""
ADVERBS = frozenset(_ADVERBS.split())
"""Words that come before a subject."""
_NO_NOUN = """
    is are am be been being was were isn't aren't wasn't weren't not no so gone going goes go went
    got get gets getting coming come comes came left leave leaves died starts begin begins began
    ends last lasts take takes taking took costs meet meets met happen happens runs ran has have
    had having does do did don't doesn't didn't can can't cannot could will won't would should
    must may might says said say thinks wants want needs need likes like loves hate hates live
    lives works eat eats drinks drives plays use uses pay pays keep keeps let sold sell gave give
    gives given quit lost found bought buy brought made make makes put cut fell rose grew broke
    told tell taught teach teaches speak speaks smokes hurt hurts owe owes weigh weighs earn earns
    sits stands lies became become stays stay calls about after again against ago already around as
    away back before behind beside between by completely during either else entirely ever
    first forever further how inside instead into later many more most never next often once one
    only onto or out outside over please quite rather right since somehow soon still than them then
    there
    though through till together tomorrow tonight totally twice two under until up upon very via
    what where whether which who why within without yet abroad anyway all both few past several
    thanks sorry too off down him ist sind bin war wird wurde wurden hat habe haben hatte geht gehe
    beginnt fängt endet dauert kostet findet wohne wohnt arbeite arbeitet auf um am ab bis
    zu an nicht auch noch seit morgen wieder lerne spiele fahre nutze
"""
NO_NOUN = frozenset(_NO_NOUN.split()) | ADVERBS
FOREIGN = frozenset(
    ["neighbouring", "neighboring", "rival", "rivals", "opposite", "parallel", "reserve"]
)
"""Words for a thing that belongs to another person."""
PLACES = frozenset(["home", "work", "school"])
_TELLS_APART = """
    first second third other left right current older younger elder eldest youngest private personal
    home work former last main big small large zweite zweiten andere anderen linke linken linkes
    rechte rechten rechtes große großen großes kleine kleinen kleines ältere jüngere ältester
    jüngster
"""
TELLS_APART = frozenset(_TELLS_APART.split())
"""Words that distinguish two things of a kind, though they have little other meaning."""


def is_verb(word: str) -> bool:
    """Whether a word names no thing, as far as its form shows."""
    return word in NO_NOUN or word[:1].isdigit() or word.endswith("ed")


def is_little(word: str) -> bool:
    """Whether a word cannot follow an owner."""
    return is_verb(word) or word in LINKS or word in THE or word in FRESH or word in MY


def person_of(word: str) -> str:
    """The person that a word names, in a single spelling.

    Of a compound it is the whole word; empty for a word that names no person.
    """
    lower = word.casefold()
    for name in (lower, lower.removesuffix("s")):
        if name in _ALL_PERSONS:
            return _NAME_OF.get(name, name)
    base, _, rest = lower.partition("-")
    is_compound = (base in _ALL_PERSONS and rest) or lower.endswith(_LAST_IN_GERMAN)
    return lower if is_compound else ""
