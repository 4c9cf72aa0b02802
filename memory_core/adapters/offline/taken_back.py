"""What a sentence takes back: a diagnosis, a diet, an employer, a name.

Such a sentence rarely repeats the words in which the truth was told, so each slot that it may mean
is ended. Note: an ending is kept only where the slot is known, so that "it isn't coeliac" says
nothing of a person who never had the diagnosis.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from memory_core.adapters.offline.animals import IN_ENGLISH as ANIMAL
from memory_core.adapters.offline.fact_matches import FoundFact
from memory_core.adapters.offline.omissions import is_about_another
from memory_core.domain.statements.attributes import PET, canonical_attribute
from memory_core.domain.statements.said_words import KIN_IN_JAPANESE, person_of
from memory_core.domain.text.analyzer import has_japanese, words
from memory_core.domain.truth.slots import NO_LONGER

_THING = r"(?P<thing>(?!(?:the|my|an?)\b)[a-z][a-z'’-]{2,20}(?: [a-z][a-z'’-]{2,20})?)"
_IS_NOT = r"(?:is not|isn['’]t|was not|wasn['’]t|['’]s not|turned out not to be)"
_FINDINGS = (
    r"\b(?:biops(?:y|ies)|tests?|tested|results?|doctors?|doc|diagnos\w+|misdiagnos\w+|allergists?"
    r"|specialists?|scans?|bloods?|bloodwork|after all|turn(?:s|ed) out|befund|ärztin|arzt|doch"
    r"|diagnose)\b|検査|診断|医者|医師|病院|結果"
)
_FOUND_OUT = re.compile(_FINDINGS, re.IGNORECASE)
"""How a diagnosis is disproved: "it isn't nuts" alone is said of a cake."""
_MAY_EAT = re.compile(rf"{_FINDINGS}|\b(?:can|may) (?:eat|have|drink)\b|\ballerg", re.IGNORECASE)
_DISPROVED = (
    re.compile(
        rf"\b(?:it|this|that)(?: {_IS_NOT}|['’]s not) (?:actually |really )?(?:an? )?{_THING}"
        r"(?=[.,;!]|\Z| after all)",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\bI (?:do not|don['’]t|never) (?:actually |really )?(?:have|had) (?:an? )?{_THING}"
        r"(?=[.,;!]|\Z| after all)",
        re.IGNORECASE,
    ),
    re.compile(rf"\btested negative for (?:an? )?{_THING}(?=[.,;!]|\Z)", re.IGNORECASE),
    re.compile(
        r"\b(?:[Ee]s|[Dd]as) (?:ist|war) (?:\w+ )?keine? (?P<thing>[A-ZÄÖÜ][a-zäöüß]{3,30})\b"
        r"|\b(?:[Ii]ch habe?|habe? ich) (?:\w+ )?keine? (?P<thing2>[A-ZÄÖÜ][a-zäöüß]{3,30})"
        r"(?=[.,;!]|\Z)"
    ),
    re.compile(
        r"(?:\A|[、はが])(?P<thing>[^、。はがの\s]{1,10}?)(?:では|じゃ)"
        r"(?:ありません|なかった|ない(?!か))"
    ),
)
_FALSE = r"(?:wrong|not (?:right|true|correct)|a mistake|outdated)"
_NOT_CONFIRMED = (
    re.compile(
        rf"\b(?:the|my) {_THING} (?:diagnosis )?(?:was|is|has been|turned out to be)"
        r" (?:a mistake|a misdiagnosis|misdiagnosed|ruled out|not confirmed)\b",
        re.IGNORECASE,
    ),
    re.compile(
        r"\A(?:(?:actually|sorry|oh|so|well|(?:it )?turns out|it turned out),? ){0,2}(?:that )?"
        rf"(?:the|my) {_THING} diagnosis (?:was|is) {_FALSE}[\s.!]{{0,9}}\Z",
        re.IGNORECASE,
    ),
    re.compile(
        r"\A(?:[Dd]ie|[Mm]eine) (?P<thing>[A-ZÄÖÜ][a-zäöüß]{3,30})-?[Dd]iagnose"
        r" war (?:doch )?falsch[\s.!]{0,9}\Z"
    ),
    re.compile(
        rf"(?:\A|\b(?:my|the) ){_THING} (?:test )?came back negative(?=[.,;!]|\Z)", re.IGNORECASE
    ),
    re.compile(
        rf"\bI(?:['’]ve| have)?(?: finally)? (?:outgrew|outgrown) (?:the|my) {_THING}(?=[.,;!]|\Z)",
        re.IGNORECASE,
    ),
    re.compile(
        r"(?:\A|\b(?:[Dd]ie|[Mm]eine) )(?P<thing>[A-ZÄÖÜ][a-zäöüß]{3,30}) "
        r"(?:hat sich (?:doch )?nicht bestätigt|wurde (?:doch )?(?:nicht bestätigt|ausgeschlossen)"
        r"|ist (?:zum Glück )?(?:vom Tisch|ausgeschlossen)"
        r"|war (?:doch )?(?:ein Irrtum|eine Fehldiagnose))\b"
    ),
    re.compile(
        r"(?:\A|[、は])(?P<thing>[^、。はがの\s]{1,10}?)(?:は|の診断は|というのは)"
        r"(?:誤診|間違い)(?:でした|だった)"
    ),
)
_WRONG_ABOUT = re.compile(
    rf"\bI (?:was|had been) (?:wrong|mistaken) about (?:the|my) {_THING}(?=[.,;!:]|\Z)",
    re.IGNORECASE,
)
_KIND = re.compile(
    r"(?:\A|[ -])?(?P<kind>allerg(?:y|ie)|intoleran(?:ce|z)|アレルギー|disease"
    r"|diagnos(?:is|e))\Z",
    re.IGNORECASE,
)
_DISMISSED = re.compile(
    r"\A(?:(?:so|well|ugh|oh|and),? )?"
    r"(?P<value>[A-ZÀ-Þ][\w&.'’-]{1,30}(?: [A-ZÀ-Þ][\w&.'’-]{1,30}){0,3})"
    r" (?:has |have |had |just ){0,2}(?:let (?:me|us) go|laid (?:me|us) off|fired (?:me|us)"
    r"|sacked (?:me|us)|made (?:me|us) redundant)"
    r"(?: (?:today|yesterday|last (?:week|month|year|\w{3,6}day)|this (?:morning|week|month)"
    r"|on \w{3,6}day|in [A-Z][a-z]{2,8}|after (?:\d{1,2}|\w{3,6}) years))?"
    r"(?=[.,;!]|\Z| because\b)"
)
_REDUNDANT = re.compile(
    r"\b(?:redundan\w+|laid|fired|sacked|layoffs?|severance|job|position)\b", re.IGNORECASE
)
_NO_ORGANISATION = re.compile(
    r"(?:They|He|She|It|We|You|That|This|My|Our|The|Mom|Mum|Dad|Mother|Father)\b"
)
_NOT_CALLED = re.compile(
    r"\b(?:stop|quit) calling me (?:\"|“)?(?P<name>[A-ZÀ-Þ][\w'’-]{1,20})"
    r"|\b(?:do not|don['’]t) call me (?P<name2>[A-ZÀ-Þ][\w'’-]{1,20}) any ?(?:more|longer)"
    r"|\b[Nn]enn(?:e|en Sie)? mich (?:bitte )?nicht (?:mehr|länger) (?P<name3>[A-ZÄÖÜ][\w-]{1,20})"
    r"|(?:\A|[、はも])(?P<name4>[^、。はもを\s]{1,10}?)(?:って|と)呼(?:ばないで|ぶのはやめて)"
)
_PARTNERS = {
    "english": "boyfriend girlfriend husband wife partner fiancé fiancée fiance fiancee",
    "german": "freund freundin mann frau ehemann ehefrau partner partnerin verlobter verlobte",
    "japanese": "彼氏 彼女 夫 妻 旦那 婚約者",
}
_A_NAME = r"[A-ZÀ-Þ][a-zà-ÿ]{1,20}"
_PARTNER = "|".join(_PARTNERS["english"].split())
_PARTNER_DE = "|".join(
    f"{word[0].upper()}{word[1:]}|{word}" for word in _PARTNERS["german"].split()
)
_JUST = r"(?:(?:have|just|finally|recently|actually|['’]ve) ){0,3}"
_PARTED = (
    re.compile(
        rf"\A(?:(?:So|Well|Ugh|Actually|Sadly|Yeah|And),? ){{0,2}}"
        rf"(?:My (?P<kin>{_PARTNER})(?: (?P<name>{_A_NAME}))?|(?P<name2>{_A_NAME})) and I"
        rf"(?:['’]ve)? {_JUST}(?:broke up|broken up|split up|split|separated|got divorced"
        r"|are over|are divorced|are no longer together|are not together any ?more"
        r"|aren['’]t together any ?more)\b(?! (?:with|into|over|an?|the|our|this|that|some)\b)"
    ),
    re.compile(
        rf"\bI {_JUST}(?:broke up with|dumped|divorced|split up with|separated from) "
        rf"(?:my (?P<kin>{_PARTNER})(?: (?P<name>{_A_NAME}))?|(?P<name2>{_A_NAME}))\b"
    ),
    re.compile(
        rf"\A(?:My (?P<kin>{_PARTNER})(?: (?P<name>{_A_NAME}))?|(?P<name2>{_A_NAME}))"
        rf" {_JUST}(?:broke up with|dumped|divorced) me\b"
    ),
    re.compile(
        rf"\A(?:[Mm]eine? (?P<kin>{_PARTNER_DE})(?: (?P<name>{_A_NAME}))?|(?P<name2>{_A_NAME}))"
        r" und ich (?:haben uns|sind)(?: \w{3,9}){0,2} (?:getrennt|geschieden"
        r"|nicht mehr zusammen|auseinander)(?=[.,;!]|\Z)"
    ),
    re.compile(
        rf"\b(?:[Ii]ch habe?|habe? ich) mich(?: \w{{3,9}}){{0,2}} von (?:meine[rm] "
        rf"(?P<kin>{_PARTNER_DE})(?: (?P<name>{_A_NAME}))?|(?P<name2>{_A_NAME})) getrennt\b"
    ),
    re.compile(
        r"\A(?:(?:先週|先月|昨日|今日|実は|結局)、?)?(?:(?P<kin>彼氏|彼女|夫|妻|旦那|婚約者)"
        r"|(?P<name>[^、。はがのをにとで\s]{2,8}))と(?:は)?(?:別れ|離婚し)"
        r"(?:まし)?(?:た|ちゃった)(?=[。！!よの]|ん[だで]|\Z)"
    ),
)
"""How a couple parts: "Tom and I broke up"; a name alone may be of any of them."""
_PET_NOT = re.compile(
    rf"\b(?:[Mm]y|[Oo]ur) (?:[\w-]+ )?(?:{ANIMAL})(?:['’]s name is| is (?:called|named))"
    rf" {_A_NAME},? (?:and )?not (?P<slip>{_A_NAME})(?=[.!]|\Z)"
)
_DIETS = "vegan|vegetarian|pescatarian|keto|paleo|low[- ]carb|gluten[- ]free|mediterranean"
_DIET_OVER = re.compile(
    rf"\b(?:(?:the|my|this|that) )?(?:whole )?(?P<diet>{_DIETS})(?: thing| diet| phase"
    r"| experiment)? (?:is|was|['’]s) (?:over|done|history|finished)\b"
    rf"|\bI(?:['’]ve| have)? (?:just |finally )?(?:quit|gave up on|given up on|gave up|given up"
    rf"|stopped|dropped|ended) (?:(?:the|my) )?(?P<diet2>{_DIETS})\b",
    re.IGNORECASE,
)
_GERMAN_DIET_OVER = re.compile(
    r"\b(?:[Dd]ie|[Mm]eine|[Mm]it (?:der|meiner)) (?P<diet>[Vv]egan|[Vv]egetarisch)en? (?:Phase"
    r"|Ernährung|Diät|Zeit|Sache) (?:ist (?:vorbei|Schluss|zu Ende|Geschichte)|habe ich"
    r" (?:beendet|aufgegeben))\b"
    r"|\b(?:[Ii]ch bin|bin ich|[Ii]ch lebe|[Ii]ch esse) (?:\w+ )?(?:nicht mehr|keine?) "
    r"(?P<diet2>[Vv]egan|[Vv]egetari\w{2,6})"
)
_EATS_AGAIN = re.compile(
    r"\bI(?:['’]m| am| can| do|['’]ve started| have started| started| just)? ?(?:eat|eating)"
    r" (?P<food>[a-z]{3,12}) again\b"
    r"|\b(?:[Ii]ch esse|esse ich) (?:\w+ )?wieder (?P<food2>[A-ZÄÖÜ][a-zäöüß]{2,12})\b"
    r"|また(?P<food3>肉|お肉|魚|チーズ|卵|乳製品)を食べ"
    r"|(?P<food4>肉|お肉|魚|チーズ|卵|乳製品)[をも]また食べ"
)
_MEATLESS = re.compile(
    r"\bI(?:['’]m| am| went| have gone|['’]ve gone)(?: back to)?(?: being)?(?: an?)?"
    r" (?:vegan|vegetarian) again\b",
    re.IGNORECASE,
)
"""What ends that the speaker eats meat; German statements of a diet say so by themselves."""
_ANIMAL_PRODUCTS = """
    cheese dairy milk eggs butter honey yoghurt yogurt käse milch eier honig joghurt quark
    チーズ 卵 乳製品
