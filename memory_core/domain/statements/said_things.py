"""What a sentence speaks of: each thing, whose it is and which of its kind; and who does what is said.

    "my mother-in-law moved"            the mother-in-law, not the speaker
    "the hotel in Rome costs …"         the hotel, of Rome
    "the kitchen budget"                the budget, of the kitchen
    "I also work at …"                  one more, nothing in another's place

By the order of words and a few little words; nothing is parsed. Two sentences are about one thing
only where some thing of both has one name, one owner, and nothing that tells the two apart.
"""  # noqa: E501

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import NamedTuple

from memory_core.domain.text.analyzer import has_japanese

SELF = "i"
"""The owner of what is the speaker's own, and who does what the speaker does."""
SOMEBODY = "?"
"""An owner that a pronoun names."""
MOST_THING_WORDS = 4
"""Words of a thing's name; of more the last ones."""
_KIN = """
    mother mom mum mama father dad papa parents brother brothers sister sisters son sons daughter
    daughters child kids wife husband partner boyfriend girlfriend fiancé fiancee friend friends
    colleague colleagues coworker neighbour neighbor neighbours neighbors boss cousin aunt uncle
    grandma granny grandpa grandmother grandfather roommate flatmate niece nephew
    mutter vater eltern bruder schwester sohn tochter frau mann partnerin freund freundin
    kollege kollegin kollegen nachbar nachbarin tante onkel oma opa cousine neffe nichte mitbewohner
    mitbewohnerin
"""
KIN = frozenset(_KIN.split())
"""Relatives, and others of whom people tell."""
_PERSONS = """
    man woman guy lady girl boy buddy pal mate ex twin sis bro in-laws intern client customer
    trainee classmate housemate landlord landlady tenant tenants
    kumpel nachbarn kinder schwager schwägerin chef chefin azubi
"""
PERSONS = KIN | frozenset(_PERSONS.split())
_ONE_NAME = {
    name: names.split()[0]
    for names in (
        "mother mom mum mama mutter", "father dad papa vater", "grandmother grandma granny oma",
        "grandfather grandpa opa", "wife frau", "husband mann", "flatmate roommate housemate",
        "sister sis schwester", "brother bro bruder", "friend buddy pal mate kumpel",
    )
    for name in names.split()
}  # fmt: skip
_PERSON_IN_JAPANESE = (
    r"(?:義理の)?(?:お?父(?:さん)?|お?母(?:さん)?|兄|姉|弟|妹|夫|妻|旦那|息子|娘|友達|友人|同僚|祖父|祖母|彼女|彼氏"
    r"|おば(?:あ?さん)?|おじ(?:い?さん)?|いとこ|両親|先輩|後輩|先生|隣の(?:人|家|部署|チーム)|上司|部下)"
)
KIN_IN_JAPANESE = re.compile(
    r"(?:お?父(?:さん)?|お?母(?:さん)?|兄|姉|弟|妹|夫|妻|旦那|息子|娘|友達|友人|同僚|祖父|祖母|彼女"
    r"|彼氏|いとこ|両親|先輩|後輩)(?=[はがのもと])"
)
_SUBJECT_IN_JAPANESE = re.compile(
    rf"(?P<person>{_PERSON_IN_JAPANESE})(?=は|が|も|って)"
    rf"|(?P<owner>{_PERSON_IN_JAPANESE})の[^\s、。はがをも]{{1,12}}(?=は|が|も|って)"
)
_OWNER_IN_JAPANESE = re.compile(_PERSON_IN_JAPANESE)
_SELVES_IN_JAPANESE_WORDS = """
    私 僕 俺 うち 自分 私たち わたし
"""
_SELVES_IN_JAPANESE = frozenset(_SELVES_IN_JAPANESE_WORDS.split())
_NAME_IN_JAPANESE = re.compile(
    r"[一-龯ァ-ヶー]{1,8}(?=さん|ちゃん|くん|君)|(?<=は)(?!.{0,7}[一二三四五六七八九十円時分])[一-龯ァ-ヶー]{1,8}(?=です)"
)
_PAIR_IN_JAPANESE = re.compile(
    r"(?P<which>[^\s、。はがをにでとのもへや]{1,12})の(?P<head>[^\s、。はがをにでとのもへや]{1,12})"
)
_TIME_IN_JAPANESE = re.compile(r"[\d年月週日曜今昨来先毎最朝晩夜時分]")
_ADDS = re.compile(
    r"\b(?:also|as well|in addition|additionally|besides|on top of (?:that|it)|another|additional"
    r"|extra|(?:a|my|our) (?:second|third|further)(?!-)|auch noch|auch|ebenfalls|außerdem|zusätzlich"
    r"|(?:ein(?:e[nrms]?)?) (?:zweite[nrsm]?|weitere[nrsm]?|andere[nrsm]? noch))\b"
    r"|(?<!\bme )(?<!\byou )\btoo\b(?=\W*$|[,;.!?])"
    r"|[\u30a0-\u30ff\u4e00-\u9fff]も(?![うしっの])|もう一つ|二台目|二匹目|二つ目",
    re.IGNORECASE,
)
"""What is said holds beside what was said before."""

