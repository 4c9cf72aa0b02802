"""Write out short answers to an assistant's questions.

"In Gdansk." to "Where do you live?" means "I live in Gdansk.", which the rules of facts read.
Note: the question proves nothing; the value is the user's word, or what a plain "yes" affirms.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from memory_core.domain.conversation import Message
from memory_core.domain.statements.answers_for_others import (
    answered_for_another,
    asked_of_another,
    said_of_another,
)
from memory_core.domain.statements.own_words import own_sentences
from memory_core.domain.text.analyzer import FUNCTION_WORDS, QUERY_WORDS
from memory_core.domain.text.given_names import is_given_name
from memory_core.domain.text.sentences import Sentence
from memory_core.domain.text.spelled_out import spelled_out
from memory_core.domain.text.towns import is_town

MOST_WORDS = 8
"""Words of a short answer."""
MOST_CHARACTERS = 80
"""Characters of a short answer or of the words of a question that it repeats."""


class ShortAnswer(NamedTuple):
    """A short answer to the question before it.

    Attributes:
        sentence: The answer as it was said, the first sentence of its message.
        meant: The sentence that it means.

    """

    sentence: Sentence
    meant: str


def short_answer(messages: Sequence[Message], number: int) -> ShortAnswer | None:
    """The short answer with which a user's message begins; None if there is none.

    Args:
        messages: The conversation.
        number: The place of the user's message in it.

    """
    if number == 0 or messages[number].role != "user" or messages[number - 1].role != "assistant":
        return None
    first = next(iter(own_sentences(messages[number].content)), None)
    if first is None or first.asks or len(first.text) > MOST_CHARACTERS:
        return None
    asked = _question(messages[number - 1].content)
    before = messages[number - 2].content if number > 1 else ""
    meant = asked and _meant(spelled_out(first.text), asked, before)
    return ShortAnswer(first, meant) if meant else None


def _meant(answer: str, question: str, before: str) -> str | None:
    """What an answer means, of its speaker or of another person."""
    if _NO_ANSWER.fullmatch(answer) is not None:
        return None
    person, words = answered_for_another(answer) or ("", answer)
    if not person:
        of_another = asked_of_another(question, before)
        if of_another is None:
            return written_out(answer, question)
        question, person = of_another
    own = written_out(words, question) if person else None
    return own and said_of_another(own, person)


_NO_ANSWER = re.compile(
    r"\W{0,9}(?:ok(?:ay)?\W{1,3})?(?:(?:good)?bye|whatever|never ?mind|no (?:idea|clue)|dunno"
    r"|idk|i don't know|egal|tschüss|keine ahnung|weiß (?:ich )?nicht|さあ|わからない"
    r"|分からない)\W{0,9}",
    re.IGNORECASE,
)


def _question(text: str) -> str | None:
    """The last sentence of a text, if it alone asks."""
    each = own_sentences(text)
    if not each or any(sentence.asks for sentence in each[:-1]):
        return None
    last = each[-1]
    return last.text if last.asks or _TELL_ME.search(last.text) else None


_TELL_ME = re.compile(
    r"\b(?:tell me|let me know|(?:sag|nenn|verrat)en? (?:sie )?mir)\b|教えて|聞かせて",
    re.IGNORECASE,
)


def written_out(answer: str, question: str) -> str | None:
    """The sentence that a short answer to a question means.

    Args:
        answer: "In Gdansk."
        question: "Where do you live?"

    Returns:
        "I live in Gdansk."; None where the answer says nothing of its speaker, or jokes.

    """
    if _JOKES.search(answer) is not None:
        return None
    plain = _ABBREVIATED.sub(r"\1 is", " ".join(question.replace("’", "'").split()))
    plain = _KIDS.sub("children", plain)
    value = _LEAD.sub("", " ".join(answer.replace("’", "'").split())).strip(" .!,。！、")
    for language in _LANGUAGES:
        for ask, row in language.rows:
            match = ask.search(plain)
            if match is not None and (meant := _told(value, row, match, language)):
                return meant
        for ask, affirmed, denied in language.choices:
            match = ask.search(plain)
            if match is not None and (meant := _chosen(value, match, affirmed, denied, language)):
                return meant
    return None


class _Row(NamedTuple):
    """How an answer is written out.

    Attributes:
        sentence: Of which {} is the answer.
        opens: Words that may open the answer; the first is added where there is none.
        form: What an answer must look like.

    """

    sentence: str
    opens: tuple[str, ...] = ()
    form: re.Pattern[str] = re.compile(r".+")


class _Language(NamedTuple):
    """The questions of a language.

    Attributes:
        yes: Opens an answer that affirms.
        no: Is an answer that denies.
        rows: Questions for a value.
        choices: Questions for yes or no, and what either means.

    """

    yes: re.Pattern[str]
    no: re.Pattern[str]
    rows: Sequence[tuple[re.Pattern[str], _Row]]
    choices: Sequence[tuple[re.Pattern[str], str, str]]


def _told(value: str, row: _Row, match: re.Match[str], language: _Language) -> str | None:
    """A row's sentence with the value that an answer tells."""
    if language.no.fullmatch(value):
        return None
    opening = language.yes.match(value)
    value = _BESIDE.sub("", value[opening.end() :] if opening else value)
    value = _REPEATS.sub("", value)
    value = re.sub(r", (?=(?:as|als) )", " ", value)
    things = match.groupdict().get("things")
    if things and (named := _COUNT_AND_NAMES.fullmatch(value)) and _names(named["names"]):
        return f"I have {named['count']} {things}, {_names(named['names'])}."
    if not _is_value(value) or row.form.fullmatch(value) is None:
        return None
    first = value.split()[0].casefold()
    if first in row.opens:
        value = first + value[len(first) :]
    elif row.opens:
        value = f"{row.opens[0]} {value}"
    return row.sentence.format(value, **match.groupdict())


