"""Whose statement a sentence is: its speaker's, another person's, or one of a game.

    "Mama sagt jeden Tag zu mir: Ich wohne in Breslau."         after the colon Mama speaks
    "Dad told the nurse I'm a pilot and I work for KLM."        from "I'm" on Dad says so
    "I work as a nurse and in Minecraft I live in a castle."    from "in Minecraft" on it is a game

What is told to the speaker ("my boss told me I'm fired"), what a doctor says, and what a person or
a paper plainly says of the speaker ("my passport says I'm 34") stays the speaker's. A clause that
begins with "but I" or "so I" is the speaker's again.
"""

from __future__ import annotations

import re

from memory_core.domain.statements.japanese_persons import SELVES
from memory_core.domain.text.analyzer import has_japanese
from memory_core.domain.text.dictation import RELATIVE
from memory_core.domain.text.text_cache import keep_texts

_NO_SUBJECT = (
    r"(?!(?:I|we|you|ich|wir|du|ihr|as|wie|like|to|be|been|let|having|kurz|who|wer|that)\b"
    r"|(?:I|we|you|let)['’])"
)
_WORD = rf"{_NO_SUBJECT}[\w'’(][\w'’().-]{{0,30}}"
_SAYS = (
    r"(?:says|said|tells|told|shouts|shouted|yells|yelled|screams|screamed|insists|insisted|claimed"
    r"|announces|announced|writes|wrote|replies|replied|answers|answered|repeats|repeated|swears"
    r"|swore|jokes|joked|whispers|whispered|(?:keeps?|kept|is|are|was|were|starts|started)"
    r" (?:always |just )?(?:saying|telling|shouting|yelling|claiming|insisting|repeating)"
    r"|sagt|sagte|erzählte?|ruft|rief|schreit|schrie|brüllte?|behauptete?|meinte?|schreibt|schrieb"
    r"|antwortete?|wiederholte?|flüsterte?|prahlte?|jammerte?|stand|steht)"
)
_HAS_SAID = (
    rf"(?:hat|haben|hatte|hatten) (?:{_WORD} ){{0,5}}(?:gesagt|gerufen|geschrien|erzählt|behauptet"
    r"|geschrieben|gemeint|geantwortet|gebrüllt|geflüstert|wiederholt)"
)
_CLAUSE = r"(?:(?:\A|(?<=[.!?,;:\n]))\s{0,3}|\b(?:and|but|so|because|und|aber|weil) )"
_SPEAKS = (
    rf"{_CLAUSE}(?:(?:and|but|so|und|aber|also) )?"
    rf"(?:(?:{_WORD} ){{1,8}}?{_SAYS}|(?:{_WORD} ){{0,4}}?{_HAS_SAID})\b"
)
"""A clause in which another person speaks, up to the verb."""
SPOKEN = re.compile(
    rf"{_SPEAKS}(?:,? (?!(?:I|my|ich|mein\w*|and|und)\b)[\w'’-]{{1,30}}){{0,8}}[ \t]?:(?=\s)",
    re.IGNORECASE,
)
"""The introduction of another person's words: "Opa sagt immer:"."""
_REPORTED = re.compile(
    rf"{_SPEAKS}(?P<between>(?: (?!(?:I|ich|wir|we|about|of|over|off|how|what|why|if|when|while"
    r"|before|after|since|and|but|so|or|because|than|that|dass|yes|no|ob|wie|wenn|als|von|über|und|aber|oder|weil)\b"
    r"|(?:I|we)['’])[\w'’-]{1,30}){0,6}),?(?: that| dass)?"
    r" (?=(?:I|we|im|ive|ich|wir)\b)",
    re.IGNORECASE,
)
_PLAINLY = re.compile(
    r"\b(?:(?:says|said|writes|wrote)(?: that)?|(?:sagte?|meinte?|sagt|meint|schreibt|schrieb"
    r"|steht|stand|hat (?:(?:mir|uns) )?(?:gesagt|gemeint|geschrieben)),?(?: dass)?) \Z",
    re.IGNORECASE,
)
"""A verb that the statement about the speaker follows at once: "my passport says (I'm 34)"."""
_GOES_ON = re.compile(r"\b(?:and (?:I|we)|und (?:ich|wir))\b", re.IGNORECASE)
_OWN_AGAIN = re.compile(
    r",\s(?:(?:but|so|aber) (?=(?:I|ich)\b)|also (?=\w{2,12} ich\b))", re.IGNORECASE
)
_ORDER = r"(?:always|never|don't|do not|immer|nie|niemals|stets)\b"
_PEOPLE = (
    r"(?:class|classroom|classes|pupils?|students?|kids?|children|daycare|nursery|carers?|household"
    r"|klasse|schüler|kinder|kita|familie)"
)
_ORDERS_OTHERS = re.compile(
    rf"{_SPEAKS}(?: (?:to )?(?:us|me|him|her|them|everyone|everybody|the \w{{2,20}}|mir|uns"
    rf"|allen))?[,:]? (?:to |that )?{_ORDER}"
    r"|,? (?:(?:the|my|our|his|her|mr|mrs|ms|miss|dr) (?:[\w'’-]{1,20} ){1,3}|he |she |they )"
    r"(?:told|said to|says to|tells) (?:us|me|him|her|them|everyone)\W*\Z"
    r"|, i (?:told|said to|tell|say to) (?:(?:the|my|our|his|her|their) \w|him\b|her\b|them\b)"
    rf"|\brules? (?:for|of|in) (?:the|my|our) (?:\w{{2,20}} )?{_PEOPLE}\b"
    rf"|\b(?:in|for|with) (?:the|my|our) (?:\w{{2,20}} )?{_PEOPLE}\b[^.!?]{{0,30}}\brules?\b"
    rf"|\bregeln? (?:für|in) (?:die|meine?|meiner|unsere?|unserer|der) (?:\w{{2,20}} )?{_PEOPLE}\b"
    rf"|\bin (?:meiner|unserer|der) {_PEOPLE}\b[^.!?]{{0,20}} (?:gilt|regel|heißt es)\b"
    r"|(?:クラス|教室|学校|部活|家|家庭|寮|園)の(?:ルール|決まり|規則|約束)",
    re.IGNORECASE,
)
"""Orders that another person gave, or that are given to other people."""
_NARRATES = re.compile(
    r"\A\W{0,3}(?:also,? |na,? |ach,? |ja,? )?(?:(?:wissen|hören|sehen) sie|sie müssen wissen),? "
    r"(?=(?:wir|ich|mein\w{0,2}|unser\w{0,2}|der|die|das|er|es|man|früher|damals|bei uns)\b)"
    r"(?!.*\b(?:möchte|will|wünsche|bitte|soll\w{0,3}|müssen sie|dass sie|ihnen|ihre?n?)\b)",
    re.IGNORECASE,
)
"""The opening of a story: "Wissen Sie, wir sind immer zu Fuß gegangen"."""
_TO_SPEAKER = re.compile(r"\A (?:to |zu )?(?:me|us|mir|uns)\b", re.IGNORECASE)
_KNOWS_BETTER = re.compile(
    r"\b(?:doctors?|doc|gp|dentist|therapist|allergist|consultant|cardiologist|dermatologist"
    r"|specialist|psychiatrist|\w{0,20}(?:arzt|ärztin|ärzte)|doktor|therapeut(?:in)?)\b",
    re.IGNORECASE,
)
_GAME = (
    r"(?:minecraft|roblox|fortnite|sims|skyrim|zelda|stardew|animal crossing|warcraft|pok[eé]mon"
    r"|runescape|terraria|gta|d&d|dnd)"
)
_IN_A_GAME = re.compile(
    rf"\b(?:in|on) (?:(?:my|our|the|a|an|this|that|his|her) )?(?:[\w'’-]{{1,20}} ){{0,2}}?{_GAME}\b"
    r"|\bin (?:my|our|the|a|an|this|that|some|your|his|her)"
    r" (?:[\w'’-]{1,20} )?(?:campaign|dreams?|nightmare|fantasy|imagination|game|quiz|story|novel"
    r"|book|movie|film|play|simulation|role-?play|scenario|thought experiment)"
    r"(?=,? (?:I|im|we|my|there|the|an?|he|she|it|they)\b)"
    rf"|\b(?:my|our) (?:[\w'’&-]{{1,20}} ){{0,2}}?(?:{_GAME}|game|rpg|d&d) "
    r"(?:character|avatar|person|family|world|house|guy|girl|player|life)\b"
    r"|\b(?:doing|taking|playing|did|took) (?:a|this|the|that) (?:[\w-]{1,20} )?"
    r"(?:quiz|personality test|role-?play|rpg)\b"
    rf"|\bi[nm] (?:(?:mein|unser|de|diese|eine)\w{{0,2}} )?(?:[\w-]{{1,20}} )?"
    rf"(?:[\w-]{{0,20}}{_GAME}[\w-]{{0,20}}|rollenspiel|quiz|traum|kampagne|spiel)"
    r"(?=,? (?:bin|habe?|wohne|lebe|heiße|arbeite|stand|steht|hieß|ich|sagt)\b)",
    re.IGNORECASE,
)
"""A game, a dream or a book in which the statements after it hold."""
_AT_PLAY = re.compile(
    r"(?:I|i|we)(?:['’]?(?:m|ve|re)| am| have| are)? (?:\w+ly )?(?:teach|work(?! as\b)|play|spend"
    r"|spent|build|built|code|draw|stream|like|love|met|made|make|mod|design)"
)
"""What a person does with a game, and not in it."""
_BOUNDARY = re.compile(r"[,;:]\s|\b(?:and|but|so|und|aber)\s", re.IGNORECASE)
_OF_RELATIVE = re.compile(
    rf"\A(?:my|our|meine?|unsere?) (?:[a-zäöüß-]{{2,12}} ){{0,2}}?(?:{RELATIVE}|client|student"
    r"|pupil|patient|grand\w{3,8}|klient(?:in)?|schüler(?:in)?|patientin|enkel(?:in)?)\b"
    r"(?:,? [A-ZÀ-Þ][\w-]{1,20})?(?=: )",
    re.IGNORECASE,
)
"""A relative before a list about them: "My client Birgit: 40, vegetarian"."""
_OPEN_END = re.compile(r"(?:[\s,;:]|\b(?:and|but|so|und|aber)(?=\s)){1,9}\Z", re.IGNORECASE)
_SELF_IN_JAPANESE = re.compile(rf"\A(?:{SELVES})")
_REPORTED_IN_JAPANESE = re.compile(
    r"\A[^、。]{1,14}?(?:は|が|に)[^。]{0,200}?(?:[、」いるただ]|です|ます)と(?:、|また|よく|いつも)?"
    r"(?:言っ[てた]|言いまし|いっ[てた]|書い|書きまし|話し|叫|答え)"
)
_GAME_IN_JAPANESE = re.compile(
    r"(?:マイクラ|マインクラフト|ロブロックス|どうぶつの森|あつ森|ポケモン|ゲーム|夢|小説|クイズ"
    r"|ロールプレイ)(?:の(?:中|世界))?(?:では|で、|によると)"
)