_SELVES_WORDS = """
    i i'm i've i'd i'll im ive we we're we've we'll user ich wir me us mich mir uns
"""
_SELVES = frozenset(_SELVES_WORDS.split())
_OBJECTS = frozenset(["me", "us", "mich", "mir", "uns"])
_OTHERS_WORDS = """
    he he's he'd she she's she'd you you're you've hers theirs
"""
_OTHERS = frozenset(_OTHERS_WORDS.split())
_THEY_WORDS = """
    they they're they've they'd it it's es er
"""
_THEY = frozenset(_THEY_WORDS.split())
"""Behind them anybody may do what is said: "they moved my flight"."""
_COUNTS_WORDS = """
    one two three some any many both most each none einer eine eines
"""
_COUNTS = frozenset(_COUNTS_WORDS.split())
_MY_WORDS = """
    my our mine ours user's mein meine meinen meinem meiner meines unser unsere unseren unserem
    unserer
"""
_MY = frozenset(_MY_WORDS.split())
_THEIR_WORDS = """
    his her their your its sein seine seinen seinem seiner ihre ihren ihrem ihrer dein deine
    deinen
"""
_THEIR = frozenset(_THEIR_WORDS.split())
_THE_WORDS = """
    the a an this that these those some any no every each der die das den dem des ein eine einen
    einem einer eines kein keine keinen
"""
_THE = frozenset(_THE_WORDS.split())
_PART, _FOR, _OF = "part", "for", "in"
_LINKS = {
    "of": _FOR, "for": _FOR, "in": _OF, "at": _OF, "from": "from", "to": "to", "with": "with",
    "für": _FOR, "beim": _OF, "bei": _OF, "im": _OF, "nach": "to", "mit": "with", "von": _FOR,
    "vom": _FOR, "zum": "to", "zur": "to",
}  # fmt: skip
"""Words between a thing and what tells which one it is, by the kind of what they add."""
_FRESH_WORDS = """
    and but so because that when while although und aber weil denn dass als
"""
_FRESH = frozenset(_FRESH_WORDS.split())
"""After them somebody else may be who does something."""
_NO_NOUN_WORDS = """
    is are am be been being was were isn't aren't wasn't weren't not no so gone going goes go went
    got get gets getting coming come comes came left leave leaves died starts begin begins began
    ends last lasts take takes taking took costs meet meets met happen happens runs ran has have
    had having does do did don't doesn't didn't can can't cannot could will won't would should
    must may might says said say thinks wants want needs need likes like loves hate hates live
    lives works eat eats drinks drives plays use uses pay pays keep keeps let sold sell gave give
    gives given quit lost found bought buy brought made make makes put cut fell rose grew broke
    told tell taught teach teaches speak speaks smokes hurt hurts owe owes weigh weighs earn earns
    turned swapped stopped cancelled moved rented started opened planned sits stands lies became
    become stays stay calls called named about after again against ago already also around as away
    back because before behind beside between by completely during either else entirely ever every
    finally first forever how inside instead into it just lately later many more most never next
    now often on once one only onto or out outside over please quite rather recently right since
    somehow soon still than their them then there though through till today together tomorrow
    tonight totally twice two under until up upon very via what where whether which who why within
    without yesterday yet abroad anyway all both few past several thanks sorry unfortunately sadly
    too off down me us him ist sind bin war wird wurde wurden hat habe haben hatte geht gehe
    beginnt fängt endet dauert kostet findet wohne wohnt arbeite arbeitet jetzt auf um am ab bis
    zu an nicht auch noch seit heute gestern morgen wieder endlich lerne spiele fahre nutze
"""
_NO_NOUN = frozenset(_NO_NOUN_WORDS.split())
_FOREIGN_WORDS = """
    neighbouring neighboring rival rivals opposite parallel reserve
"""
_FOREIGN = frozenset(_FOREIGN_WORDS.split())
"""Words that tell that something is somebody else's."""
_PLACES_WORDS = """
    home work school
"""
_PLACES = frozenset(_PLACES_WORDS.split())
_TELLS_APART_WORDS = """
    second third other left right older younger elder eldest youngest private personal home former
    last zweite zweiten andere anderen linke linken linkes rechte rechten rechtes ältere jüngere
    ältester jüngster
"""
_TELLS_APART = frozenset(_TELLS_APART_WORDS.split())
"""Words that tell two of a kind apart though they say little else."""
_WORD = re.compile(r"[^\W_][\w-]*(?:['’](?!s\b)\w+)?(?P<of>['’]s\b|(?<=s)['’](?=\s))?")
_GENITIVE_IN_GERMAN = re.compile(r"[A-ZÄÖÜ][a-zäöü]{2,30}s")
_DIGIT = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class Thing:
    """A thing that a sentence names, or something that is done.

    Attributes:
        owner: Whose it is, or who does it: `SELF`, a relative or a name, `SOMEBODY`;
            empty where that is not said.
        words: The terms of its name.
        pre: The terms before the last one of its name: the kitchen of "kitchen budget".
        which: What tells it from others of its name, by kind.
        parts: Those of `pre` of which it is a part: the flat of "the flat's roof".

    """

    owner: str
    words: frozenset[str]
    pre: frozenset[str] = frozenset()
    which: frozenset[tuple[str, str]] = frozenset()
    parts: frozenset[str] = frozenset()