def _names(words: str) -> str:
    """Given names in capitals, as "Lena and Max"; "" for other words."""
    each = re.split(r",? and |, ", words)
    if not all(map(is_given_name, each)):
        return ""
    return " and ".join((", ".join(map(str.title, each[:-1])), each[-1].title())).removeprefix(
        " and "
    )


def _chosen(
    value: str, match: re.Match[str], affirmed: str, denied: str, language: _Language
) -> str | None:
    """What "yes" or "no" means; "yes, to Tom" is more exact."""
    asked = match.groupdict()
    words = asked.get("asked", "")
    if _POINTS.search(words) is not None:
        return None
    if language.no.fullmatch(value):
        return denied.format(**asked) if denied else None
    opening = language.yes.match(value)
    if opening is None:
        return _chosen_otherwise(value, words)
    more = value[opening.end() :]
    if not more:
        return affirmed.format(**asked)
    if _WITH.match(more) is None or not _is_value(more):
        return None
    return f"{affirmed.format(**asked)} {more}"


def _chosen_otherwise(value: str, asked: str) -> str | None:
    """What "no, Milan" means where Rome was asked for: "I live in Milan"."""
    denied, place = _NO_BUT.fullmatch(value), _IS_PLACE.fullmatch(asked)
    if denied is None or place is None or not _is_value(denied["value"]):
        return None
    if place["verb"] == "live in" and not is_town(denied["value"]):
        return None
    return f"I {place['verb']} {denied['value'].title()}."


def _is_value(words: str) -> bool:
    """Whether an answer names a thing: it has no verb, pronoun, or refusal."""
    each = re.findall(r"[^\W_]+(?:['-][^\W_]+)*", words.casefold())
    return (
        0 < len(each) <= MOST_WORDS
        and _NO_VALUE.isdisjoint(each)
        and _NO_VALUE_JA.search(words) is None
    )


