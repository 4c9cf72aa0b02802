"""How a speaker behaves in a conversation, as seen in it; N/A where nothing is.

Note: this is a count of cues, not a judgement of character, so most fields of a short talk stay N/A. Wishes
about style come from a table ("keep it short"), never word for word: what a user writes must not become guidance by itself.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from statistics import mean

from memory_core.adapters.offline.facts import speaker
from memory_core.adapters.offline.running_rules import fitted
from memory_core.adapters.offline.summary import Said, candidates
from memory_core.domain.agent_schemas import (
    NOT_AVAILABLE,
    BehavioralProfile,
    EpisodeAnalysis,
    EpisodeContext,
    Failed,
    FutureGuidance,
    InteractionInsights,
    Worked,
)
from memory_core.domain.conversation import Message
from memory_core.domain.statements.provenance import own_words
from memory_core.domain.text.excerpts import beginning

SHORT_WORDS, LONG_WORDS = 12, 45
"""Mean words of a message up to which it is short, and from which it is long."""


def _cue(words: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{words})\b", re.IGNORECASE)


_POLITE = _cue(r"please|thank you|thanks|could you|would you mind|bitte|danke|merci|s'il vous plaît|gracias|por favor")
_CASUAL = _cue(r"gonna|wanna|lol|haha+|btw|yeah|nope|cool|u|thx|omg|tbh|dunno")
_LEARNING = (
    (_cue(r"(?:an?|some|another|more|for) examples?|show me|demo"), "asks for examples"),
    (_cue(r"step by step|walk me through|one step at a time"), "wants to be led step by step"),
    (_cue(r"why (?:is|does|do|did|are|not|would)|how does (?:it|this|that) work|the theory|the reason"), "asks why things are so"),
    (_cue(r"i(?:'ll| will)? (?:just )?(?:try|tried|test|tested|build|built) (?:it|this|that)|let me try|hands[- ]on"), "learns by trying"),
    (_cue(r"source|paper|documentation|the docs|reference|manual"), "looks things up"),
)
_SOLVING = (
    (_cue(r"i(?:'ve| have)? (?:already )?(?:tried|checked|tested|compared|measured|looked at)"), "tries things before asking"),
    (_cue(r"first\b.{0,80}\bthen|step one|in order|a list of|one by one"), "goes step by step"),
    (_cue(r"(?:the )?logs? (?:say|show|says|shows)|error (?:says|message)|it says"), "looks at the evidence"),
    (_cue(r"i (?:just )?(?:guess|feel|have a feeling)|my gut"), "follows a feeling"),
)
_DECIDING = (
    (
        _cue(r"i(?:'ve| have)? decided|i(?:'ll| will) (?:go with|take|choose)|let's (?:go with|do|take)|(?:the )?\w+ it is"),
        "decides within the conversation",
    ),
    (_cue(r"not sure|can't decide|torn between|let me think|sleep on it|maybe later|i(?:'ll| will) think about"), "takes time to decide"),
    (_cue(r"pros and cons|compare|which (?:is|one is) (?:better|best)|difference between|versus|vs"), "compares before deciding"),
    (_cue(r"budget|price|cheap|cheaper|cost|afford"), "looks at what things cost"),
)
_WORKED = _cue(
    r"(?:that|it|this|which|\w+ \w+|dict\.get) (?:really |just )?(?:worked|works|helped|helps|did it|does the trick|fixed it|solved it)"
    r"|(?:it|that)(?:'s| is) (?:fixed|solved|working)"
    r"|works now|problem solved|hat (?:funktioniert|geklappt|geholfen)|ça marche|funcion[óa]"
)
_FAILED = _cue(
    r"(?:does not|doesn't|did not|didn't|still not|not) (?:work|working|help|helped)|still (?:fails|failing|broken|the same|wrong"
    r"|doesn't)|same (?:error|problem) (?:again|as before)"
    r"|that(?:'s| is) (?:wrong|not (?:right|correct|what i))|made it worse|no luck|hat nicht (?:funktioniert|geklappt|geholfen)"
    r"|geht (?:immer )?noch nicht|ne marche pas|no funciona"
)
_PLEASED = _cue(
    r"love it|awesome|great idea|good idea|wonderful|fantastic|amazing|perfect|brilliant|exactly what i|super|toll|génial|genial|excelente"
)
_CONFUSED = _cue(
    r"confus(?:ed|ing)|do(?:n't| not) (?:understand|get it|follow)|what do you mean|unclear|too (?:long|much|complicated|technical)"
    r"|lost me|verstehe (?:ich )?nicht|ne comprends pas|no entiendo"
)
_WISHES = (
    (_cue(r"(?:keep|make) (?:it|this|that|your answers?) (?:short|brief|concise)|be (?:brief|concise)|shorter|tl;?dr|in short|in (?:one"
        r"|two|a few) sentences?|kurz bitte"), "Keep answers short."),
    (_cue(r"more details?|in (?:more )?detail|be (?:more )?(?:specific|thorough)|elaborate"), "Go into detail."),
    (_cue(r"step by step|one step at a time"), "Go step by step."),
    (_cue(r"(?:with|give me|show me|an?|some) (?:\w+ )?examples?"), "Give an example."),
    (_cue(r"(?:as|in) (?:a )?(?:list|bullet points?|bullets|table)"), "Use a list or a table."),
    (_cue(r"(?:simple|plain|simpler) (?:words|terms|language|english)|eli5|like i'm five"), "Use plain words."),
)  # fmt: skip
_AVERSIONS = (
    (_cue(r"no (?:\w+ )?jargon|too technical|without (?:the )?jargon"), "Jargon."),
    (_cue(r"too long|(?:stop|don't|do not|no) (?:\w+ ){0,2}(?:rambling|essays?|walls? of text)"), "Long answers."),
    (_cue(r"(?:no|stop using|without|don't use) (?:any )?emojis?"), "Emoji."),
)
_DENIED = re.compile(r"\b(?:no|not|never|without|stop|avoid|don['’]?t|doesn['’]?t|won['’]?t|hate|dislike)\b[^.!?;,]*\Z", re.IGNORECASE)
_REQUEST = _cue(
    r"can you|could you|help me|i (?:need|want|would like|'d like)|how (?:do|can|should|to)|what should|which|explain|recommend|kannst du"
    r"|peux-tu|puedes"
)


def episode_analysis(messages: Sequence[Message]) -> EpisodeAnalysis:
    """The patterns of behaviour of the users among these messages, each from a cue that can be pointed at."""
    told = [(number, message) for number, message in enumerate(messages) if message.role == "user"]
    if not told:
        return EpisodeAnalysis(
            context=fitted(EpisodeContext, available_data=_available(messages), analysis_limitation="No user speaks in it.")
        )
    who = beginning(" and ".join(dict.fromkeys(speaker(message) for _, message in told)), 120)
    texts = [own_words(message.content[:4_000]) for _, message in told]
    said = candidates(messages)
    worked, failed = _advice(messages, told, texts, said, _WORKED), _advice(messages, told, texts, said, _FAILED)
    return EpisodeAnalysis(
        context=fitted(
            EpisodeContext,
            available_data=_available(messages),
            user_intent=_intent(said),
            analysis_limitation="Read by rules: only what stands there in so many words is seen.",
        ),
        what_worked=fitted(Worked, strategies=worked[:3], pattern=f"{who} said that it worked." if worked else NOT_AVAILABLE),
        what_failed=fitted(Failed, strategies=failed[:2], pattern=f"{who} said that it did not work." if failed else NOT_AVAILABLE),
        behavioral_profile=fitted(
            BehavioralProfile,
            communication=_communication(who, texts),
            learning=_habits(who, texts, _LEARNING),
            problem_solving=_habits(who, texts, _SOLVING),
            decision_making=_habits(who, texts, _DECIDING),
        ),
        interaction_insights=fitted(
            InteractionInsights,
            engagement_triggers=_replied_to(messages, told, texts, said, _PLEASED, "was pleased by", who),
            friction_points=_replied_to(messages, told, texts, said, _CONFUSED, "was confused by", who),
        ),
        future_guidance=FutureGuidance(
            recommended_approaches=[wish for cue, wish in _WISHES if any(_wants(cue, text) for text in texts)][:3],
            avoid_approaches=[wish for cue, wish in _AVERSIONS if any(cue.search(text) for text in texts)][:2],
        ),
    )


def _wants(cue: re.Pattern[str], text: str) -> bool:
    """Whether a text has the cue, and nothing in front of it that denies it: "don't show me examples"."""
    return any(_DENIED.search(text[max(0, match.start() - 40) : match.start()]) is None for match in cue.finditer(text))


def _available(messages: Sequence[Message]) -> str:
    users = sum(message.role == "user" for message in messages)
    minutes = (max(one.timestamp for one in messages) - min(one.timestamp for one in messages)).total_seconds() / 60 if messages else 0
    return f"{len(messages)} messages over {minutes:.0f} minutes, {users} of them by users."


def _intent(said: Sequence[Said]) -> str:
    """The first question or request, as it was said; the speaker's intention is not guessed."""
    for one in said:
        if one.by_person and (one.asks or _REQUEST.search(one.text)):
            return f"{one.by} {'asked' if one.asks else 'said'}: {one.text}"
    return NOT_AVAILABLE