class Subject(NamedTuple):
    """Who does what is said from a place on; empty where that is not said. is_thing:
    whether a thing of this owner does it.
    """

    start: int
    who: str
    is_thing: bool = False


@dataclass(frozen=True, slots=True)
class Reading:
    """What a sentence speaks of. subjects: who does what is said, each from a place on. adds:
    whether what it says holds beside what was said before.
    """

    things: tuple[Thing, ...]
    subjects: tuple[Subject, ...]
    adds: bool

    def subject(self, upto: int | None = None) -> Subject:
        """Who does what stands at a place, or at the end."""
        found = [subject for subject in self.subjects if upto is None or subject.start <= upto]
        return (found or self.subjects[:1] or [Subject(0, "")])[-1]


def agree(before: Thing, now: Thing, known: frozenset[str] = frozenset()) -> bool:
    """Whether two things may have one owner.

    Where a sentence says nothing of whose its thing is, the earlier one tells of the speaker's, and
    the later one of the thing told of. known: the terms of all that the earlier one names.
    """
    if not now.owner or before.owner == now.owner:
        return True
    owners = set(now.owner.split())
    if not before.owner:
        return now.owner == SELF or not owners.isdisjoint(known)
    if now.owner == SOMEBODY:
        return before.owner != SELF
    return not owners.isdisjoint(before.owner.split())