_JOKES = re.compile(
    r"\b(?:lol|lmao|rofl|(?:ha){2,}|hehe|jk|just kidding|kidding|joking|nur spa(?:ß|ss)|scherz)\b"
    r"|[😂🤣😜😝🙃😉]|冗談|(?<!\w)w{2,}\Z|（?笑）?\Z|;-?\)",
    re.IGNORECASE,
)
"""Marks of a joke."""
_ABBREVIATED = re.compile(r"\b(what|where|who|when|how)'s\b", re.IGNORECASE)
_KIDS = re.compile(r"\bkids\b")
_LEAD = re.compile(
    r"\A(?:(?:oh|well|um+|sure|ok|okay|of course|also|na ja|klar|gerne|えっと|ええと)[,、!]? )?"
    r"(?:(?:it|that)(?:'?s| is| would be) |(?:das|es) (?:ist|wäre) "
    r"|(?:i'?m|i am) (?=an? \w+\Z|in \w|\d{1,3}\Z))?",
    re.IGNORECASE,
)
_BESIDE = re.compile(
    r"(?:歳)?(?:です|だよ|でございます|と(?:いい|言い|申し)ます)\Z|歳\Z"
    r"|(?<=\d)(?: years?(?: old)?| Jahre(?: alt)?)\Z"
    r"|(?<=\w) (?:and stuff|or so|und so|oder so)\Z"
)
"""What an answer may say after its value."""
_REPEATS = re.compile(
    r"\A(?:allergic (?:to|on|against|of)|allergisch (?:gegen|auf)) ", re.IGNORECASE
)
"""Words of the question that an answer may repeat."""
_MAY_STAND = "a an the in at on near for from of to and with by as may am"
_NO_ANSWERS = """
    hm hmm uh um eh er ah oh wow idea sure depends guess dunno idk secret private skip pass later
    somewhere anywhere everywhere
    nowhere alone abroad downtown nearby overseas home something anything everything nothing nobody
    none never unknown confidential classified sorry thanks please maybe perhaps rather not same
    many few several enough moon mars hell heaven earth remotely freelance unemployed retired
    nichts kein keine keinen keiner ahnung weiß vielleicht egal geheim geheimnis privat nicht nie
    irgendwo nirgendwo überall daheim zuhause hause ich du er sie es wir ihr mein meine meiner
    meinem meinen dein deine ihre ist bin sind war habe hast hat haben bitte danke warum wieso wer
    wie was wo möchte will mag kann sag sage rate mond
"""
_NO_VALUE = (frozenset(_NO_ANSWERS.split()) | FUNCTION_WORDS | QUERY_WORDS) - {*_MAY_STAND.split()}
_NO_VALUE_JA = re.compile(
    r"秘密|ひみつ|内緒|いろいろ|色々|\A(?:家|自宅|地球|無職)\Z|(?<=[\u4e00-\u9fff])か(?=[\u4e00-\u9fff])|くらい|ない|ません|なぜ|なんで|どうして|何|[はがを]|ます|たい|たく|別に|特に|わから|分から|かも|たぶん|多分"
)
_POINTS = re.compile(
    r"\b(?:you|your|me|my|it|this|that|these|those|there|here|them|us|and|or|where|what|who"
    r"|want|need|like|love|enjoy|hate|prefer|think|know|mean|du|dir|dich|mir|mich|dein\w*|das|dies\w*|es"
    r"|oder|und|hier|dort)\b",
    re.IGNORECASE,
)
"""Words of a question for yes or no that point, or ask for a wish or an opinion."""
_WITH = re.compile(r"(?:to|with|mit|seit|since) \w|for (?:\w+ ){1,2}years", re.IGNORECASE)
_NO_BUT = re.compile(
    r"(?:no|nope|nah)[,.!]? (?!(?:way|problem|clue|comment|chance|more|longer|luck|worries)\b)"
    r"(?:in )?(?P<value>[^\W\d_]{3,20}(?: [^\W\d_]{3,20})?)",
    re.IGNORECASE,
)
_IS_PLACE = re.compile(
    r"(?P<verb>live in|work at|work for) [A-Z][\w'&-]{1,30}(?: [A-Z][\w'&-]{1,30})?"
)
_CLAUSE = r"(?:\A|[,;:!–—] ?)(?:and |so |but |now |then |und |also )?"
_TAIL = (
    r"(?:,? (?:currently|now|right now|at the moment|these days|exactly|again|by the way|please"
    r"|then|if I may ask|if you don't mind(?: me asking)?|so|denn|eigentlich|gerade|derzeit|jetzt"
    r"|wenn ich fragen darf|bitte)){0,2}[?.!]*\Z"
)
_PLEASE = (
    r"(?:(?:may|can|could|would) (?:i|you|we) (?:please )?"
    r"(?:ask|know|have|get|tell me|share|remind me of)|please tell me|tell me|let me know|what is)"
)


