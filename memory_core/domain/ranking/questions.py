"""What a question is about: all that is known, the speaker, or an assistant's words.

Read in English, German and Japanese. For example "What do you know about me?" asks for everything
that is known of a person. It shares no word with any memory, so none is relevant; facts answer
it, whatever they say.
"""

from __future__ import annotations

import re

from memory_core.domain.statements.said_words import KIN_IN_JAPANESE
from memory_core.domain.text.sentences import Sentence, sentences

_MOST_CHARACTERS = 300
"""Of a query that may ask for all memories: a longer message asks for something else besides."""
_KNOW = (
    r"(?:know|remember|recall|remembered|learned|learnt|stored|saved|noted|kept|memorized|memorised"
    r"|gathered)"
)
_ASIDE = re.compile(
    r"\b(?:so far|by now|until now|bis jetzt|hey|hi|hello|hallo|so|oh|ok|okay|well|and|but|also|now"
    r"|then|please|sag mal|actually|already|really|exactly|still|currently|und|aber|bitte|mal|schon"
    r"|denn|eigentlich|noch|bisher|genau|jetzt|inzwischen|überhaupt)\b"
    r"|\A(?:ねえ|ねぇ|さて|では|じゃあ|それで|ところで|あの|えっと)(?=[、,\s])"
    r"|今のところ|これまでに?|今まで(?:に|で)?|実際(?:には?)?|すでに"
    r"|(?<!\w)[^\w\s']+|[^\w\s']+(?!\w)|、",
    re.IGNORECASE,
)
"""Openings, adverbs and signs that change nothing in a question for all memories."""
_ENGLISH = (
    rf"what (?:all |else )?(?:do|did|have|can) you (?:have |tell me )?{_KNOW}(?: (?:about|of) me)?",
    (
        r"(?:can you |could you )?(?:tell|show|give|list|summari[sz]e)(?: me)?(?: about)? "
        rf"(?:everything|all|what|anything)(?: that)? you(?:'ve| have)? {_KNOW}"
        r"(?: (?:about|of) me)?"
    ),
    rf"(?:everything|all)(?: that)? you {_KNOW}(?: about me)?",
    (
        r"(?:what|which) (?:facts|info|information|memories|things|data) do you (?:have|keep|know"
        r"|hold)(?: stored)?(?: (?:about|of|on) me)?"
    ),
    r"do you (?:know|remember) (?:(?:anything|something) about )?me",
    r"(?:(?:do you (?:know|remember)|(?:can you )?tell me) )?who (?:am i|i am)",
    r"(?:what can you )?tell me about (?:me|myself)",
    r"what do you have on me",
)
_GERMAN = (
    r"was (?:weißt|weisst) du (?:alles )?(?:über mich|von mir)(?: alles)?",
    (
        r"was hast du (?:dir )?(?:alles )?(?:über mich |von mir )?(?:gemerkt|gespeichert|behalten"
        r"|gelernt)"
    ),
    (
        r"(?:kannst du mir (?:alles )?(?:sagen|erzählen)"
        r"|(?:erzähle?|sage?|zeige?|nenne?) mir(?: alles)?) (?:was|woran) du (?:dich |dir )?"
        r"(?:alles )?(?:über mich |von mir )?(?:alles )?(?:weißt|weisst|erinnerst|gemerkt hast)"
    ),
    r"(?:woran|an was) erinnerst du dich(?: bei mir)?",
    r"(?:(?:weißt|weisst) du )?wer (?:bin ich|ich bin)",
    r"kennst du mich",
)
_OF_ME = r"(?:私|僕|俺|わたし|あたし)"
_TOLD_TO = r"(?:全部|すべて)?(?:教えて|話して)(?:ください|くれる|ほしい)?"
_KNOWN = r"(?:知って|覚えて)(?:い?ます|い?る)(?:の|ん)?(?:です)?か?"
_JAPANESE = (
    (
        rf"{_OF_ME}(?:について|のこと|に関して)(?:を|で|は)?\s?(?:何|なに|どんなこと|どれくらい"
        rf"|どれぐらい|どこまで|全部)?(?:を|が|か)?{_KNOWN}"
    ),
    rf"(?:{_OF_ME}(?:について|のことで?|に関して)\s?)?(?:知って|覚えて)(?:い?る)ことを?{_TOLD_TO}",
    rf"(?:何|なに)を{_KNOWN}",
    rf"{_OF_ME}が(?:誰|だれ)(?:だ|なの)?か(?:を|は)?(?:{_KNOWN}|(?:分か|わか)(?:りますか?|る))",
    rf"{_OF_ME}は(?:誰|だれ)(?:です)?か?",
)
_ALL = re.compile("|".join((*_ENGLISH, *_GERMAN, *_JAPANESE)), re.IGNORECASE)


def asks_for_everything(text: str) -> bool:
    """Whether a sentence of a query asks for all that is known of the caller."""
    if len(text) > _MOST_CHARACTERS:
        return False
    return any(
        _ALL.fullmatch(" ".join(_ASIDE.sub(" ", plain.casefold()).split())) is not None
        for sentence in sentences(text)
        if (plain := sentence.text.replace("’", "'").strip())
    )