def are_one(before: Thing, now: Thing, of_kinds: Collection[str] = ()) -> bool:
    """Whether nothing tells two things of one name apart. of_kinds: what may tell; empty for all."""
    marks: list[dict[str, set[str]]] = [{}, {}]
    for thing, by_kind in zip((before, now), marks, strict=True):
        for kind, word in thing.which:
            by_kind.setdefault(kind, set()).add(word)
    both = marks[0].keys() & marks[1].keys()
    if not both and not of_kinds:  # the kitchen budget, the budget for the bathroom
        marks = [{_PART: by_kind.get(_PART) or by_kind.get(_FOR, set())} for by_kind in marks]
        both = {_PART} if all(by_kind[_PART] for by_kind in marks) else set()
    return not any(
        marks[0][kind].isdisjoint(marks[1][kind]) for kind in both if kind in (of_kinds or both)
    )


def is_same(who: str, other: str) -> bool:
    """Whether two keys may be one person's: Maren, and my sister Maren."""
    ours, theirs = set(who.split()), set(other.split())
    return SOMEBODY not in ours | theirs and (ours <= theirs or theirs <= ours)


def adds(text: str) -> bool:
    """Whether what a text says holds beside what was said before: also, a second, as well."""
    return _ADDS.search(text) is not None


def read_things(text: str, language: str, terms: Callable[[str], frozenset[str]]) -> Reading:
    """What a sentence speaks of.

    Args:
        text: The sentence.
        language: By which its words are stemmed.
        terms: The telling terms of a word.

    """
    if has_japanese(text):
        return _in_japanese(text, terms)
    reader = _Reader(terms, language == "german")
    end = 0
    matches = [*_WORD.finditer(text)]
    for match, following in zip_longest(matches, matches[1:]):
        reader.read(match, text[end : match.start()], following)
        end = match.end()
    reader.close()
    return Reading(tuple(reader.done()), tuple(reader.subjects), adds(text))


def _in_japanese(text: str, terms: Callable[[str], frozenset[str]]) -> Reading:
    persons = [
        Subject(match.start(), match["person"] or match["owner"])
        for match in _SUBJECT_IN_JAPANESE.finditer(text)
    ]
    subjects = tuple(persons) or (Subject(0, SELF),)
    things = []
    rest, marks = text, set[tuple[str, str]]()
    for match in _NAME_IN_JAPANESE.finditer(text):
        things.append(Thing("", terms(match.group())))
    for match in _PAIR_IN_JAPANESE.finditer(text):
        which, head = match["which"], terms(match["head"])
        if which in "あこそ":
            continue
        if which in _SELVES_IN_JAPANESE or _OWNER_IN_JAPANESE.fullmatch(which):
            whose = SELF if which in _SELVES_IN_JAPANESE else which
            things.append(Thing(whose, head))
        elif _TIME_IN_JAPANESE.search(which) is None:
            marks |= {(_PART, which)}
            things.append(Thing(subjects[0].who, head, terms(which), frozenset({(_PART, which)})))
        else:
            continue
        rest = rest.replace(match["head"], "、")
    things.append(Thing(subjects[0].who, terms(rest), which=frozenset(marks)))
    return Reading(tuple(things), subjects, adds(text))


@dataclass(slots=True)
class _Named:
    """A thing while it is read: which link leads to it, and its words as written."""

    owner: str = ""
    is_owned: bool = False
    is_definite: bool = False
    link: str = ""
    words: list[str] = field(default_factory=list)
    start: int = 0
    parts: int = 0


@dataclass(slots=True)
class _Built:
    owner: str
    words: frozenset[str]
    pre: frozenset[str]
    which: set[tuple[str, str]]
    does: bool = False
    doer: _Built | None = None
    parts: frozenset[str] = frozenset()

    @property
    def tells_apart(self) -> frozenset[tuple[str, str]]:
        """What tells it from others of its name; of what is done, also of what does it."""
        if self.doer is None:
            return frozenset(self.which)
        return frozenset(self.doer.which | {("does", term) for term in self.doer.words})