def _asking(expression: str) -> re.Pattern[str]:
    """A question at the end of a sentence."""
    return re.compile(f"{_CLAUSE}(?:{expression}){_TAIL}", re.IGNORECASE)


def _question_of(attribute: str) -> str:
    return rf"(?:{_PLEASE} )?your (?:{attribute})"


_YEARS = re.compile(r"\d{1,3}")
_NUMBERED = re.compile(r"\D{0,30}\d.{0,40}")
_TOWN = re.compile(
    r"(?:(?i:in|near|outside|at|on|from|bei|nahe|aus) )?(?:the )?(?:[a-zà-ÿ'-]{3,20}"
    r"|[A-ZÀ-ÞĀ-ſ][\w'.-]*(?:,? (?:(?:am|an|on|upon|of|de|der) )?[A-ZÀ-ÞĀ-ſ][\w'.-]*){0,4})"
)
_PERSON = re.compile(r"[^\W\d_][\w'-]*(?: [^\W\d_][\w'-]*){0,3}")
_COUNT = re.compile(
    r"(?:\d{1,2}|one|two|three|four|five|six|zwei|drei|vier|fünf|sechs|[一二三四五六])人?"
)
_COUNT_AND_NAMES = re.compile(
    r"(?P<count>\d|one|two|three|four|five|six),? (?P<names>[^\W\d_]{2,20}"
    r"(?:(?:,? and |, )[^\W\d_]{2,20}){0,5})",
    re.IGNORECASE,
)
_WORK = r"(?:for work|for a living|professionally)"
_COUNTED = r"(?:kids|children|siblings|brothers|sisters|sons|daughters|pets|dogs|cats)"
_ENGLISH = _Language(
    yes=re.compile(
        r"(?:yes|yeah|yep|yup|correct|exactly|indeed|(?:that's )?right)(?:, sir)?(?:,? (?:i|we) "
        r"(?:am|do|have|are))?(?:[,.!] ?| |\Z)",
        re.IGNORECASE,
    ),
    no=re.compile(
        r"(?:no|nope|nah|not at all|none|never)(?:,? (?:none|never|not at all|i(?:'m| am) not"
        r"|i (?:do not|don't)))?",
        re.IGNORECASE,
    ),
    rows=[
        (_asking(question), row)
        for question, row in (
            (
                r"where (?:do you (?:currently |now )?(?:live|reside)|are you (?:currently |now )?"
                r"(?:living|based|located))"
                r"|(?:what|which) (?:city|town|place) (?:do you live|are you (?:based|living)) in"
                rf"|{_PLEASE} where you (?:live|are based)"
                rf"|{_question_of('(?:home )?city|town|location|(?:place of )?residence')}",
                _Row("I live {}.", ("in", "near", "outside"), _TOWN),
            ),
            (
                r"where (?:are|do) you (?:originally )?(?:come )?from(?: originally)?"
                rf"|{_PLEASE} where you are from",
                _Row("I am {}.", ("from",), _TOWN),
            ),
            (r"where did you grow up", _Row("I grew up {}.", ("in",), _TOWN)),
            (r"where were you born", _Row("I was born {}.", ("in",), _TOWN)),
            (
                rf"when is your birthday|{_question_of('birthday|date of birth')}"
                r"|when were you born",
                _Row("My birthday is {}.", form=_NUMBERED),
            ),
            (
                rf"{_question_of('(?:full |first |good )?name')}|what (?:should|can|may) i call you"
                r"|who am i (?:talking|speaking) (?:to|with)|what are you called",
                _Row("My name is {}.", form=_PERSON),
            ),
            (
                rf"how old are you|{_PLEASE} how old you are|{_question_of('age')}",
                _Row("I am {}.", form=_YEARS),
            ),
            (
                rf"where do you work|who do you work for|{_PLEASE} where you work"
                r"|which company do you work (?:for|at)|who is your employer"
                rf"|{_question_of('employer')}",
                _Row("I work {}.", ("at", "for", "in", "as", "from")),
            ),
            *(
                (
                    rf"what do you do(?: {_WORK})?|what kind of work do you do"
                    rf"|{_PLEASE} what you do(?: {_WORK})?"
                    rf"|{_question_of('job|job title|occupation|profession|line of work')}",
                    row,
                )
                for row in (
                    _Row("I work {}.", ("as", "at", "for"), re.compile(r"(?i:as|at|for) .+")),
                    _Row("I am {}.", ("a", "an")),
                )
            ),
            (r"what (?:do you study|are you studying)", _Row("I am studying {}.")),
            (r"(?:what|which|how many) languages? do you speak", _Row("I speak {}.")),
            (
                r"what are you allergic to|(?:do you have |have you got |are there )?any "
                r"(?:\w+ )?allergies(?: (?:that )?i should know(?: about| of)?)?"
                r"|are you allergic to anything",
                _Row("I am allergic {}.", ("to",)),
            ),
            (
                rf"(?:how many|do you have(?: any)?|have you got(?: any)?) (?P<things>{_COUNTED})"
                r"(?: do you have| have you got)?(?=.*\?)",
                _Row("I have {} {things}.", form=_COUNT),
            ),
            (
                rf"do you have (?:any )?{_COUNTED}",
                _Row("I have {}.", form=re.compile(r"(?:an?|one|two|three) [a-z].+")),
            ),
            (r"how tall are you", _Row("I am {} tall.", form=_NUMBERED)),
            (
                _question_of(
                    r"(?P<thing>(?:[a-z]+ ){0,2}(?:number|size|language|e-?mail(?: address)?"
                    r"|address|rent|budget|tongue))"
                ),
                _Row("My {thing} is {}."),
            ),
            (
                _question_of("favou?rite (?P<thing>[a-z]+(?: [a-z]+)?)"),
                _Row("My favourite {thing} is {}."),
            ),
        )
    ],
    choices=[
        (_asking(question), affirmed, denied)
        for question, affirmed, denied in (
            (
                r"are you (?P<asked>(?!at\b|with\b|in\b)(?-i:[a-z])[\w' -]{2,50}?)",
                "I am {asked}",
                "I am not {asked}",
            ),
            (r"do you (?P<asked>[\w' -]{2,50}?)", "I {asked}", "I do not {asked}"),
            (
                r"you(?: are|'re) (?P<asked>(?!at\b|with\b|in\b)(?-i:[a-z])[\w' -]{2,50}?)"
                r"(?:, (?:right|correct|aren't you))?",
                "I am {asked}",
                "",
            ),
            (
                r"you (?P<asked>(?!are\b)[\w' -]{2,50}?)(?:, (?:right|correct|don't you))?",
                "I {asked}",
                "",
            ),
        )
    ],
)
_ICH = r"(?:du|Sie)"
_DEIN = r"(?:dein|Ihr)(?:e|en)?"
_GERMAN = _Language(
    yes=re.compile(
        r"(?:ja|genau|stimmt|richtig|jep|jawohl)(?:,? (?:bin|habe|tue) ich)?(?:[,.!] ?| |\Z)",
        re.IGNORECASE,
    ),
    no=re.compile(r"(?:nein|nee|nö|keine|nie|gar nicht)(?:,? (?:keine|nie|gar nicht))?", re.I),
    rows=[
        (_asking(question), row)
        for question, row in (
            (
                rf"wo (?:wohn|leb)(?:st|en) {_ICH}|wo {_ICH} (?:wohn|leb)(?:st|en)"
                rf"|in welcher Stadt (?:wohn|leb)(?:st|en) {_ICH}"
                rf"|was ist {_DEIN} (?:Wohnort|Stadt)",
                _Row("Ich wohne {}.", ("in", "bei", "nahe"), _TOWN),
            ),
            (
                rf"woher komm(?:st|en) {_ICH}|woher {_ICH} komm(?:st|en)",
                _Row("Ich komme {}.", ("aus",), _TOWN),
            ),
            (
                rf"wie heiß(?:t|en) {_ICH}|wie {_ICH} heiß(?:t|en)"
                rf"|(?:wie (?:ist|lautet) )?{_DEIN} Name"
                rf"|was ist {_DEIN} Name|wie darf ich (?:dich|Sie) (?:nennen|ansprechen)",
                _Row("Ich heiße {}.", form=_PERSON),
            ),
            (
                rf"wie alt (?:bist|sind) {_ICH}|wie alt {_ICH} (?:bist|sind)|was ist {_DEIN} Alter",
                _Row("Ich bin {}.", form=_YEARS),
            ),
            (
                rf"wo arbeite(?:st|n) {_ICH}|bei wem arbeite(?:st|n) {_ICH}"
                rf"|was ist {_DEIN} (?:Arbeitgeber|Firma)",
                _Row("Ich arbeite {}.", ("bei", "als", "in", "im", "beim", "an", "am", "für")),
            ),
            *(
                (
                    rf"was (?:machst|machen) {_ICH}(?: beruflich| von Beruf)"
                    rf"|was (?:bist|sind) {_ICH} von Beruf|(?:als )?was arbeite(?:st|n) {_ICH}"
                    rf"|was ist {_DEIN} Beruf",
                    row,
                )
                for row in (
                    _Row("Ich arbeite {}.", ("als", "bei"), re.compile(r"(?i:als|bei) .+")),
                    _Row("Ich bin {}."),
                )
            ),
            (
                rf"(?:hast|haben) {_ICH} (?:irgendwelche |denn |eine )?\w*Allergien?"
                rf"|wogegen (?:bist|sind) {_ICH} allergisch|gegen was bist {_ICH} allergisch"
                rf"|(?:bist|sind) {_ICH} (?:gegen (?:etwas|irgendetwas) )?allergisch",
                _Row("Ich bin allergisch {}.", ("gegen",), re.compile(r"(?:gegen )?[A-ZÄÖÜ].+")),
            ),
            (
                rf"(?:wie viele|(?:hast|haben) {_ICH}) (?P<things>Kinder|Geschwister|Katzen|Hunde)"
                rf"(?: (?:hast|haben) {_ICH})?",
                _Row("Ich habe {} {things}.", form=_COUNT),
            ),
            (
                rf"welche Sprachen sprech(?:en) {_ICH}|welche Sprachen sprichst {_ICH}",
                _Row("Ich spreche {}."),
            ),
            (
                rf"wann (?:hast|haben) {_ICH} Geburtstag|(?:wann|was) ist {_DEIN} Geburtstag",
                _Row("Ich habe {} Geburtstag.", ("am",)),
            ),
            (
                rf"(?:was|wie) ist {_DEIN} (?P<thing>\w+(?:nummer|größe|adresse|mail)|Adresse)",
                _Row("Meine {thing} ist {}."),
            ),
        )
    ],
    choices=[
        (_asking(question), affirmed, denied)
        for question, affirmed, denied in (
            (
                rf"(?:bist|sind) {_ICH} (?P<asked>[\w -]{{2,50}}?)",
                "Ich bin {asked}",
                "Ich bin nicht {asked}",
            ),
            (rf"rauch(?:st|en) {_ICH}", "Ich rauche", "Ich rauche nicht"),
            (
                rf"{_ICH} wohn(?:st|en) (?P<asked>in [\w -]{{2,40}}?)"
                r"(?:, (?:oder|richtig|stimmt's|nicht wahr))?",
                "Ich wohne {asked}",
                "",
            ),
        )
    ],
)
_JA = r"(?:ですか|でしょうか|なんですか|か)?[？?。]?\Z"