_AGAIN = re.compile(r"\bagain\W{0,9}\Z", re.IGNORECASE)
_ASKED_AGAIN = re.compile(
    r"\b(?:what|who|where|when|which|how)(?:'s|\W[^.!?]{0,40}?\b(?:is|are|was|were))\b",
    re.IGNORECASE,
)
"""The beginning of a question for something known before: "what was her name again?"."""
_FRAME = re.compile(
    r"\A\W*(?:(?:hey|hi|ok|so|sorry|please|bitte|hallo|sag mal)\W+)?(?:"
    r"(?:(?:can|could|would) you (?:please )?)?(?:remind me|tell me)(?: again)?"
    r"|do you (?:still |even )?(?:remember|know|recall)"
    r"|(?:weißt|weisst) du (?:noch|eigentlich|noch ?mal|denn)*"
    r"|(?:kannst du mir )?(?:sag|sagen|erinner\w*) (?:mir|mich)(?: (?:noch ?mal|bitte|dran))*"
    r")\W+(?=(?:what|who|whom|whose|where|when|which|how|whether|if|why|wie|was|wo|wohin|wer|wen"
    r"|wem|wann|welche\w*|ob|warum)\b)"
    r"|\b(?:did|have) i (?:ever |already )?(?:say|said|mention(?:ed)?|tell you|told you)\b"
    r"|\b(?:hab|habe|hatte) ich (?:dir )?(?:das )?(?:mal |schon |je )*(?:erwähnt|gesagt|erzählt)\b"
    r"|\b(?:at the moment|these days|right now|nowadays|currently)(?=\W*\Z)"
    r"|\b(?:inzwischen|mittlerweile|zurzeit|derzeit|momentan|eigentlich|nochmal|noch (?:ein)?mal"
    r"|noch gleich)\b"
    r"|(?:を|は|って|、)?(?:まだ)?(?:覚え|憶え)て(?:る|いる|います|ます)?か?(?=\W*\Z)"
    r"|(?:を|って)?教えて(?:ください|下さい|くれる|ほしい|もらえ(?:る|ます))?か?(?=\W*\Z)"
    r"|(?:って言った|だった|だ|った)?(?:っけ|かな|かしら)(?=\W*\Z)",
    re.IGNORECASE,
)
"""Words around a question that ask for nothing: "remind me where …", "… again?", "…だっけ"."""


def without_frame(text: str) -> str:
    """A question without the words around it that ask for nothing.

    For example "remind me", "did I mention", "again", "noch mal", "だっけ".
    """
    if len(text) > _MOST_CHARACTERS:
        return text
    text = _FRAME.sub(" ", text)
    end = _AGAIN.search(text)
    if end is None:
        return text
    before = text[: end.start()]
    sentence = max(map(before.rfind, ".!?"))
    return before if _ASKED_AGAIN.search(before, sentence + 1) else text


MOST_SENTENCES = 2
"""Sentences of a message that may ask about its speaker: in a longer message a sentence matches by
chance.
"""
QUESTION = re.compile(
    r"\W{0,9}(?:what|when|where|which|who|whom|whose|why|how|do|did|is|am|are|was|wann|wo"
    r"|welche[rsnm]?|wer|wen|wem|warum|wie)\b",
    re.IGNORECASE,
)
"""The beginning of a question that is typed without its mark."""
_ASKS_IN_JAPANESE = re.compile(
    r"(?:っけ|かな|ですか|ますか|のか|何|どこ|いつ|誰|いくら|どんな|どう)"
)
_ONESELF = re.compile(
    r"\b(?:i|me|my|mine|myself|we|us|our|ours|ich|mir|mich|mein\w{0,2}|wir|uns|unser\w{0,2})\b"
    r"|[\u79c1\u50d5\u4ffa]|わたし|うちの|自分の",
    re.IGNORECASE,
)
_TO_DO = re.compile(
    r"\b(?:find|get|give|help|let|make|send|show|teach|tell|write) me\b"
    r"|\b(?:should|could|can|may|shall) (?:i|we)\b",
    re.IGNORECASE,
)
"""Mentions the speaker, but doesn't ask about the speaker."""


_SAID_PAST = (
    "recommended|suggested|advised|proposed|told|explained|described|gave|given|said|mentioned"
    "|outlined|provided"
)
_OF_THE_ASSISTANT = re.compile(
    r"\b(?:did|have|had) you (?:ever |already |just )?"
    r"(?:recommend|suggest|advise|propose|tell|told|explain|describe|give|say|said|mention|outline"
    rf"|provide)(?:ed|d|n)?\b|\b(?:what|which|how)\b[^.?!\n]{{0,80}}(?<!like )(?<!as )\byou (?:had "
    rf"|have )?(?:{_SAID_PAST})\b|\bwh(?:at|ich) (?:was|were|is|are) your (?:advice|suggestions?"
    r"|recommendations?|explanations?|proposals?)\b|\bhast du\b[^.?!\n]{0,80}\b(?:empfohlen"
    r"|vorgeschlagen|geraten|gesagt|erklärt|beschrieben|erwähnt|genannt)\b",
    re.IGNORECASE,
)
"""Asks for earlier words of the assistant: "What did you recommend?", not "How do I start,
as you said?".
"""