@dataclass(slots=True)
class _Reader:
    """Reads words in their order. is_fresh: whether the next thing does what is said."""

    terms: Callable[[str], frozenset[str]]
    is_german: bool
    subjects: list[Subject] = field(default_factory=list)
    is_fresh: bool = True
    named: _Named = field(default_factory=_Named)
    built: list[_Built] = field(default_factory=list)
    last: _Built | None = None
    doer: _Built | None = None
    place: int = 0
    after_pronoun: bool = False
    skips: bool = False

    def read(self, match: re.Match[str], gap: str, following: re.Match[str] | None) -> None:
        """Read the next word. gap: what stands before it. following: the word after it."""
        word = match.group()
        owns = match["of"] is not None and (
            following is not None and not _is_little(following.group().casefold())
        )
        if match["of"]:
            word = word[: -len(match["of"])]
        lower = word.casefold()
        self.place = match.start()
        if gap.strip(" '’\"“”*"):
            self.close()
            self.last, self.is_fresh = None, True
        if self.skips:
            self.skips = False
            return
        if self._reads_little(lower, word):
            return
        if lower in _COUNTS and self.is_fresh and following is not None:
            if following.group().casefold() in ("of", "von"):
                self.skips = True
                return
        follows_pronoun, self.after_pronoun = self.after_pronoun, False
        is_verb = _is_verb(lower) and not (
            (lower.endswith("ed") or lower in _TELLS_APART)
            and self.named.is_definite
            and not self.named.words
        )
        if self.is_german and word[0].islower():
            is_verb = is_verb or bool(self.named.words) or not self.named.is_definite
            is_verb = is_verb and not _person_of(word)
        if is_verb or follows_pronoun:
            self.close()
            self._says(lower)
            if lower == "back" and self.last is not None:
                self.last.which.add(("to", "back"))
            elif not _DIGIT.match(word):
                self.last = None
            self.is_fresh = self.is_fresh and (self.is_german or lower in _ADVERBS)
            return
        self.named.words.append(word)
        is_genitive = (
            self.is_german
            and following is not None
            and following.group()[0].isupper()
            and _GENITIVE_IN_GERMAN.fullmatch(word)
            and not self._person()
        )
        if not self.named.start:
            self.named.start = match.start() + 1
        if owns:
            self._owns()
        elif match["of"]:
            self.close()
        elif is_genitive and len(self.named.words) == 1 and not self.named.is_definite:
            self.named.words[-1] = word[:-1]
            self._owns()

    def _reads_little(self, lower: str, word: str) -> bool:
        """Read a pronoun, an article, or a word between two things; whether it was one of these."""
        if lower in _SELVES or lower in _OTHERS:
            self.close()
            self.last = self.doer = None
            self.subjects.append(
                Subject(self.place, SELF if lower in _SELVES else self._somebody())
            )
            self.is_fresh = False
            self.after_pronoun = lower not in _OBJECTS and (lower in _SELVES or not self.is_german)
        elif lower in _THEY:
            self.close()
            self.doer = None
            if self.is_fresh or not lower.startswith(("it", "e")):
                self.subjects.append(Subject(self.place, "", is_thing=True))
            self.is_fresh, self.last = False, None
        elif lower in _MY or lower in _THEIR or lower in _THE:
            whose = self.named.link
            self.close(keeps_link=True)
            self.named = _Named(link=whose or self.named.link, is_definite=True)
            if lower in _MY:
                self.named.owner, self.named.is_owned = SELF, True
            elif lower in _THEIR:
                subject = self.subjects[-1].who if self.subjects else SOMEBODY
                self.named.owner, self.named.is_owned = subject or SOMEBODY, True
        elif lower in _LINKS:
            self.close()
            self.named = _Named(link=_LINKS[lower])
        elif lower in _FRESH:
            self.close()
            self.last, self.is_fresh = None, True
        else:
            return False
        return True

    def _somebody(self) -> str:
        """Whom a pronoun names: who was named before, where that is not the speaker."""
        named = [one.who for one in self.subjects if one.who not in ("", SELF)]
        return named[-1] if named else SOMEBODY

    def _person(self) -> str:
        """The relative that the thing being read is; empty where it is none."""
        return next((key for word in self.named.words if (key := _person_of(word))), "")

    def _key(self) -> str:
        """By what the thing being read is known as an owner."""
        return _key_of(self.named.words)

    def _owns(self) -> None:
        """What follows belongs to what is named so far."""
        named = self.named
        if not (self._person() or named.words[-1][:1].isupper()):
            named.parts = len(named.words)
        else:
            self.named = _Named(self._key(), True, True, named.link, start=named.start)

    def _says(self, lower: str) -> None:
        """A word that names nothing: what is done, by whoever does it."""
        if words := self.terms(lower):
            subject = self.subjects[-1].who if self.subjects else ""
            self.built.append(_Built(subject, words, frozenset(), set(), doer=self.doer))

    def close(self, *, keeps_link: bool = False) -> None:
        """The thing that was read is complete."""
        named, self.named = self.named, _Named()
        if not named.words:
            if named.is_owned and named.owner and self.is_fresh:
                self._becomes_subject(named, "")
            if keeps_link:
                self.named.link = named.link
            return
        words = named.words[-MOST_THING_WORDS:]
        is_person = any(_person_of(word) for word in words)
        person = _key_of(words) if is_person else ""
        is_name = (
            not (self.is_german or named.is_definite)
            and all(word[:1].isupper() for word in words)
            and any(self.terms(word) for word in words)
            and not (named.start == 1 and words[0].endswith("s"))
        )
        does = self.is_fresh and not named.link
        self.built.append(self._build(named, words, person, is_name=is_name, does=does))
        for word in named.words[: named.parts]:
            self.built[-1].parts |= self.terms(word)
        if does:
            self.doer = None if person or is_name else self.built[-1]
            self._becomes_subject(named, _key_of(words) if person or is_name else "")
        elif self.is_german and person and not named.link and not self.subjects:
            self.subjects.append(Subject(self.place, person))
        if self.last is not None and (named.link or (person and self._is_genitive(named))):
            self._tells_which(named, person)
        if not named.link:
            self.last = self.built[-1]

    def _is_genitive(self, named: _Named) -> bool:
        """Whether a German relative stands behind a thing as its owner: die Miete meiner Schwester."""
        return self.is_german and named.is_definite

    def _tells_which(self, named: _Named, person: str) -> None:
        """What was read tells which one the thing before it is, or whose."""
        assert self.last is not None
        told = self.built[-1].words | self.built[-1].pre
        told = told or _PLACES.intersection(word.casefold() for word in named.words)
        if self.built[-1].owner == SOMEBODY or (person and named.link in ("", _FOR)):
            self.last.owner = person or SOMEBODY
            if self.last.does:
                self.subjects[-1] = self.subjects[-1]._replace(who=self.last.owner)
        else:
            if self.last.does or named.link == _FOR:
                self.last.which |= {(named.link, term) for term in told}
            if self.last.does and self.doer is None:  # my grandmother in Lyon
                start, who = self.subjects[-1][:2]
                self.subjects[-1] = Subject(start, " ".join((who, *sorted(told))))

    def _becomes_subject(self, named: _Named, key: str) -> None:
        who = key or named.owner
        start = named.start - 1 if named.start else self.place
        self.subjects.append(Subject(start, who, is_thing=not key))
        self.is_fresh = False

    def _build(
        self, named: _Named, words: list[str], person: str, *, is_name: bool, does: bool
    ) -> _Built:
        subject = self.subjects[-1].who if self.subjects else ""
        owner = named.owner if named.is_owned else "" if does or person else subject
        if not _FOREIGN.isdisjoint(word.casefold() for word in words) and owner != SELF:
            owner = SOMEBODY
        whole = [self.terms(word) for word in words]
        if person or is_name:
            head, pre = frozenset().union(*whole), frozenset[str]()
        else:
            head, pre = whole[-1] or frozenset([words[-1].casefold()]), frozenset().union(*whole[:-1])
        which = {(_PART, term) for term in pre}
        which |= {
            ("pre", word.casefold()) for word in words[:-1] if word.casefold() in _TELLS_APART
        }
        return _Built(owner, head, pre, which, does)

    def done(self) -> Iterator[Thing]:
        """All things that were read."""
        for thing in self.built:
            if thing.words or thing.which:
                yield Thing(thing.owner, thing.words, thing.pre, thing.tells_apart, thing.parts)


