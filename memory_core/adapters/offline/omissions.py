"""Write out what a sentence leaves out because it is clear from the talk.

"I quit" means the job where the talk is about no other thing, and "we're in Leeds now" is a home
after "we moved". The completed sentence is only read by the rows of the tables; a fact's quote is
the sentence as it was said.
"""

from __future__ import annotations

import re

from memory_core.adapters.offline.casual import with_subject, written_out
from memory_core.adapters.offline.clauses import FAMILY_OR_FRIEND, SINGULAR
from memory_core.adapters.offline.fact_values import MOMENT
from memory_core.domain.statements.change_clauses import telling
from memory_core.domain.statements.first_person import names_speaker
from memory_core.domain.text.analyzer import has_japanese, words
from memory_core.domain.text.spelling import ANY_GERMAN_MONTH

MOST_BEFORE = 600
"""Characters of the talk before a sentence that are read."""
MOST_AFTER = 150
"""Characters of a message after a sentence that are read."""
MOST_SINCE_MOVED = 100
"""Characters between "we moved" and "we're in Leeds now", at most."""
_OF_ANOTHER = re.compile(
    r"\A(?:(?:[Ss]o|[Aa]nd|[Bb]ut|[Ww]ell|[Oo]h|[Aa]lso|[Bb]tw),? ){0,2}"
    r"(?:(?!(?:I|We|It|This|That|There|Then|Today|Yesterday|Just|Also|And|So|But|Now|Well|Oh|Hi"
    r"|Hey|They|Nobody|Someone)\b)[A-ZÀ-Þ][a-zà-ÿ]{1,15} (?:just )?(?:called|texted|phoned|rang"
    r"|wrote|says?|said|told|visited|emailed|messaged)\b"
    rf"|(?:[Mm]y (?:[a-z]{{2,8}} )?(?:{FAMILY_OR_FRIEND}|ex)(?: [A-Z][a-z]{{1,15}})?|[Hh]e|[Ss]he)"
    r"(?:['’]s|(?: just| finally| also)? (?:is|was|has|had|got|wrote|said|told|went|came|lost|left"
    r"|[a-z]{2,12}(?:ed|s)))\b)"
    r"|(?:父|母|兄|姉|弟|妹|夫|妻|旦那|嫁|彼氏|彼女|息子|娘|祖父|祖母|友達|友人|同僚|上司"
    r"|[^、。はがも\s]{1,6}(?:さん|くん|ちゃん))(?:は|が)"
)
"""A sentence about another person: "Tom called", 「父は先月退職しました」."""
_NO_SUBJECT = re.compile(
    r"\A(?:(?:just|now|also|and|then|finally|recently) ){0,3}(?:has|have|had|is|was|got|went|came"
    r"|works?|lives?|became|quit|lost|left|broke|no longer|[a-z]{2,12}[^\We]ed)\b(?!,)",
    re.IGNORECASE,
)
_OWN_TOPIC = re.compile(r"[私僕俺]|自分|うち[のはも]|(?<![今にで])は|が|たい")


def is_about_another(sentence: str) -> bool:
    """Whether a sentence begins with a person of the speaker's as its subject."""
    return _OF_ANOTHER.search(sentence) is not None


def is_about_the_same_person(sentence: str, before: str) -> bool:
    """Whether a sentence without a subject goes on about another person.

    For example "just got divorced" after "Tom called".

    Args:
        sentence: A sentence of a message.
        before: The sentence before it in the message.

    """
    if not is_about_another(before):
        return False
    if has_japanese(sentence):
        return _OWN_TOPIC.search(sentence) is None
    written = written_out(sentence)
    lacks_subject = _NO_SUBJECT.match(sentence) is not None or with_subject(written) != written
    return lacks_subject and not names_speaker(sentence, None)