def _asking_ja(expression: str) -> re.Pattern[str]:
    return re.compile(rf"(?:\A|[、。！!])(?:では、?|それで|ちなみに、?)?(?:{expression}){_JA}")


_SAY_JA = (
    r"(?:は(?:何|なん|なに|どちら|どこ|いつ|何とおっしゃいます)?"
    r"|を(?:教えて|お聞かせ|聞かせて|伺って|聞いて)[ぁ-ん]{0,12})"
)
_JAPANESE = _Language(
    yes=re.compile(r"(?:はい|ええ|うん|そうです)(?:、|。|\Z)"),
    no=re.compile(r"(?:いいえ|いえ|ううん)(?:、?(?:ありません|ないです|していません))?"),
    rows=[
        (_asking_ja(question), row)
        for question, row in (
            (
                r"(?:今は?)?(?:どこ|どちら)に(?:お住まい|住んで(?:い(?:ます|る)|らっしゃいます|おられます))"
                rf"|お?住まい{_SAY_JA}",
                _Row("{}に住んでいます"),
            ),
            (rf"(?:ご)?出身(?:地)?{_SAY_JA}|(?:どこ|どちら)の(?:ご)?出身", _Row("{}出身です")),
            (rf"(?:お)?名前{_SAY_JA}", _Row("名前は{}です")),
            (rf"(?:おいくつ|何歳)|(?:お歳|年齢|ご年齢){_SAY_JA}", _Row("{}歳です", form=_YEARS)),
            (
                r"(?:どこ|どちら)で働いて(?:い(?:ます|る)|らっしゃいます)|どちらにお勤め"
                rf"|お?勤め先{_SAY_JA}",
                _Row("{}で働いています"),
            ),
            (
                rf"(?:お仕事|ご職業|仕事|職業)(?:{_SAY_JA}|は何を(?:されて|して)い(?:ます|らっしゃいます))",
                _Row("仕事は{}です"),
            ),
            (
                r"(?:何か)?(?:食物)?アレルギー(?:は|が)(?:あります|お持ち|ございます)|何のアレルギー(?:があります)?",
                _Row("{}アレルギーがあります"),
            ),
            (
                r"(?:お子さん|子供|子ども)は何人(?:います|いらっしゃいます)?",
                _Row("子供は{}です", form=_COUNT),
            ),
            (rf"(?:お)?誕生日{_SAY_JA}", _Row("誕生日は{}です", form=_NUMBERED)),
            (rf"(?:ご)?趣味{_SAY_JA}", _Row("趣味は{}です")),
            (
                rf"(?:一番)?好きな(?P<thing>[^、。は\s]{{1,10}}){_SAY_JA}",
                _Row("好きな{thing}は{}です"),
            ),
        )
    ],
    choices=[
        (
            _asking_ja(r"(?:ご)?結婚(?:は)?(?:されて|して)(?:い(?:ます|らっしゃいます))"),
            "結婚しています",
            "",
        ),
        (
            _asking_ja(r"(?:タバコ|たばこ|煙草)(?:は|を)(?:吸います|吸われます)"),
            "",
            "タバコは吸いません",
        ),
    ],
)
_LANGUAGES = (_ENGLISH, _GERMAN, _JAPANESE)
