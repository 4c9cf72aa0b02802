"""Write out what a sentence leaves out because it is clear from the talk.

"I quit" means the job where the talk is about no other thing, and "we're in Leeds now" is a home
after "we moved". The completed sentence is only read by the rows of the tables; a fact's quote is
the sentence as it was said.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from memory_core.adapters.offline.animals import IN_ENGLISH as ANIMAL
from memory_core.adapters.offline.casual import with_subject, written_out
from memory_core.adapters.offline.clauses import FAMILY_OR_FRIEND, SINGULAR
from memory_core.adapters.offline.fact_values import MOMENT
from memory_core.domain.statements.change_clauses import telling
from memory_core.domain.statements.first_person import names_speaker
from memory_core.domain.statements.japanese_persons import goes_on, person_of
from memory_core.domain.text.analyzer import has_japanese, words
from memory_core.domain.text.given_names import is_given_name
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


_RELATION = (
    rf"{FAMILY_OR_FRIEND}|client|student|pupil|patient|grandson|granddaughter|grandchild|godson"
    r"|stepson|stepdaughter|youngest|eldest|oldest|boy|girl|toddler|housemate|frau|mann|tochter"
    r"|sohn|schwester|bruder|freund(?:in)?|mutter|vater|onkel|tante|nachbar(?:in)?|kollege|kollegin"
    r"|enkel(?:in)?|klient(?:in)?|schüler(?:in)?|patientin|kind|jüngste[rs]?|älteste[rs]?|kleine[rs]?"
)
_AT_HOME = (
    "mum|mom|mummy|mama|dad|daddy|papa|grandma|granny|grandpa|gran|nana|oma|opa|mutti|vati|mutter"
    "|vater"
)
_CALLED = r"[A-ZÀ-Þ][a-zà-ÿ]{1,15}"
_PERSON = re.compile(
    r"\A(?:(?:[Ss]o|[Aa]nd|[Bb]ut|[Ww]ell|[Oo]h|[Aa]lso|[Bb]tw|[Uu]nd|[Aa]ber|[Aa]ch),? ){0,2}"
    r"(?:(?P<pronoun>[Hh]e|[Ss]he|[Ee]r)(?= [a-z]|['’]s)"
    rf"|(?P<person>(?i:(?:my|our|meine?|unsere?) (?:[a-zäöüß-]{{2,12}} ){{0,2}}?(?:{_RELATION}))\b"
    rf"(?:,? {_CALLED}\b)?|(?:[Mm]y|[Oo]ur|[Uu]nsere?) (?P<ours>{_CALLED})\b|(?i:{_AT_HOME})\b"
    rf"|(?P<name>{_CALLED})\b))"
    r"(?P<next>['’]s? [a-z]| (?!and\b|und\b|or\b|oder\b)[a-zà-ÿ]|: | \(\d"
    r"|(?P<joined>,? (?:and|und) ))"
)
"""The person whom a sentence is about."""
_STATE = re.compile(
    r"(?:also |auch |and |und )?(?P<state>allergic to|vegetarian|vegan|c(?:o)?eliac|diabetic"
    r"|asthmatic|lactose|gluten|left-handed|autistic|allergisch (?:gegen|auf)|vegetarier(?:in)?"
    r"|vegetarisch|veganer(?:in)?|diabetiker(?:in)?|linkshänder(?:in)?)\b",
    re.IGNORECASE,
)
"""What a person is, without a subject and a verb."""
_OF_THEM = re.compile(
    r"(?:also |auch |and |und )?(?:(?:takes|lives|works|speaks|plays|eats|drinks|hates|loves|likes"
    r"|goes|needs|wears|studies|attends|weighs|drives|smokes|is allergic|has asthma|wohnt|geht|lebt"
    r"|arbeitet|spricht|nimmt|isst|trinkt|darf|braucht|spielt|heißt|verträgt|lernt|fährt|liebt"
    r"|hasst|trägt|leidet|raucht)\b|(?:ist|hat|mag|kann) (?!(?:ja|das|es|er|sie|man|gut|okay|klar"
    r"|alles|mir|mich|uns|nichts|nicht so)\b))(?! (?:das|es|er|sie|mein\w*|unser\w*|die|der|ich|wir"
    r"|du)\b)",
    re.IGNORECASE,
)
"""A verb in the third person that opens a sentence without a subject."""
_FORM = re.compile(r"(?:name|alter|age|klasse|class)\s?:", re.IGNORECASE)
"""A line of a form, which goes on about the person whom the form is about."""
_HE_OR_SHE = re.compile(
    r"\b(?:(?P<owner>his|her(?= (?!(?:to|at|with|and|or|in|on|for|from|about|every|the|a|an|this"
    r"|that|last|next|is|was|a?gain|today|as|by|so|but|because|when|if|how|what|more)\b)[a-z]))"
    r"|(?P<him>him|her|he|she))\b"
)
_NAMED = re.compile(
    rf"(?<!\A)\b(?!I\b)[A-ZÀ-Þ]|\b(?i:{_RELATION}|{_AT_HOME}|man|woman|guy|lady|person|someone"
    r"|somebody|baby|doctor|boss|teacher|coworker|dog|cat|pet|kid|ex|gfs?|bfs?|actors?|owner|trainer|cleaner|nurse|carer|driver|vet)\b"
)


@dataclass(slots=True)
class PersonInFocus:
    """The person whom the sentences of a message are about.

    Attributes:
        person: As the speaker names them: "My son Theo"; "" for a person without a name, None for
            the speaker and for things.

    """

    person: str | None = None

    def complete(self, sentence: str) -> str | None:
        """Return a sentence with the person it is about, and remember that person.

        Args:
            sentence: "Allergic to penicillin."

        Returns:
            "My son Theo is allergic to penicillin." after "My son Theo has ADHD."; the sentence
            itself if it has a subject; None if it is about a person without a name.

        """
        if has_japanese(sentence):
            return self._complete_japanese(sentence)
        is_state = _STATE.match(sentence) is not None
        if is_state or _OF_THEM.match(sentence):
            if (
                self.person is None
                or sentence.rstrip().endswith("?")
                or (is_state and names_speaker(sentence, None))
            ):
                return sentence
            return _with_subject(self.person, sentence, is_state=is_state) if self.person else None
        before, self.person = self.person, self._subject_of(sentence)
        subject = _PERSON.match(sentence)
        if subject is not None and subject["next"] == ": " and self.person:
            rest = sentence[subject.end() :]
            if _STATE.match(rest) and "," not in rest:
                return _with_subject(self.person, rest, is_state=True)
        return _with_antecedent(sentence, before or "")

    def _complete_japanese(self, sentence: str) -> str:
        if self.person and goes_on(sentence) and not sentence.endswith(("？", "?")):
            return f"{self.person}は、{sentence}"
        self.person = person_of(sentence)
        return sentence

    def _subject_of(self, sentence: str) -> str | None:
        if _FORM.match(sentence):
            return self.person
        match = _PERSON.match(sentence)
        if match is None:
            return None
        if match["pronoun"]:
            return self.person or ""
        name = match["name"] or match["ours"]
        if name is not None and not is_given_name(name):
            return None
        return "" if match["joined"] else match["person"]


def _with_subject(person: str, rest: str, *, is_state: bool) -> str:
    verb = ("ist " if _GERMAN_STATE.match(rest) else "is ") if is_state else ""
    return f"{person} {verb}{rest[:1].lower()}{rest[1:]}"


_GERMAN_STATE = re.compile(
    r"(?:auch )?(?:allergisch|vegetari(?:er|sch)|veganer|diabetiker|links)", re.I
)


def _with_antecedent(sentence: str, person: str) -> str:
    """The sentence with the person in the place of a "he" or "her" without another."""
    pronoun = _HE_OR_SHE.search(sentence) if person and sentence.startswith(("I ", "We ")) else None
    if pronoun is None or _NAMED.search(sentence, 0, pronoun.start()):
        return sentence
    owner = "'s" if pronoun["owner"] else ""
    named = re.sub(r"\A(?:My|Our)\b", lambda match: match.group().lower(), person)
    return f"{sentence[: pronoun.start()]}{named}{owner}{sentence[pronoun.end() :]}"


def lacks_person(statement: str) -> bool:
    """Whether a statement says "he" or "her" and names no person."""
    return _HE_OR_SHE.search(statement) is not None and _NAMED.search(statement, 1) is None


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
_GOT_PET = re.compile(
    rf"\b(?:I|[Ww]e)(?:['’]ve| have)?(?: just)? (?:got|adopted|bought) an? (?:[a-z]+ )?"
    rf"(?P<animal>{ANIMAL})[.! ]*\Z"
)
_ITS_NAME = re.compile(r"(?:His|Her|Its) name(?:['’]s| is) (?P<name>[A-Z][a-z]{1,20})(?=[.,!]|\Z)")
_LEFT_JOB = re.compile(
    r"\bI(?:['’]ve| have)?(?: (?:just|finally|recently))? (?:(?:quit|resigned from|got fired from"
    r"|was laid off from) (?!(?:Facebook|Instagram|Twitter|Tik[Tt]ok|Reddit|WhatsApp|Netflix)\b)"
    r"[A-ZÀ-Þ][\w&'’-]{1,30}|(?:left|quit) my job at [A-ZÀ-Þ][\w&'’-]{1,30}"
    r"|(?:changed|switched) jobs)\b"
)
_IS_AT = re.compile(
    rf"\bI(?:['’]m| am) (?:now (?:at|with) (?P<at>{_TOWN})(?=[.,;!]|\Z)"
    rf"|(?:at|with) (?P<at2>{_TOWN}) now(?=[.,;!]|\Z))"
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
    r"[,:] (?=\+?\d{3,6}[ /]|\d{1,4} [A-Z])|,? it(?:['’]?s| is) (?=\+?\d{3,6}[ /-]?\d))"
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
    pet, name = _GOT_PET.search(before[-MOST_SINCE_MOVED:]), _ITS_NAME.match(sentence)
    if pet is not None and name is not None:
        return f"I have a {pet['animal']} called {name['name']}"
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
    (_LEFT_JOB, _IS_AT, r"I work at \g<at>\g<at2>"),
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