def _is_little(word: str) -> bool:
    """Whether a word cannot follow an owner."""
    return _is_verb(word) or word in _LINKS or word in _THE or word in _FRESH or word in _MY


def _is_verb(word: str) -> bool:
    """Whether a word names no thing, as far as its form tells."""
    return word in _NO_NOUN or word[0].isdigit() or word.endswith("ed")


_ADVERBS_WORDS = """
    on from now today yesterday finally also just so lately recently unfortunately sadly jetzt
    heute gestern endlich leider
"""
_ADVERBS = frozenset(_ADVERBS_WORDS.split())


def _key_of(words: list[str]) -> str:
    """By what words are known as an owner: a relative with the names beside it, or a name."""
    names = [word.casefold() for word in words if word[:1].isupper()]
    for word in words:
        if person := _person_of(word):
            others = [name for name in names if name != word.casefold()]
            return " ".join((person, *others))
    return names[-1] if names else words[-1].casefold() if words else ""


def _person_of(word: str) -> str:
    """The relative that a word names, in one spelling; of a compound the whole."""
    lower = word.casefold()
    for name in (lower, lower.removesuffix("s")):
        if name in PERSONS:
            return _ONE_NAME.get(name, name)
    base, _, rest = lower.partition("-")
    if base in PERSONS and rest:
        return lower
    if any(lower.endswith(name) for name in _ENDINGS_IN_GERMAN):
        return lower
    return ""