def asks_of_assistant(text: str) -> bool:
    """Whether a question of a message asks for words of the assistant."""
    plain = text.replace("’", "'").replace("you've", "you have")
    if _OF_THE_ASSISTANT.search(plain) is None:
        return False
    return any(
        _OF_THE_ASSISTANT.search(sentence.text) is not None
        and (sentence.asks or QUESTION.match(sentence.text) is not None)
        for sentence in sentences(plain)
    )


def asks_directly(text: str) -> bool:
    """Whether a message of at most two sentences contains a question."""
    message_sentences = sentences(text)
    return 0 < len(message_sentences) <= MOST_SENTENCES and any(map(_asks, message_sentences))


def asks_of_oneself(text: str) -> bool:
    """Whether a message of at most two sentences asks something about its speaker."""
    return asks_directly(text) and any(
        _asks(sentence)
        and (
            _ONESELF.search(_TO_DO.sub("", sentence.text.replace("’", "'"))) is not None
            or KIN_IN_JAPANESE.search(sentence.text) is not None
        )
        for sentence in sentences(text)
    )


_ABOUT_ASKING = re.compile(
    r"\b(?:ask(?:ed|ing)?|questions?|frag(?:e|en|te|test|ten)|gefragt)\b|聞い|質問|尋ね",
    re.IGNORECASE,
)
_BEGINS_TO_ASK = re.compile(
    r"\W{0,9}+(?:(?:hey|hi|ok|so|and|but|also|oh|sorry|please|by the way|btw|und|aber|also|sag mal)"
    r"\W+){0,2}(?:what|when|where|which|who|whom|whose|why|how|do|does|did|is|am|are|was|were|have"
    r"|has|had|can|could|would|will|should|shall|any|remind me|wann|wo|wohin|woher|welche[rsnm]?"
    r"|wer|wen|wem|wessen|warum|wieso|wie|was|hab|habe|hast|hat|hatte|bin|bist|ist|sind|war|waren"
    r"|kann|kannst|können|soll|sollen|muss|weißt|weisst|gibt)(?:'s)?\b",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"\A(?:## Summary\s+)?[^\W\d][^:.!?\n]{0,60} asked: ")
_UNMARKED = re.compile(
    r"\W{0,9}+(?:what|when|where|which|who|whom|whose|why|how)(?:\W+\w+){0,3}?\W+"
    r"(?:do|does|did|have|has|had|can|could|will|would|should|shall|am|is|are|was|were)"
    r" (?:i|you|we|he|she|they|it|user|my|our|your)\b[^.!?,;\n]*\.?\Z",
    re.IGNORECASE,
)
"""A question that is typed without its mark: "where did I put the passport"."""
_TAGS = "\n---\n"
"""Ends the text of a note; tags and the like follow."""


_KNOWS_NOT = re.compile(
    r"\b(?:(?:do not|don't|did not|didn't|cannot|can't|could not|couldn't)(?: \w+)?"
    r" (?:know|have|remember|recall|find|see)|not (?:sure|aware)"
    r"|(?:have not|haven't|did not|didn't|never) (?:told|mention(?:ed)?|shared?|said)"
    r"|no (?:record|information|idea|memory)|(?:weiß|weiss)(?: \w+)? (?:leider )?nicht"
    r"|keine (?:information|ahnung|angabe)\w*|nicht (?:bekannt|erwähnt|gesagt))\b"
    r"|(?:わか|分か|知)りません|ありません|存じません",
    re.IGNORECASE,
)


def knows_not(text: str) -> bool:
    """Whether a reply of at most two sentences says that the answer is not known."""
    plain = text.replace("’", "'")
    reply = [sentence for sentence in sentences(plain) if not sentence.asks]
    return 0 < len(reply) <= MOST_SENTENCES and _KNOWS_NOT.search(reply[0].text) is not None


def asks_for_an_answer(text: str) -> bool:
    """Whether a message asks something, and not for what was asked before."""
    return asks_directly(text) and _ABOUT_ASKING.search(text) is None


def only_asks(text: str) -> bool:
    """Whether all sentences of a memory are questions, so that it holds no answer.

    It may be formed: "User asked: Where is it?". "I moved to Rome, do you know a doctor?" does not
    only ask.
    """
    quoted = _QUOTED.match(text)
    if quoted is not None:
        text = text[quoted.end() :].partition(_TAGS)[0]
    if _UNMARKED.match(text) is not None:
        return True
    text_sentences = sentences(text)
    return bool(text_sentences) and all(
        sentence.asks
        and (
            _BEGINS_TO_ASK.match(sentence.text) is not None
            or _ASKS_IN_JAPANESE.search(sentence.text) is not None
        )
        for sentence in text_sentences
    )


def _asks(sentence: Sentence) -> bool:
    """Whether a sentence asks, by its mark or by how it begins."""
    return (
        sentence.asks
        or QUESTION.match(without_frame(sentence.text)) is not None
        or _ASKS_IN_JAPANESE.search(sentence.text) is not None
    )