def _communication(who: str, texts: Sequence[str]) -> str:
    """How long and how people write; nothing of two short messages."""
    lengths = [len(text.split()) for text in texts if text.strip()]
    if len(lengths) < 3:
        return NOT_AVAILABLE
    average = mean(lengths)
    size = "short" if average <= SHORT_WORDS else "long" if average >= LONG_WORDS else "medium-length"
    asked = sum("?" in text for text in texts)
    manner = [f"{who} writes {size} messages ({average:.0f} words on average)"]
    if asked * 2 >= len(texts):
        manner.append("asks in most of them")
    if sum(_POLITE.search(text) is not None for text in texts) * 3 >= len(texts):
        manner.append("is polite")
    if sum(_CASUAL.search(text) is not None for text in texts) * 3 >= len(texts):
        manner.append("writes casually")
    return ", ".join(manner[:-1]) + (" and " if len(manner) > 1 else "") + manner[-1] + "."


def _habits(who: str, texts: Sequence[str], table: Sequence[tuple[re.Pattern[str], str]]) -> str:
    seen = [habit for cue, habit in table if any(_wants(cue, text) for text in texts)]
    return f"{who} {' and '.join(seen[:3])}." if seen else NOT_AVAILABLE


def _advice(
    messages: Sequence[Message], told: Sequence[tuple[int, Message]], texts: Sequence[str], said: Sequence[Said], cue: re.Pattern[str]
) -> list[str]:
    """What had been advised before users said this of it, as it was said."""
    found = [_before(messages, number, said) for (number, _), text in zip(told, texts, strict=True) if _says(cue, text)]
    return list(dict.fromkeys(text for text in found if text))


def _says(cue: re.Pattern[str], text: str) -> bool:
    if cue is _WORKED and _FAILED.search(text):
        return False
    match = cue.search(text)
    return match is not None and not text[match.end() :].lstrip().startswith("?")


def _before(messages: Sequence[Message], number: int, said: Sequence[Said]) -> str | None:
    """The last sentence that advises in another speaker's latest message before this one."""
    for earlier in range(number - 1, max(-1, number - 4), -1):
        if messages[earlier].role != "user":
            of_it = [one.text for one in said if one.message == earlier and not one.asks]
            return beginning(of_it[0], 400) if of_it else None
    return None


def _replied_to(
    messages: Sequence[Message],
    told: Sequence[tuple[int, Message]],
    texts: Sequence[str],
    said: Sequence[Said],
    cue: re.Pattern[str],
    how: str,
    who: str,
) -> str:
    found = _advice(messages, told, texts, said, cue)
    return f"{who} {how}: {found[0]}" if found else NOT_AVAILABLE