_ENDINGS_IN_GERMAN = (
    "mutter", "vater", "bruder", "schwester", "sohn", "tochter", "kollege", "kollegin", "nachbar",
    "nachbarin", "freund", "freundin", "mitbewohner", "mitbewohnerin", "kumpel", "team",
)  # fmt: skip


def in_common(
    before: Reading,
    now: Reading,
    shared: frozenset[str],
    alike: Callable[[Collection[str], Collection[str]], frozenset[str]],
) -> frozenset[str]:
    """Of the terms that two sentences share those that name one thing in both.

    Args:
        before: The earlier sentence.
        now: The later one.
        shared: The terms.
        alike: The terms of one set that are those of another one, or alike.

    """
    known = frozenset().union(*(thing.words | thing.pre for thing in before.things))
    found: set[str] = set()
    for ours in now.things:
        for theirs in before.things:
            if not agree(theirs, ours, known):
                continue
            pairs = []
            if are_one(theirs, ours, ("pre",)):
                pairs += [(theirs.pre, ours.words), (theirs.words, ours.pre - ours.parts)]
            if are_one(theirs, ours):
                pairs += [(theirs.words, ours.words)]
                pairs += [(theirs.pre, ours.pre)] if pairs[-1][0] & pairs[-1][1] else []
            common = {
                term
                for one, other in pairs
                if one and other
                for term in alike(one, other) | alike(other, one)
            }
            if common.isdisjoint(shared) and common:  # Mia's hearing, in both
                owners = ours.owner.split()
                common |= {term for term in shared if any(one.startswith(term) for one in owners)}
            found |= common
    return shared & found