@keep_texts(256)
def own_part(sentence: str) -> str:
    """The part of a sentence that its speaker states of their own life.

    Args:
        sentence: "I live in Leeds and Mum tells everyone I'm a nun".

    Returns:
        "I live in Leeds and Mum tells everyone"; the whole sentence where no other person speaks,
        and "" where it begins in a game.

    """
    if has_japanese(sentence):
        if reports_in_japanese(sentence):
            return ""
        game = _GAME_IN_JAPANESE.search(sentence)
        return sentence if game is None else sentence[: game.start()]
    if (label := _OF_RELATIVE.match(sentence)) is not None:
        return label.group()
    reported = next(filter(_is_anothers, _REPORTED.finditer(sentence)), None)
    if reported is not None:
        own = _OWN_AGAIN.search(sentence, reported.end())
        if own is None:
            sentence = _OPEN_END.sub("", sentence[: reported.end()])
        else:
            before = sentence[: reported.start()]
            sentence = before + sentence[own.start() if before else own.end() :]
    for game in _IN_A_GAME.finditer(sentence):
        start = max(
            (mark.end() for mark in _BOUNDARY.finditer(sentence, 0, game.start())), default=0
        )
        if not _AT_PLAY.match(sentence, start):
            return _OPEN_END.sub("", sentence[:start])
    return sentence


def _is_anothers(report: re.Match[str]) -> bool:
    words = report.group()
    if _TO_SPEAKER.match(report["between"]) or _KNOWS_BETTER.search(words):
        return False
    return not _PLAINLY.search(words) or _GOES_ON.search(report.string, report.end()) is not None


def orders_others(sentence: str) -> bool:
    """Whether an order in a sentence is another person's, or is for other people.

    For example "the dietician told us never add salt", "my rule for the class: always raise your
    hand".
    """
    return _ORDERS_OTHERS.search(sentence) is not None or (
        has_japanese(sentence) and reports_in_japanese(sentence)
    )


def narrates(sentence: str) -> bool:
    """Whether a German address opens a story: "Hören Sie, mein Bruder hat immer"."""
    return _NARRATES.match(sentence) is not None


def reports_in_japanese(sentence: str) -> bool:
    """Whether a Japanese sentence tells what another person said."""
    return (
        _REPORTED_IN_JAPANESE.match(sentence) is not None
        and _SELF_IN_JAPANESE.match(sentence) is None
    )