_QUIT = re.compile(
    r"(?P<before>\A(?:[\w' ]{1,20}, ?)?I(?:['’]ve| have)?(?: \w+ly| just)? quit)"
    rf"(?P<when>(?: {MOMENT}){{0,2}})[\s.!]*\Z"
)
_GAVE_NOTICE = re.compile(
    r"(?P<before>\b[Ii]ch habe?|(?:\A|, |\b(?:[Uu]nd|[Aa]ber|[Gg]estern|[Hh]eute) )[Hh]abe? ich)"
    r"(?P<when>(?: (?:gerade|heute|gestern|endlich"
    r"|inzwischen|jetzt|nun|(?:letzte|diese|vorige)[nrs]? \w+"
    rf"|(?:im|zum) {ANY_GERMAN_MONTH}|vor \w+ \w+)){{0,2}})"
    r" gekündigt(?=\W*\Z|,| und\b)"
)
_GIVEN_NOTICE = re.compile(
    r"\b(?P<before>[Mm]ir wurde|wurde mir)(?P<when>(?: \w+){0,2}) gekündigt\b"
)
_DISMISSED = re.compile(
    r"\b(?P<before>(?:[Ii]ch (?:wurde|bin)|(?:wurde|bin) ich)(?: (?!aus\b)\w+){0,2}) entlassen\b"
)
_OF_SOMETHING_ELSE = re.compile(
    r"\b(?:gym|club|course|class|team|band|choir|smok\w*|cigar\w*|vap\w*|drinking|alcohol|diet|game"
    r"|membership|subscription|lessons?|school|uni\w*|wohnung|miete\w*|vermieter\w*|\w*verein\w*|\w*chor"
    r"|abo|\w*vertrag\w*|fitness\w*|\w*kurs\w*|krankenhaus|klinik)\b",
    re.IGNORECASE,
)
_OF_WORK = re.compile(
    r"\b(?:job|work|working|boss|manager|employer|company|office|shifts?|colleagues?|notice|career"
    r"|arbeit\w*|chef\w*|firma|kolleg\w*|stelle|büro|schicht\w*)\b",
    re.IGNORECASE,
)
_MOVED = re.compile(
    r"\b(?:I|[Ww]e)(?:['’]ve| have)?(?: (?:just|finally|recently))? moved"
    r"(?: (?:house|home))?(?=[.,;!]|\Z| (?:last|this|yesterday|today|at the|in|on|and)\b)"
)
_TOWN = r"[A-ZÀ-Þ][\w-]{1,30}(?: [A-ZÀ-Þ][\w-]{1,30}){0,2}"
_IS_IN = re.compile(
    rf"\b(?P<who>I|[Ww]e)(?:['’]m|['’]re| am| are) (?:now )?in (?P<town>{_TOWN})(?: now)?"
    r"(?=[.,;!]|\Z)"
)
_MOVED_IN_GERMAN = re.compile(
    r"\b(?:[Dd]er|[Uu]nser|[Mm]ein) Umzug (?:ist|war) (?:\w{2,10} ){0,2}"
    r"(?:geschafft|vorbei|durch|erledigt|überstanden|fertig)\b"
    r"|\b(?:[Ii]ch bin|[Ww]ir sind|[Ss]ind wir|[Bb]in ich) (?:(?!nicht\b)\w{2,10} ){0,2}umgezogen\b"
)
_IS_IN_GERMAN = re.compile(
    rf"\b(?:(?:[Ii]ch bin|[Ww]ir sind) (?:jetzt|nun)|(?:jetzt|nun) (?:bin ich|sind wir)) "
    rf"in (?!\w*(?:[Zz]eit|[Uu]rlaub|[Rr]ente)\b)(?P<town>{_TOWN})(?=[.,;!]|\Z)"
)
_JOB_AFTER_ANOTHER = re.compile(
    r"(?P<before>\b(?:[Ii]n der|[Ii]m|[Bb]eim|[Bb]ei(?: der)?) [A-ZÄÖÜ][\w-]{1,30} habe? ich"
    r" (?:\w{2,12} ){0,2}(?:aufgehört|gekündigt),? (?:und )?)(?:ab )?(?:jetzt|sofort) bin ich "
    rf"(?:im|in der|beim) (?!\w*(?:[Uu]rlaub|[Rr]ente|[Ee]lternzeit)\b)(?P<at>{_TOWN})(?=[.,;!]|\Z)"
)
_NOT_THERE = re.compile(
    rf"\A(?:[\w' ]{{1,20}}, )?(?P<who>I|[Ww]e)(?:['’]m|['’]re| am| are) (?:now )?"
    rf"in (?P<town>{_TOWN})(?: now)?,? (?:and )?(?:not|no longer) (?:in )?{_TOWN}"
    r"(?: any ?more)?(?=\W*\Z)"
)
_NOT_THERE_IN_GERMAN = re.compile(
    rf"\A(?:[\w' ]{{1,20}}, )?(?:[Ii]ch bin|[Ww]ir sind) jetzt in (?P<town>{_TOWN}),? "
    rf"(?:und )?nicht mehr in {_TOWN}"
)
_NEW = re.compile(
    r"\A(?:[Mm]y |[Oo]ur |(?:I|[Ww]e)(?:['’]ve| have)?(?: got)? an? )?[Nn]ew "
    r"(?P<what>(?:phone |mobile )?number|(?:e-?mail )?address|phone|mobile|e-?mail)"
    r"(?: now)?(?: is)?(?: below| here| as follows)?(?:: ?(?=\S)"
    r"|(?:,? (?:as of [\w ]{2,20}|btw|by the way|now|everyone|all)){0,2}"
    r"[,:] (?=\+?\d{3,6}[ /]|\d{1,4} [A-Z]))"
)
_NEW_IN_GERMAN = re.compile(
    r"\A(?:(?:[Mm]eine|[Uu]nsere|[Ww]ir haben eine|[Ii]ch habe eine) )?[Nn]eue "
    r"(?P<what>Adresse|Telefonnummer|Handynummer|E-Mail-Adresse): ?(?=\S)"
)


