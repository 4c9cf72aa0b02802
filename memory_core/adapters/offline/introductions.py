"""Write out the parts of a German or Japanese introduction that have no verb.

"Ich bin Jonas, 34, Koch" has three clauses: "ich heiße Jonas", "ich bin 34", "ich bin Koch". A part
is only written out where the part before said who the speaker is, and named no other person.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from memory_core.adapters.offline import names
from memory_core.adapters.offline.fact_values import known_job
from memory_core.adapters.offline.occupations import GERMAN_TRADE, JAPANESE_JOB, JAPANESE_TRADE
from memory_core.domain.text.spelling import ANY_GERMAN_MONTH, ANY_GERMAN_WEEKDAY

GERMAN_VERB = (
    r"(?:bin|habe?|heiße|wohne|lebe|arbeite|jobbe|studiere|komme|stamme|spreche|lerne|spiele|esse"
    r"|trinke|mag|liebe|hasse|fahre|nehme|rauche|vertrage|sammle|leide|besitze|singe|tanze|ziehe"
    r"|fliege|ernähre)\b"
)
_OWN_VERB = re.compile(rf"{GERMAN_VERB}(?!.{{0,200}}\b(?:ich|wir|er|sie|es)\b)", re.IGNORECASE)
_SAYS_OWN = re.compile(r"\bich\b|\bmein Name ist\b", re.IGNORECASE)
_OTHER_PERSON = re.compile(r"\b(?:mit|habe?|mein\w*|unser\w*|wir|\w+er als)\b", re.IGNORECASE)
"""Words beside which another person may be named, whom the next part may be about."""
_AGE = r"\d{1,3}(?: Jahre(?: alt| jung)?)?"
_CHILDREN = (
    r"(?:\d|eine?n?|zwei|drei|vier|fünf|keine) (?:\w+e )?"
    r"(?i:kind(?:er)?|söhne|sohn|töchter|tochter|katzen?|hunde?|geschwister|enkel(?:kinder)?)"
    r"(?: und .{2,40})?"
)
_WRITTEN = (
    (
        "ich bin",
        re.compile(
            rf"{_AGE}|(?i:verheiratet|verlobt|geschieden|ledig|verwitwet|single)\b.*"
            r"|(?i:vegetarier|veganer|rentner|(?:links|rechts)händer)(?:in)?|vegan|vegetarisch"
            r"|(?:Vater|Mutter|Mama|Papa) von \w+ Kindern"
            rf"|(?:[a-zäöüß]{{3,20}}er? )?{GERMAN_TRADE}"
            r"(?: (?:bei|beim|in|im|an|am|für|aus) [\w .-]{2,40})?"
        ),
    ),
    ("ich habe", re.compile(_CHILDREN)),
    ("ich komme", re.compile(r"(?:ursprünglich )?aus [A-ZÄÖÜ][\wäöüß-]+")),
)
"""The words that a part of an introduction may leave out, each with such parts."""
_TRADE = re.compile(GERMAN_TRADE)
_SETTLED = re.compile(r"(?:wohne|lebe|arbeite|studiere|jobbe|komme aus)\b")
_SAYS_WHAT = re.compile(r"(?:ich )?(?:bin|heiße)\b", re.IGNORECASE)
_AGE_ALONE = re.compile(_AGE)
_GREETING = re.compile(
    r"(?:hallo|hi|hey|moin|servus|guten (?:tag|morgen|abend)|kurz zu mir|zu mir)(?: zusammen)?",
    re.IGNORECASE,
)
_NAMED = re.compile(
    r"(?P<by>(?:[Ii]ch bin|[Hh]ier (?:ist|spricht)) (?:der |die )?)?"
    r"(?P<name>[A-ZÄÖÜ][a-zäöüßé-]+(?: [A-ZÄÖÜ][a-zäöüßé-]+)?)(?P<here> hier)?"
)
_PEOPLES = (
    "Türk|Pol|Griech|Franzos|Französ|Russ|Dän|Schwed|Finn|Ir|Brit|Schott|Portugies|Chines|Kroat"
    "|Serb|Bulgar|Rumän|Tschech|Slowak|Slowen|Kurd|Afghan|Schwab|Schwäb|Sachs|Sächs|Frank|Fränk"
    "|Hess|Ost|West|Nord|Süd"
)
_NO_NAME = re.compile(
    rf"{GERMAN_TRADE}|(?:{_PEOPLES})(?:e|in)|Deutsche?|Ungar(?:in)?|{ANY_GERMAN_WEEKDAY}"
    rf"|{ANY_GERMAN_MONTH}"
    r"|(?!(?:Peter|Alexander|Walth?er|Werner|R[ae]iner|Günth?er|Gunth?er|Dieter|Oliver|Holger"
    r"|Rüdiger|Xaver|Volker|Vincent|Viktor|Victor|Igor|Theodor|Gregor|Hektor|Hermann|Tilmann|Til[lm]an)\Z)[\w-]{1,30}"
    r"(?:er|erin|or|orin|ent|entin|ist|istin|ant|antin|mann|frau|kunde|kraft|ling|hilfe|ung|heit|keit|schaft)"
    r"|Mutter|Vater|Mama|Papa|Oma|Opa|Single|Azubi|Fan|Mitglied|Chef|Chefin|Profi|Laie|Christ"
    r"|Muslima?|Vorstand|Doktorand|Boss|Star|Expat|Jude|Jüdin|Kunde|Kundin|Witwe|Waise|Gast|Team|Platz|Seite|Schritt|Nummer|Zimmer"
    r"|Stier|Krebs|Löwe|Jungfrau|Waage|Skorpion|Schütze|Steinbock|Wassermann|Fische?",
    re.IGNORECASE,
)
"""German nouns after "ich bin" that are no names."""


def german_clauses(parts: Sequence[str], depends: Callable[[str], bool]) -> list[str]:
    """Write out the clauses of a German sentence that leave out "ich" or a verb.

    Args:
        parts: The clauses as they were said.
        depends: Whether a clause supposes, or depends on another.

    """
    carried, says_who, whole = False, False, list[str]()
    pieces = [piece for part in parts for piece in _pieces(part)]
    for place, piece in enumerate(pieces):
        if (name := _name(pieces, place)) is not None:
            clause, carried, says_who = f"ich heiße {name}", True, True
        elif carried and _OWN_VERB.match(piece):
            clause = f"ich {piece[:1].lower()}{piece[1:]}"
        elif says_who and (verb := _verb_left_out(piece)):
            clause = f"{verb} {piece}"
        else:
            clause, carried = piece, _SAYS_OWN.search(piece) is not None
            says_who = carried
        carried = carried and not depends(piece)
        says_who = carried and says_who and not _OTHER_PERSON.search(piece)
        whole.append(clause)
    return whole


def _pieces(part: str) -> Sequence[str]:
    """Part the last item from a clause like "ich bin Koch und 34"."""
    first, joint, last = part.rpartition(" und ")
    says_what = _SAYS_WHAT.match(first) or _verb_left_out(first)
    of_two_trades = _TRADE.search(first) and _TRADE.search(last)
    is_apart = joint and says_what and _verb_left_out(last) and not of_two_trades
    return (first, last) if is_apart else (part,)


def _verb_left_out(part: str) -> str | None:
    return next((verb for verb, parts in _WRITTEN if parts.fullmatch(part)), None)


def _name(pieces: Sequence[str], place: int) -> str | None:
    """The name that a part says before an age.

    "Ich bin Jonas", "Jonas hier" and "Jonas" say it. Without a verb it begins the sentence,
    and a later part says where the speaker lives or works.
    """
    match = _NAMED.fullmatch(pieces[place])
    after = pieces[place + 1 :]
    if match is None or not after or not _AGE_ALONE.fullmatch(after[0]):
        return None
    words = match["name"].split()
    if any(
        _NO_NAME.fullmatch(word) or known_job(word) or not names.is_given_name(word)
        for word in words
    ):
        return None
    if not match["by"] and not match["here"]:
        if names.own_name(match["name"]) is None:
            return None
        before = all(_GREETING.fullmatch(piece) for piece in pieces[:place])
        if not before or not any(_SETTLED.match(piece) for piece in after):
            return None
    return match["name"]


_BARE_JA = re.compile(
    r"(?:(?P<age>(?:今年で?)?\d{2,3}歳)|[^、。はがをにで\s]{1,8}(?:在住|出身)"
    rf"|[^、。はのでを\s]{{0,10}}{JAPANESE_TRADE}|独身|既婚)(?:で|です|でして)?"
)
_ATTRIBUTIVE = re.compile(r"(?:(?<=歳)|(?<=在住)|(?<=出身))の")
_WHO = r"(?P<name>[^、。はがのでにをも\s]{1,8}?(?<![者生員師家婦年人性]))"
_CALLED_JA = re.compile(rf"(?:(?:私|僕|俺)(?:の名前)?|名前)は{_WHO}")
_GREETING_JA = r"(?:はじめまして|初めまして|こんにちは|こんばんは|おはようございます)"
_GREETING_ALONE = re.compile(rf"{_GREETING_JA}[、。！!\s]{{0,4}}")
_IS_NAMED = re.compile(
    rf"(?P<greeting>{_GREETING_JA}[、！!\s]{{0,4}})?{_WHO}"
    r"(?:です|(?P<called>と(?:いい|言い)ます))[。！!\s]{0,4}"
)
_AGE_NEXT = re.compile(
    r"[\s。！!]{0,4}(?:[^、。はがをに\s]{1,8}(?:在住|出身)[の、])?(?:今年で?)?\d{2,3}歳"
)
_NO_NAME_JA = re.compile(
    rf".{{0,8}}(?:{JAPANESE_TRADE}|{JAPANESE_JOB})|元気|大丈夫|独身|既婚|[男女]"
    r"|.{1,8}[都道府県市区]|東京|大阪|京都|名古屋|横浜|神戸|福岡|札幌|仙台|広島|北海道|沖縄"
)


def japanese_clauses(clause: str) -> list[str]:
    """Part a list that says the speaker's age.

    "28歳、エンジニアです" says two things.

    Args:
        clause: A clause about its speaker.

    """
    items = [item for piece in clause.split("、") for item in _items(piece)]
    matches = [_BARE_JA.fullmatch(item) for item in items]
    if _OF_ANOTHER_JA.search(items[0]) or not any(match and match["age"] for match in matches):
        return [clause]
    whole: list[str] = []
    is_open = False
    for place, item in enumerate(items):
        called = _CALLED_JA.fullmatch(item) if place == 0 else None
        if called is not None and not _NO_NAME_JA.fullmatch(called["name"]):
            whole.append(f"名前は{called['name']}です")
        elif _BARE_JA.fullmatch(alone := _SELF_JA.sub("", item)):
            whole.append(f"{_COPULA.sub('', alone)}です")
            is_open = False
            continue
        elif is_open:
            whole[-1] += f"、{item}"
        else:
            whole.append(item)
        is_open = called is None
    return whole


_OF_ANOTHER_JA = re.compile(r"\A(?!(?:私|僕|俺|名前)は)[^、]{1,20}[はがも]")
_SELF_JA = re.compile(r"\A(?:私|僕|俺)は")
_COPULA = re.compile(r"(?:で|です|でして)\Z")


def _items(piece: str) -> Sequence[str]:
    """The items of a list that "の" joins: "25歳のデザイナーです"."""
    match = _ATTRIBUTIVE.search(piece)
    if match is None:
        return (piece,)
    first, last = piece[: match.start()], piece[match.end() :]
    return (first, *_items(last)) if _BARE_JA.fullmatch(_items(last)[0]) else (piece,)


def with_name(sentence: str, before: str, after: str) -> str:
    """Write out a name that Japanese says without a topic.

    "健太です" does before an age.

    Args:
        sentence: The sentence.
        before: The sentence of the message before it.
        after: The message after it.

    """
    match = _IS_NAMED.fullmatch(sentence)
    if match is None or _NO_NAME_JA.fullmatch(match["name"]):
        return sentence
    greets = bool(match["greeting"] or (before and _GREETING_ALONE.fullmatch(before)))
    begins = greets or not before
    if (begins and match["called"]) or (greets and _AGE_NEXT.match(after)):
        return f"名前は{match['name']}です"
    return sentence


_PUT_RIGHT = re.compile(r"\b[Dd](ie|er|as) (?=\w{3,40} (?:ist|lautet) [^,;:!?]{1,40}, nicht )")


def with_owner(sentence: str) -> str:
    """What puts right a thing of the speaker's: "die Hausnummer ist 21, nicht 12"."""
    return _PUT_RIGHT.sub(lambda match: "meine " if match[1] == "ie" else "mein ", sentence)
