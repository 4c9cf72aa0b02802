"""The worth of a memory, which is the reason to keep it.

It is read from the words of the text, in English, German and Japanese, at a basic level. Precision
comes first: only plain statements of speakers about themselves or people near them count, never a
question or a supposition. A wrong guess costs little, since a faded memory is still found by a
query for it. Every expression is linear.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

import regex

from memory_core.domain.conversation import Message
from memory_core.domain.memory import GivenWorth, Worth
from memory_core.domain.text.analyzer import GREETINGS
from memory_core.domain.text.prefilter import may_match
from memory_core.domain.text.sentences import Sentence, sentences
from memory_core.domain.text.text_cache import keep_texts

HALF_LIFE_FACTORS: Final[Mapping[str | None, float | None]] = MappingProxyType(
    {
        "asked_to_keep": None,
        "identity": None,
        "vital": None,
        "health": 12.0,
        "agreement": 12.0,
        "standing_wish": 12.0,
        "secret_place": 12.0,
        None: 1.0,
        "small_talk": 0.25,
    }
)
"""By worth, the factor of the half-life, the most lasting first; None: it never fades."""
_PLACES: Final = {worth: place for place, worth in enumerate(HALF_LIFE_FACTORS)}

BEGINNING, END = 1500, 500
"""Characters of a longer text that are read at its beginning and at its end. The part between is
mostly a paste, and reading all of it would delay other calls.
"""
MAX_SMALL_TALK: Final = 60
"""Characters; a longer text has content."""
MAX_OFFER: Final = 120
"""Characters; a longer text does not only offer help."""

_LEAD = (
    r"(?:(?:hey|hi|hello|oh|ok|okay|also|and|but|so|please|pls|now|btw|by the way|one more thing"
    r"|just|then|well|und|aber|bitte|ach|übrigens)\b"
    r"[\s,:!–—-]*+)*+"
)
_REQUEST = (
    r"(?:(?:(?:can|could|will|would) you|i(?:'d| would) like you to|i (?:want|need) you to"
    r"|you (?:should|must|need to|have to)|make sure(?: that)? you|make sure to|try to"
    r"|do)\s++(?:please\s++|always\s++|kindly\s++)?+)?+"
)
_CLAUSE = (
    r"(?:that\s++(?!(?:time|day|night|evening|morning|afternoon|week|weekend|summer|winter|spring"
    r"|autumn|fall|year|trip|song|movie|film|guy|man|woman|girl|boy|place|restaurant|party|one|when"
    r"|thing|book|show|game|episode|story|\w+ing)\b)"
    r"(?!i (?:told|said)\b)\w|that\s*[.!:]*$|(?:this|it)\s*[.:!,]|(?:this|it)$"
    r"|:|(?:i|we|he|she|they)\b(?!\s++(?:told|said|mentioned|asked)\b)"
    r"|(?:my|our)\b[^,.]{1,60}\b(?:is|are|was|has|have|starts?|ends?|needs?|likes?|hates?|must"
    r"|can't|lives?|works?)\b)"
)
_KEEP = regex.compile(
    rf"^{_LEAD}{_REQUEST}(?:remember\s*+{_CLAUSE}|(?:don'?t|do not|never) forget"
    rf"\s*+(?:to\s++\w++\s++(?:me|us|my|our)\b|{_CLAUSE})|keep in mind\s*+{_CLAUSE}"
    r"|remember,\s++(?:the|my|our)\b|note to self\b|make a note (?:that|of)\b"
    r"|for future reference\b)",
    regex.IGNORECASE,
)
_KEEP_ASKED = regex.compile(rf"^{_LEAD}(?:can|could|will|would) you\b", regex.IGNORECASE)
_KEEP_BEHIND = regex.compile(
    r"(?:[,;–—]|\band|\bso)\s++(?:please\s++)?+(?:remember|don'?t forget|do not forget"
    r"|keep in mind)\s++(?:that|this|it)\s*+[.!]*+$",
    regex.IGNORECASE,
)
_KEEP_GERMAN = regex.compile(
    rf"^{_LEAD}(?:merke? (?:dir|euch)|merken sie sich|(?:kannst"
    r"|könntest) du dir (?:bitte )?(?:merken|mal merken)|bitte merken"
    r"|vergiss (?:bitte )?(?:nicht|nie)|vergesst (?:bitte )?nicht|vergessen sie (?:bitte )?nicht"
    r"|denke? (?:bitte )?(?:immer )?(?:dran|daran)|behalte? (?:bitte )?(?:im kopf"
    r"|in erinnerung))\b",
    regex.IGNORECASE,
)
_MERKEN = regex.compile(rf"^{_LEAD}merken\s*+:", regex.IGNORECASE)
_KEEP_JAPANESE = regex.compile(
    r"(?:覚えておいて|覚えといて|おぼえておいて|忘れないで|記憶しておいて|記憶して)(?:ください"
    r"|下さい|ね|よ|ほしい|欲しい|くれ|です|、)*+[。！!\s]*+$"
)

_MINE = r"(?:my|our|his|her|their|\w+['’]s)"
_HOLDS = (
    r"(?:\b(?:have|has|had|got|having|diagnosed with|suffers? from|suffered from|lives? with|wears?"
    r"|wear|am|is|are|was|were|'m|'re|my|his|her|our|their)|(?<=\w)'(?:m|s|re"
    r"|ve))\s++(?:[\w-]+\s++){0,3}"
)
_VITAL = (
    r"(?:allergic|allerg(?:y|ies)|diabet(?:es|ic)|epilep(?:sy|tic)|asthma(?:tic)?"
    r"|h(?:a)?emophilia(?:c)?|c(?:o)?eliac|pacemaker|epi-?pen|multiple sclerosis|parkinson'?s"
    r"|anaphyla\w+|dialysis|blood (?:type|group))\b"
)
_ILL = (
    r"(?:cancer|depression|high blood pressure|hypertension|arthritis|rheumatism|migraines?|adhd"
    r"|autis(?:m|tic)|dementia|alzheimer'?s|hepatitis|hiv|ptsd|bipolar|dyslexi[ac]|insomnia"
    r"|pregnant|heart (?:attack|condition|disease|failure)|stroke|miscarriage|tumou?r"
    r"|(?:lactose|gluten|fructose|histamine) intoleran(?:t|ce)|surgery|chemo(?:therapy)?"
    r"|transplant)\b"
)
_MEDICINE = (
    r"(?:insulin|metformin|warfarin|statins?|blood thinners?|antidepressants?|beta.?blockers?"
    r"|lithium|levothyroxine|medication)\b"
)
_GERMAN_HOLDS = (
    r"\b(?:ich|hat|habe|haben|hatte|bin|ist|leidet|leide|mein\w{0,2}|unser\w{0,2}|nehme|nimmt"
    r"|braucht|brauche)\s++(?:[\w-]+\s++){0,3}"
)

_KINDS: Final[tuple[tuple[Worth, str, str], ...]] = (
    (
        "identity",
        (
            rf"(?<!\bof )\b(?:my|our)\s++(?:[\w'’-]+\s++){{0,3}}(?:is|was|are)\s++(?:called"
            rf"|named)\b|\b(?:my|our)\s++(?:[\w'’-]+\s++){{0,3}}(?:nick)?name(?:\s++(?:is|was)"
            rf"|['’]s)\b|\b{_MINE}\s++(?:\w+\s++)?(?:birthday|anniversary"
            r"|date of birth)(?:\s++(?:is|was)|['’]s)\b|\bi(?: was|'m|’m) born (?:on|in)\b"
            r"|\bich heiße\b|\bmein name ist\b|\bmein(?:e|en)? \w+ heißt\b"
            r"|\bmein\w{0,2} (?:\w+ )?(?:geburtstag|hochzeitstag) ist\b"
            r"|\bich habe am\b.{1,30}\bgeburtstag\b|\bich bin (?:am|im)\b.{1,30}\bgeboren\b"
            r"|名前は.{1,20}(?:です|だ|と言|とい)|と申します|と呼んで|誕生日は"
        ),
        (
            r"name|called|birthday|anniversary|birth|born|heiß|geburt|hochzeit|geboren|名前"
            r"|申します|呼んで|誕生日"
        ),
    ),
    (
        "vital",
        (
            rf"{_HOLDS}{_VITAL}"
            rf"|{_GERMAN_HOLDS}(?:allergisch|\w*allergie|diabetes|diabetiker(?:in)?|epilepsie"
            r"|asthma|zöliakie|herzschrittmacher|blutgruppe)\b|(?:私|僕|俺|父|母|妻|夫|娘|息子|兄"
            r"|弟|姉|妹|祖父|祖母|友達|さん|ちゃん|くん).{0,20}(?:アレルギー|糖尿病|てんかん|喘息"
            r"|ペースメーカー|血液型|透析)|\b(?:gives?|gave) (?:me|him|her|us|them) (?:hives"
            r"|a rash)\b|\b(?:my|his|her|their) throat (?:swells?|closes?)\b"
            r"|\b(?:i|he|she) (?:must|may) never (?:take|eat|be given)\b"
            r"|\bcarr(?:y|ies) (?:an? )?epi-?pen\b"
            r"|(?:アレルギー|糖尿病|喘息)(?:が(?:ある|あり)|持ち|なんで|です)"
        ),
        (
            r"allerg|hives|rash|throat|never|diabet|epilep|asthma|emophilia|eliac|pacemaker"
            r"|epi-?pen|sclerosis|parkinson|anaphyla|dialysis|blood|zöliakie|schrittmacher"
            r"|blutgruppe|アレルギー|糖尿病|てんかん|喘息|ペースメーカー|血液型|透析"
        ),
    ),
    (
        "health",
        (
            rf"{_HOLDS}{_ILL}|\bdiagnosed (?:with|as)\b|\b(?:takes?|taking|took|on|prescribed"
            rf"|needs?)\s++(?:[\w-]+\s++){{0,2}}{_MEDICINE}|{_GERMAN_HOLDS}(?:rheuma|krebs"
            r"|depressionen|bluthochdruck|migräne|arthrose|demenz|schwanger|operiert|chemo\w*"
            r"|insulin|laktoseintoleran\w+)\b|(?:私|僕|俺|父|母|妻|夫|娘|息子|兄|弟|姉|妹|祖父|祖母"
            r"|さん).{0,20}(?:高血圧|うつ病|がん(?:です|に|だ)|癌|持病|妊娠|手術|認知症|リウマチ)"
        ),
        (
            r"diagnos|cancer|depression|pressure|hypertension|arthritis|rheuma|migr|adhd|autis"
            r"|dementia|alzheimer|hepatitis|hiv|ptsd|bipolar|dyslexi|insomnia|pregnan|heart|stroke"
            r"|miscarr|tumo|intoleran|surgery|chemo|transplant|insulin|metformin|warfarin|statin"
            r"|thinner|antidepress|blocker|lithium|thyrox|medication|krebs|hochdruck|arthrose"
            r"|demenz|schwanger|operiert|高血圧|うつ病|がん|癌|持病|妊娠|手術|認知症|リウマチ"
        ),
    ),
    (
        "standing_wish",
        (
            rf"\bfrom now on\b|^{_LEAD}(?:always|never)\s++(?:answer|reply|call|write|speak|address"
            r"|tell|remind|ask|send|suggest|offer|mention|recommend|book|use)\b"
            r"|\bi (?:want|would like) you to (?:always|never)\b|\bi(?:'d|’d) like you to (?:always"
            r"|never)\b|\bplease (?:always|never)\b"
            r"|\b(?:in|for the) future,? (?:please|always|never)\b|\bab (?:jetzt"
            r"|sofort)\b.{0,40}\b(?:immer|nie|nur|bitte)\b|\bbitte (?:immer|nie|niemals)\b"
            r"|\b(?:in zukunft|künftig) (?:bitte|immer|nie)\b|今後は|これからは.{1,40}(?:て"
            r"|で)(?:ください|ね|。|$)"
        ),
        r"from now|always|never|future|jetzt|sofort|immer|nie|zukunft|künftig|今後は|これからは",
    ),
    (
        "agreement",
        (
            r"\b(?:we|we've|we’ve|we have|they|have|has|had|he|she"
            r"|i)\s++(?:\w+\s++)?agreed\s++(?:that|on|with|to(?! disagree))\b"
            r"|\b(?:i|we|he|she|they)(?:'ve|’ve| have| had|'d|’d)? promised\b"
            r"|\b(?:our|my) (?:agreement|deal|arrangement)(?:\s++(?:is|was|with))\b"
            r"|\bsigned (?:a|the|my|our) (?:\w+ )?(?:contract|lease|agreement)\b"
            r"|\b(?:i|he|she|they) owes? (?:me|him|her|them|us|(?-i:[A-Z])\w+)\b"
            r"|\b(?:wir|ich|hat|haben|habe)\b.{0,60}\b(?:vereinbart|abgemacht|geeinigt"
            r"|versprochen)\b|約束(?:した|しました|している)|合意(?:した|しました)"
        ),
        (
            r"agree|promised|deal|arrangement|signed|owe|vereinbart|abgemacht|geeinigt|versprochen"
            r"|約束|合意"
        ),
    ),
    (
        "secret_place",
        (
            r"\b(?:spare|house|front door|car|cellar|office|garage|bike|shed"
            r"|safe)\s++keys?\s++(?:is|are|hangs?|lies?)\b|\b(?:i|we)(?:'ve|’ve| have| had)? (?:hid"
            r"|hide|hidden|buried|stashed)\b"
            r"|\b(?:my|our|the) (?:passports?|will|jewell?ery|birth certificates?"
            r"|wedding rings?) (?:is|are)"
            r" (?:hidden |kept |locked |stored )?(?:in|under|behind|inside|at|on)\b"
            r"|\b(?:my|our) (?:\w+ )?(?:pin|password|passcode|pass phrase)(?: code)? (?:is|was)\b"
            r"|\b(?:door|alarm|gate|safe|locker|bike lock)(?:'s)? (?:code|combination) (?:is|was)\b"
            r"|\bwi-?fi password (?:is|was)\b|\b(?:pin|password|passcode) (?:of|for) (?:the|my"
            r"|our) \w{1,20} (?:is|was)\b|\b(?:ersatz|haus|auto|keller|zweit"
            r"|wohnungs)schlüssel (?:ist|liegt|hängt)\b|\b(?:ich|wir)\b.{0,40}\bversteckt\b"
            r"|(?:合鍵|スペアキー|予備の鍵)は|隠し(?:てある|てあります|ました|た)"
        ),
        (
            r"key|hid|buried|stashed|passport|will|jewel|certificate|ring|pin|pass|code|combination"
            r"|schlüssel|versteckt|鍵|スペアキー|隠し"
        ),
    ),
)
_PATTERNS: Final = tuple(
    (worth, regex.compile(expression, regex.IGNORECASE), regex.compile(hint, regex.IGNORECASE))
    for worth, expression, hint in _KINDS
)
_CALL_ME = regex.compile(
    r"(?:^|[,.;]\s|[Pp]lease )[Cc]all me (?!Back\b)[A-Z]\w+(?=[,.!]|$| not\b| instead\b)"
)
_SUPPOSED = regex.compile(
    r"^\W*+(?:if|suppose|imagine|what if|falls|wenn|もし)\b|^もし", regex.IGNORECASE
)
_BESIDE_GREETINGS = (
    "good evening afternoon night day you so very much that thats that's is it it's its a an all "
    "the best too and there how are i'm im fine you're have lovely weekend same here to again "
    "really sounds got then my your for help no problem worries see later soon care take well "
    "alright tag abend morgen nacht dir euch auch gern gerne schön schönen schöne vielen sehr "
    "lieben liebe grüße und ja alles klar bis später na du bald bien buenos días noches tardes "
    "beaucoup mille muchas"
)
_BESIDE_TALK: Final = frozenset(_BESIDE_GREETINGS.split())
SMALL_TALK: Final = GREETINGS | _BESIDE_TALK
"""Words of greetings, thanks and goodbyes."""
_HOW_ARE_YOU = regex.compile(
    r"\b(?:how(?:'s| is| are|'re) (?:it going|you(?: doing| feeling| all)?|things(?: going)?"
    r"|everything(?: going)?|life|your day)"
    r"(?: today| tonight| this morning| this evening| lately)?|how do you do"
    r"|how have you been(?: lately)?|how goes it|what(?:'s| is) up"
    r"|hope you(?:'re| are) (?:doing )?(?:well|fine|good|okay|ok)|long time no see"
    r"|(?:nice|good) to (?:meet|see) you|wie (?:geht|läuft)(?:'?s"
    r"| es)(?: (?:dir|euch|ihnen|bei dir|bei euch))?(?: (?:so|denn|heute))*+|was geht(?: ab)?"
    r"|alles (?:gut|klar|fit|okay|ok)(?: bei (?:dir|euch))?|lange nicht gesehen"
    r"|schön dich zu (?:sehen|treffen)|(?:comment )?ça va(?: bien)?|comment (?:vas tu|allez vous)"
    r"|qué tal|cómo est(?:ás|á usted)|buenas|привет|здравствуйте|спасибо(?: большое)?|как дела"
    r"|доброе утро|добрый (?:день|вечер)|مرحبا|كيف حالك|شكرا|你好|您好|谢谢|再见)(?!\w)"
)
"""Words of people as they meet, whatever they want."""
_OFFER = regex.compile(
    r"\b(?:(?:how|what) (?:can|may|could) i (?:help|assist|do for) you(?: with)?"
    r"(?: today| now)?|(?:is there )?anything else(?: i can (?:help|assist) you with"
    r"| i can do for you| you need)?|(?:please )?let me know if you (?:need|have|want)"
    r" (?:anything(?: else)?|help|any(?: more| other| further)? questions)"
    r"|feel free to ask(?: me)?(?: anything| any questions)?|(?:i'm|i am) (?:here to help"
    r"|(?:an|your|a) (?:\w+ ){0,2}assistant)|(?:happy|glad) (?:to|i could) help"
    r"|(?:wie|womit|was) kann ich (?:heute )?(?:für )?(?:dir|dich|ihnen|sie|euch)(?: heute)?"
    r"(?: helfen| behilflich sein| tun)|kann ich (?:dir|ihnen|euch) (?:sonst )?noch"
    r" (?:irgendwie |bei etwas |mit etwas )?(?:helfen|behilflich sein)"
    r"|(?:comment|en quoi) puis je (?:t'|vous )aider|en qué puedo ayudar(?:te|le))(?!\w)"
)
"""General offers of help, without marks between the words."""
_OFFER_IN_JAPANESE = regex.compile(
    r"(?:今日|本日)?は?(?:どのような|どんな|何か)?(?:ご用件|お手伝い|お困り(?:のこと)?)(?:は|が|を)?"
    r"(?:何)?(?:でしょうか|ですか|できますか|しましょうか|ありますか|ございますか)"
)
_WORD = regex.compile(r"[\w'’]+")
_SIGNS_ONLY = regex.compile(r"[^\p{L}\p{N}]+")
_JAPANESE_TALK = regex.compile(
    r"(?:おはよう(?:ございます)?|こんにちは|こんばんは|おやすみ(?:なさい)?"
    r"|ありがとう(?:ございます|ございました)?|どうも|了解(?:です|しました)?"
    r"|お疲れ(?:様|さま)(?:です|でした)?|(?:お|ご)?(?:元気|機嫌)(?:ですか|でしたか|いかがですか"
    r"|だった|かな|か)?|(?:調子|最近)は?どう(?:ですか|だ|よ)?|(?:お)?久しぶり(?:です)?ね?"
    r"|(?:はじめ|初め)まして|やあ|もしもし"
    r"|よろしく(?:お願いします)?|またね|すごい(?:ですね)?|なるほど|笑|草)++"
)


def worth_factor(worth: str | None) -> float:
    """The factor of the half-life for a worth.

    1 for an unknown worth, and for a worth that is kept for good.
    """
    return HALF_LIFE_FACTORS.get(worth) or 1.0


def kept_for_good(worth: str | None) -> bool:
    """Whether a memory of this worth never fades."""
    return HALF_LIFE_FACTORS.get(worth, 1.0) is None


def most_lasting(worths: Iterable[Worth | None]) -> Worth | None:
    """The worth that is kept longest; None for no worths.

    `small_talk` is returned only when all are small talk.
    """
    return min(worths, key=place_of_worth, default=None)


def place_of_worth(worth: Worth | None) -> int:
    """The place of a worth among all, from 0 for the most lasting."""
    return _PLACES[worth]


@keep_texts(512)
def worth_of(text: str, *, by_assistant: bool = False) -> Worth | None:
    """The worth of a text; of several reasons the most lasting.

    Args:
        text: The text.
        by_assistant: Whether an assistant or a tool wrote it. Since its words may be about any
            person, it is small talk, as an offer of help is, or has no worth.

    Returns:
        None where there is no reason to keep the text longer or shorter than usual.

    """
    if is_small_talk(text):
        return "small_talk"
    if by_assistant:
        return "small_talk" if offers_help(text) else None
    read_text = _read(text).replace("’", "'")
    if asks_to_keep(read_text):
        return "asked_to_keep"
    lower = read_text.lower()
    hinted = [pattern for pattern in _PATTERNS if may_match(pattern[2], lower)]
    named = "call me " in lower
    if not hinted and not named:
        return None
    split = sentences(read_text)
    worths: list[Worth | None] = [
        worth
        for worth, expression, hint in hinted
        if any(
            hint.search(sentence.text) and expression.search(sentence.text) and _states(sentence)
            for sentence in split
        )
    ]
    if named and any(_CALL_ME.search(sentence.text) and _states(sentence) for sentence in split):
        worths.append("identity")
    return most_lasting(worths)


def _states(sentence: Sentence) -> bool:
    return not sentence.asks and _SUPPOSED.search(sentence.text) is None


def worth_of_messages(messages: Sequence[Message], given: GivenWorth | None = None) -> Worth | None:
    """The most lasting worth among messages, which is that of their memory.

    Args:
        messages: The messages that the memory is formed of.
        given: A model's answer. It is preferred to the rules, except that a request to remember,
            which the rules read from the words, is preferred to it.

    Returns:
        None where there is no reason to keep the memory longer or shorter than usual.

    """
    read = most_lasting(
        [worth_of(message.content, by_assistant=not message.by_person) for message in messages]
    )
    if given is None or read == "asked_to_keep":
        return read
    return None if given == "none" else given


def asks_to_keep(text: str) -> bool:
    """Whether a text asks that something be remembered.

    For example "remember that …", "merk dir, dass …", "…覚えておいて".
    """
    plain = _read(text).replace("’", "'")
    lowered = plain.casefold()
    if not any(
        hint in lowered
        for hint in (
            "rememb",
            "forget",
            "keep in mind",
            "note",
            "future",
            "merk",
            "vergi",
            "verge",
            "denk",
            "behalt",
            "て",
            "で",
        )
    ):
        return False
    return any(_asks_to_keep(sentence) for sentence in sentences(plain))


def _read(text: str) -> str:
    return text if len(text) <= BEGINNING + END else f"{text[:BEGINNING]}\n{text[-END:]}"


def _asks_to_keep(sentence: Sentence) -> bool:
    text = sentence.text.strip()
    if _KEEP_JAPANESE.search(text) is not None or _MERKEN.search(text) is not None:
        return True
    if sentence.asks:
        return (
            _KEEP_ASKED.search(text) is not None and _KEEP.search(text) is not None
        ) or text.casefold().startswith(("kannst du dir bitte merken", "kannst du dir merken"))
    return any(pattern.search(text) is not None for pattern in (_KEEP, _KEEP_BEHIND, _KEEP_GERMAN))


def is_small_talk(text: str) -> bool:
    """Whether a text is only a greeting, thanks or an "ok"."""
    if not text or len(text) > MAX_SMALL_TALK:
        return False
    words = _words(text)
    if not words:
        return not text.isspace()
    if SMALL_TALK.issuperset(words) and any(word in GREETINGS for word in words):
        return True
    left, greets = _HOW_ARE_YOU.subn(" ", " ".join(words))
    if greets and SMALL_TALK.issuperset(left.split()):
        return True
    return _JAPANESE_TALK.fullmatch(_SIGNS_ONLY.sub("", text)) is not None


def offers_help(text: str) -> bool:
    """Whether a text is only a general offer of help, beside small talk.

    Note: a person's "Anything else?" may ask for more of an answer, so an offer is no small talk.
    """
    if not text or len(text) > MAX_OFFER:
        return False
    left, offers = _OFFER.subn(" ", " ".join(_words(text)))
    if offers:
        left = _HOW_ARE_YOU.sub(" ", left)
        return SMALL_TALK.issuperset(left.split())
    without_signs = _SIGNS_ONLY.sub("", text)
    left, offers = _OFFER_IN_JAPANESE.subn("", without_signs)
    return offers > 0 and (not left or _JAPANESE_TALK.fullmatch(left) is not None)


def _words(text: str) -> list[str]:
    words: list[str] = _WORD.findall(text.casefold().replace("’", "'"))
    return words