def completed(sentence: str, before: str, after: str = "") -> str:
    """Return a sentence with what it leaves out.

    Args:
        sentence: "I quit last week."
        before: The talk before it, the end of it is enough; empty at the beginning.
        after: The message after it.

    Returns:
        "I quit my job last week."; the sentence itself where nothing is left out, or where the talk
        may be about something else.

    """
    for expression, written in _OF_A_JOB:
        if (match := expression.search(sentence)) is not None:
            rest = f"{sentence[match.end() :]} {after[:MOST_AFTER]}"
            of_work = _is_of_work(before, rest)
            return expression.sub(written, sentence, count=1) if of_work else sentence
    for expression, written in _WRITTEN:
        match = expression.search(sentence)
        if match is not None and _OF_SOMETHING_ELSE.search(match.group()) is None:
            return expression.sub(written, sentence, count=1)
    new = _THE_NEW_ONE.match(sentence)
    kinds = _NEW_RELATION.findall(before[-MOST_SINCE_MOVED:]) if new else []
    if new is not None and kinds:
        return f"My new {kinds[-1]} is called {sentence[new.end() :]}"
    for move, is_in, written in _AFTER_A_MOVE:
        moved = move.search(sentence)
        if moved is not None or move.search(before[-MOST_SINCE_MOVED:]) is not None:
            end = moved.end() if moved else 0
            return sentence[:end] + is_in.sub(written, sentence[end:], count=1)
    return sentence


_THE_NEW_ONE = re.compile(r"[Tt]he new one(?: is|['’]s)(?: called)? (?=[A-Z])")
_NEW_RELATION = re.compile(rf"\bnew (?P<kind>{SINGULAR})\b")
_OF_A_JOB = (
    (_QUIT, r"\g<before> my job\g<when>."),
    (_GAVE_NOTICE, r"\g<before> meinen Job\g<when> gekündigt"),
    (_GIVEN_NOTICE, r"\g<before> der Job\g<when> gekündigt"),
    (_DISMISSED, r"\g<before> gefeuert"),
)
_AFTER_A_MOVE = (
    (_MOVED, _IS_IN, r"\g<who> live in \g<town>"),
    (_MOVED_IN_GERMAN, _IS_IN_GERMAN, r"ich wohne jetzt in \g<town>"),
)
_WRITTEN = (
    (_JOB_AFTER_ANOTHER, r"\g<before>jetzt arbeite ich bei \g<at>"),
    (_NOT_THERE, r"\g<who> live in \g<town>"),
    (_NOT_THERE_IN_GERMAN, r"ich wohne jetzt in \g<town>"),
    (_NEW, r"My new \g<what> is "),
    (_NEW_IN_GERMAN, r"Meine neue \g<what> ist "),
)


def _is_of_work(before: str, after: str) -> bool:
    """Whether a talk is about work, or about nothing else yet."""
    if _OF_WORK.search(f"{before} {after}") is not None:
        return True
    return not telling(words(before), "english") and _OF_SOMETHING_ELSE.search(after) is None