"""
_OF_ANIMALS = frozenset(_ANIMAL_PRODUCTS.split())
_MEATS = """
    meat chicken beef pork bacon lamb turkey steak sausages burgers fish salmon tuna seafood
    fleisch hähnchen rind schwein speck wurst fisch lachs 肉 お肉 魚
"""
_FLESH = frozenset(_MEATS.split())
_OF_VEGANS = ("vegan", "vegan", "ヴィーガン or ビーガン")
_OF_VEGETARIANS = ("vegetarian", "vegetarisch or vegetarier", "ベジタリアン or 菜食主義")
"""Names of diets in English, German and Japanese, without their endings."""
_OWNER = re.compile(
    r"\b(?!(?:It|That|There|What|Who|Here|Let|Doctor|Doc|Today)['’])[A-Z][a-zà-ÿ]+['’]s\b"
)
_SUPPOSES = re.compile(
    r"\b(?:if|whether|maybe|perhaps|might|could|would|hope|hopefully|wish|imagine|wenn|falls|ob"
    r"|vielleicht|hoffe|hoffentlich|könnte|wäre|her|his|he|she|their|seine?|ihre?"
    r"|afraid|scared|thought|dream\w*|role|game|story|novel|film|movie|article|newspapers?|once|but"
    r"|haha|lol|joke|kidding|aber|dachte|traum|träum\w*|rolle|spiel|scherz|angeblich|laut|früher"
    r"|damals|roman|artikel|zeitung)\b"
    r"|もし|なら|かも|だろう|でしょう|といい|ように|夢|のに|友人|友達|と言|記事|昔|以前|嬉し|うれし"
    r"|書いて|小説|映画|ゲーム|冗談|まさか",
    re.IGNORECASE,
)
"""Words of what is supposed, feared, dreamt, played, reported, long past, or put in question by a
further clause."""


_SAID_IN_GERMAN = (
    r"(?:[Ww]as|[Dd]as, was) ich (?:dir |vorhin |neulich )?(?:über|zu) (?P<of>(?:mein|unser)e?m?"
    r" [\wäöüß-]{2,30})(?: \w+)? (?:gesagt|geschrieben|erzählt) habe?,? (?:war|ist|stimmt)"
    r" (?:falsch|nicht(?: richtig)?)"
)
_SAID_WRONG_IN_GERMAN = re.compile(
    _SAID_IN_GERMAN + r"[,;.:–—-]{1,2} ?(?:es (?:ist|sind)|richtig (?:ist|sind))"
    r" (?P<value>[^,;!?]{1,40})"
)
_SAID = (
    rf"\A(?:(?:actually|sorry|oh|no|wait|so),? ){{0,2}}what I (?:said|told you|wrote)"
    rf"(?: earlier| before)? about (?P<of>(?:my|our|the) [\w -]{{2,30}}?) (?:was|is) "
    rf"{_FALSE}"
)
_SAID_WRONG = re.compile(
    _SAID + r"[,;.:–—-]{1,2} ?(?:actually |really )?(?:it(?:['’]s| is)|they(?:['’]re| are)) "
    r"(?P<value>[^,;!?]{1,40}(?:,\d{3})?)",
    re.IGNORECASE,
)
_SAID_ALL_WRONG = (
    re.compile(_SAID + r"[\s.!]{0,9}\Z", re.IGNORECASE),
    re.compile(_SAID_IN_GERMAN + r"[\s.!]{0,9}\Z", re.IGNORECASE),
)
_OWNER_OF_SAID = re.compile(r"\A(?:my|our|the|mein\w{0,2}|unser\w{0,2}) ", re.IGNORECASE)


def put_straight(sentence: str) -> str:
    """What a sentence says instead of what was said of a thing before.

    Args:
        sentence: "What I said about my salary was wrong, it's 67,000."

    Returns:
        "My salary is 67,000."; the sentence itself where it puts nothing straight.

    """
    match = _SAID_WRONG.match(sentence) or _SAID_WRONG_IN_GERMAN.match(sentence)
    if match is None:
        return sentence
    verb = "ist" if match.re is _SAID_WRONG_IN_GERMAN else "is"
    return f"{match['of'][:1].upper()}{match['of'][1:]} {verb} {match['value']}."


def facts_taken_back(
    sentence: str, before: str, after: str, speaker_name: str
) -> Iterator[FoundFact]:
    """The slots of the speaker that a sentence may end, each as a fact.

    Args:
        sentence: The sentence, which asks nothing.
        before: The sentence before it in the message.
        after: The message after it.
        speaker_name: The speaker's name, as facts have it.

    """
    if _SUPPOSES.search(sentence):
        return
    owner = speaker_name.lower() if speaker_name == "User" else speaker_name
    text = f"{speaker_name}: {sentence[:1].upper()}{sentence[1:]}".rstrip(" .!。！")
    for kin, value in _parted(sentence):
        yield FoundFact(text, f"{owner}'s {kin}", "name", f"{NO_LONGER} {value}".strip(), 0.8)
    if any(map(_names_another, (sentence, before))):
        return
    seen = set[str]()
    for attribute, value in _ended(sentence, f"{sentence} {after}"):
        if attribute not in seen:
            seen.add(attribute)
            yield FoundFact(text, owner, attribute, f"{NO_LONGER} {value}".strip(), 0.8)


def _parted(sentence: str) -> Iterator[tuple[str, str]]:
    """The relation, and perhaps the name, of whom the speaker is no longer together with."""
    for expression in _PARTED:
        match = expression.search(sentence)
        if match is None:
            continue
        groups = match.groupdict()
        if groups["kin"] is not None:
            yield groups["kin"].lower(), groups["name"] or ""
            return
        name = groups["name"] or groups.get("name2") or ""
        kinds = "japanese" if has_japanese(name) else "english"
        if "ich" in words(sentence):
            kinds = "german"
        yield from ((kin, name) for kin in _PARTNERS[kinds].split())
        return


def _names_another(sentence: str) -> bool:
    """Whether a sentence names any other person, of whom it may tell."""
    if has_japanese(sentence):
        return is_about_another(sentence) or KIN_IN_JAPANESE.search(sentence) is not None
    return _OWNER.search(sentence) is not None or any(map(person_of, words(sentence)))


def _ended(sentence: str, whole: str) -> Iterator[tuple[str, str]]:
    """The attributes that a sentence ends, each with the name of its value or ""."""
    readings = _DISPROVED if _FOUND_OUT.search(sentence) else ()
    for match in (each.search(sentence) for each in (*readings, *_NOT_CONFIRMED)):
        if match is not None:
            yield from _of_health(_group(match), perhaps_food=False)
    wrong = _WRONG_ABOUT.search(sentence)
    if wrong is not None and _MAY_EAT.search(whole):
        yield from _of_health(_group(wrong), perhaps_food=True)
    yield from _of_diet(sentence)
    dismissed = _DISMISSED.search(sentence)
    if dismissed is not None and not _NO_ORGANISATION.match(dismissed["value"]):
        yield "employer", dismissed["value"]
        if _REDUNDANT.search(whole):
            yield "occupation", ""
    for match in (each.match(sentence) for each in _SAID_ALL_WRONG):
        if match is not None:
            yield canonical_attribute(_OWNER_OF_SAID.sub("", match["of"])), ""
    pet = _PET_NOT.search(sentence)
    if pet is not None:
        yield f"{PET}{pet['slip'].lower()}", ""
    called = _NOT_CALLED.search(sentence)
    if called is not None:
        yield "name", _group(called)


def _of_health(thing: str, *, perhaps_food: bool) -> Iterator[tuple[str, str]]:
    """The slots in which a disproved allergy, intolerance or disease may be filed.

    perhaps_food: Whether it is what the speaker was said not to bear.
    """
    kind = _KIND.search(thing)
    name = (thing[: kind.start()] if kind else thing).casefold()
    family = next(
        (each for opening, each in _FAMILIES if kind and kind["kind"].casefold()[:4] == opening),
        "condition",
    )
    if kind is not None and kind["kind"] == "allergie":
        yield "allergy", thing
    if family == "condition" and not perhaps_food:
        yield from ((f"condition {each}", "") for each in (name, f"{name} disease"))
        return
    if kind is not None:
        yield f"condition {thing.casefold()}", ""
    for borne in ("allergy to", "intolerance to") if perhaps_food else (family,):
        yield from ((f"{borne} {each}", "") for each in (name, *_many(thing, name)))


_FAMILIES = (("alle", "allergy to"), ("アレルギ", "allergy to"), ("into", "intolerance to"))


def _many(thing: str, name: str) -> tuple[str, ...]:
    """Other numbers of a word: "haselnüsse" of "haselnuss", "nuts" of "nut"."""
    if has_japanese(name):
        return ()
    if thing[:1].isupper():
        umlaut = name[::-1].replace("u", "ü", 1)[::-1]
        return f"{umlaut}e", f"{name}e", f"{name}n"
    return (name.removesuffix("s"),) if name.endswith("s") else (f"{name}s",)


def _of_diet(sentence: str) -> Iterator[tuple[str, str]]:
    over = _DIET_OVER.search(sentence) or _GERMAN_DIET_OVER.search(sentence)
    food = _EATS_AGAIN.search(sentence)
    eaten = "" if food is None else _group(food).casefold()
    diet = "" if over is None else _group(over).casefold()
    if diet:
        yield "diet", "vegetarisch or vegetarier" if diet.startswith("vegetaris") else diet
    elif food is not None and eaten in _FLESH | _OF_ANIMALS:
        language = min(food.lastindex or 1, len(_OF_VEGANS)) - 1
        vegans, vegetarians = _OF_VEGANS[language], _OF_VEGETARIANS[language]
        yield "diet", f"{vegans} or {vegetarians}" if eaten in _FLESH else vegans
    if _MEATLESS.search(sentence) is not None:
        yield "eats meat", "yes"
    if diet[:5] in ("vegan", "veget") or eaten in _FLESH:
        yield from (("eats meat", ""), ("eats fleisch", ""))


def _group(match: re.Match[str]) -> str:
    """The text of the only group that matched."""
    return next(text for text in match.groups() if text)
