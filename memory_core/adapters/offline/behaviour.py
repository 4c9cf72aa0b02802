"""Describe how users behave in a conversation, by rule; N/A where there is no evidence.

Note: this counts cues and judges no character, so most fields of a short conversation stay N/A.
Guidance comes from a table of wishes ("Keep answers short."), never from a user's own words: these
must not become instructions by themselves.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from statistics import mean

from memory_core.adapters.offline.running_rules import fitted
from memory_core.adapters.offline.summary import QuotableSentence, candidates
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
from memory_core.domain.statements.own_words import name_of_speaker, own_words
from memory_core.domain.text.shortening import beginning

SHORT_WORDS, LONG_WORDS = 12, 45
"""Mean words of a message up to which it is short, or from which long."""


def _cue(words: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{words})\b", re.IGNORECASE)


_POLITE = _cue(
    r"please|thank you|thanks|could you|would you mind|bitte|danke|merci|s'il vous plaît|gracias"
    r"|por favor"
)
_CASUAL = _cue(r"gonna|wanna|lol|haha+|btw|yeah|nope|cool|u|thx|omg|tbh|dunno")
_LEARNING = (
    (_cue(r"(?:an?|some|another|more|for) examples?|show me|demo"), "asks for examples"),
    (_cue(r"step by step|walk me through|one step at a time"), "wants to be led step by step"),
    (
        _cue(
            r"why (?:is|does|do|did|are|not|would)|how does (?:it|this|that) work|the theory"
            r"|the reason"
        ),
        "asks why things are so",
    ),
    (
        _cue(
            r"i(?:'ll| will)? (?:just )?(?:try|tried|test|tested|build|built) (?:it|this|that)"
            r"|let me try|hands[- ]on"
        ),
        "learns by trying",
    ),
    (_cue(r"source|paper|documentation|the docs|reference|manual"), "looks things up"),
)
_SOLVING = (
    (
        _cue(r"i(?:'ve| have)? (?:already )?(?:tried|checked|tested|compared|measured|looked at)"),
        "tries things before asking",
    ),
    (_cue(r"first\b.{0,80}\bthen|step one|in order|a list of|one by one"), "goes step by step"),
    (
        _cue(r"(?:the )?logs? (?:say|show|says|shows)|error (?:says|message)|it says"),
        "looks at the evidence",
    ),
    (_cue(r"i (?:just )?(?:guess|feel|have a feeling)|my gut"), "follows a feeling"),
)
_DECIDING = (
    (
        _cue(
            r"i(?:'ve| have)? decided|i(?:'ll| will) (?:go with|take|choose)"
            r"|let's (?:go with|do|take)|(?:the )?\w+ it is"
        ),
        "decides within the conversation",
    ),
    (
        _cue(
            r"not sure|can't decide|torn between|let me think|sleep on it|maybe later"
            r"|i(?:'ll| will) think about"
        ),
        "takes time to decide",
    ),
    (
        _cue(
            r"pros and cons|compare|which (?:is|one is) (?:better|best)|difference between|versus"
            r"|vs"
        ),
        "compares before deciding",
    ),
    (_cue(r"budget|price|cheap|cheaper|cost|afford"), "looks at what things cost"),
)
_WORKED = _cue(
    r"(?:that|it|this|which|\w+ \w+|dict\.get) (?:really |just )?(?:worked|works|helped|helps"
    r"|did it|does the trick|fixed it|solved it)|(?:it|that)(?:'s| is) (?:fixed|solved|working)"
    r"|works now|problem solved|hat (?:funktioniert|geklappt|geholfen)|ça marche|funcion[óa]"
)
_FAILED = _cue(
    r"(?:does not|doesn't|did not|didn't|still not|not) (?:work|working|help|helped)"
    r"|still (?:fails|failing|broken|the same|wrong|doesn't)|same (?:error|problem) (?:again"
    r"|as before)"
    r"|that(?:'s| is) (?:wrong|not (?:right|correct|what i))|made it worse|no luck"
    r"|hat nicht (?:funktioniert|geklappt|geholfen)|geht (?:immer )?noch nicht|ne marche pas"
    r"|no funciona"
)
_PLEASED = _cue(
    r"love it|awesome|great idea|good idea|wonderful|fantastic|amazing|perfect|brilliant"
    r"|exactly what i|super|toll|génial|genial|excelente"
)
_CONFUSED = _cue(
    r"confus(?:ed|ing)|do(?:n't| not) (?:understand|get it|follow)|what do you mean|unclear"
    r"|too (?:long|much|complicated|technical)|lost me|verstehe (?:ich )?nicht|ne comprends pas"
    r"|no entiendo"
)
_WISHES = (
    (_cue(r"(?:keep|make) (?:it|this|that|your answers?) (?:short|brief|concise)|be (?:brief|concise)"  # noqa: E501
        r"|shorter|tl;?dr|in short|in (?:one|two|a few) sentences?"
        r"|kurz bitte"), "Keep answers short."),
    (_cue(r"more details?|in (?:more )?detail|be (?:more )?(?:specific|thorough)|elaborate"),
        "Go into detail."),
    (_cue(r"step by step|one step at a time"), "Go step by step."),
    (_cue(r"(?:with|give me|show me|an?|some) (?:\w+ )?examples?"), "Give an example."),
    (_cue(r"(?:as|in) (?:a )?(?:list|bullet points?|bullets|table)"), "Use a list or a table."),
    (_cue(r"(?:simple|plain|simpler) (?:words|terms|language|english)|eli5|like i'm five"),
        "Use plain words."),
)  # fmt: skip
_AVERSIONS = (
    (_cue(r"no (?:\w+ )?jargon|too technical|without (?:the )?jargon"), "Jargon."),
    (
        _cue(r"too long|(?:stop|don't|do not|no) (?:\w+ ){0,2}(?:rambling|essays?|walls? of text)"),
        "Long answers.",
    ),
    (_cue(r"(?:no|stop using|without|don't use) (?:any )?emojis?"), "Emoji."),
)
_DENIED = re.compile(
    r"\b(?:no|not|never|without|stop|avoid|don['’]?t|doesn['’]?t|won['’]?t|hate"
    r"|dislike)\b[^.!?;,]*\Z",
    re.IGNORECASE,
)
_REQUEST = _cue(
    r"can you|could you|help me|i (?:need|want|would like|'d like)|how (?:do|can|should|to)"
    r"|what should|which|explain|recommend|kannst du|peux-tu|puedes"
)


def episode_analysis(messages: Sequence[Message]) -> EpisodeAnalysis:
    """Analyse the behaviour of a conversation's users, each field from a cue in their messages."""
    user_messages = [
        (number, message) for number, message in enumerate(messages) if message.role == "user"
    ]
    if not user_messages:
        return _analysis_without_users(messages)
    users = beginning(
        " and ".join(dict.fromkeys(name_of_speaker(message) for _, message in user_messages)), 120
    )
    texts = [own_words(message.content[:4_000]) for _, message in user_messages]
    statements = candidates(messages)
    worked = _advice_before_cue(messages, user_messages, texts, statements, _WORKED)
    failed = _advice_before_cue(messages, user_messages, texts, statements, _FAILED)
    return EpisodeAnalysis(
        context=fitted(
            EpisodeContext,
            available_data=_describe_data(messages),
            user_intent=_first_request(statements),
            analysis_limitation="Read by rules: only what stands there in so many words is seen.",
        ),
        what_worked=fitted(
            Worked,
            strategies=worked[:3],
            pattern=f"{users} said that it worked." if worked else NOT_AVAILABLE,
        ),
        what_failed=fitted(
            Failed,
            strategies=failed[:2],
            pattern=f"{users} said that it did not work." if failed else NOT_AVAILABLE,
        ),
        behavioral_profile=fitted(
            BehavioralProfile,
            communication=_describe_communication(users, texts),
            learning=_describe_habits(users, texts, _LEARNING),
            problem_solving=_describe_habits(users, texts, _SOLVING),
            decision_making=_describe_habits(users, texts, _DECIDING),
        ),
        interaction_insights=fitted(
            InteractionInsights,
            engagement_triggers=_describe_reaction(
                messages, user_messages, texts, statements, _PLEASED, "was pleased by", users
            ),
            friction_points=_describe_reaction(
                messages, user_messages, texts, statements, _CONFUSED, "was confused by", users
            ),
        ),
        future_guidance=FutureGuidance(
            recommended_approaches=[
                wish for cue, wish in _WISHES if any(_has_cue(cue, text) for text in texts)
            ][:3],
            avoid_approaches=[
                wish for cue, wish in _AVERSIONS if any(cue.search(text) for text in texts)
            ][:2],
        ),
    )


def _analysis_without_users(messages: Sequence[Message]) -> EpisodeAnalysis:
    return EpisodeAnalysis(
        context=fitted(
            EpisodeContext,
            available_data=_describe_data(messages),
            analysis_limitation="No user speaks in it.",
        )
    )


def _has_cue(cue: re.Pattern[str], text: str) -> bool:
    """Whether a text has the cue without a negation before it ("don't show me examples")."""
    return any(
        _DENIED.search(text[max(0, match.start() - 40) : match.start()]) is None
        for match in cue.finditer(text)
    )


def _describe_data(messages: Sequence[Message]) -> str:
    users = sum(message.role == "user" for message in messages)
    times = [message.timestamp for message in messages]
    minutes = (max(times) - min(times)).total_seconds() / 60 if times else 0
    return f"{len(messages)} messages over {minutes:.0f} minutes, {users} of them by users."


def _first_request(statements: Sequence[QuotableSentence]) -> str:
    """The first question or request of a person, quoted; no intention is guessed."""
    for statement in statements:
        if statement.by_person and (statement.asks or _REQUEST.search(statement.text)):
            return f"{statement.by} {'asked' if statement.asks else 'said'}: {statement.text}"
    return NOT_AVAILABLE


def _describe_communication(users: str, texts: Sequence[str]) -> str:
    """How users write: length, questions, manner; N/A of fewer than three messages."""
    lengths = [len(text.split()) for text in texts if text.strip()]
    if len(lengths) < 3:
        return NOT_AVAILABLE
    average = mean(lengths)
    size = (
        "short" if average <= SHORT_WORDS else "long" if average >= LONG_WORDS else "medium-length"
    )
    asked = sum("?" in text for text in texts)
    manner = [f"{users} writes {size} messages ({average:.0f} words on average)"]
    if asked * 2 >= len(texts):
        manner.append("asks in most of them")
    if sum(_POLITE.search(text) is not None for text in texts) * 3 >= len(texts):
        manner.append("is polite")
    if sum(_CASUAL.search(text) is not None for text in texts) * 3 >= len(texts):
        manner.append("writes casually")
    return ", ".join(manner[:-1]) + (" and " if len(manner) > 1 else "") + manner[-1] + "."


def _describe_habits(
    users: str, texts: Sequence[str], table: Sequence[tuple[re.Pattern[str], str]]
) -> str:
    seen = [habit for cue, habit in table if any(_has_cue(cue, text) for text in texts)]
    return f"{users} {' and '.join(seen[:3])}." if seen else NOT_AVAILABLE


def _advice_before_cue(
    messages: Sequence[Message],
    user_messages: Sequence[tuple[int, Message]],
    texts: Sequence[str],
    statements: Sequence[QuotableSentence],
    cue: re.Pattern[str],
) -> list[str]:
    """The advice to which users replied with a cue, quoted, each once.

    Args:
        messages: The conversation.
        user_messages: (number, message) of the users' messages.
        texts: Of each of these the user's own words.
        statements: Of the conversation (`candidates`).
        cue: Of the reply.

    """
    advice = [
        _latest_advice(messages, number, statements)
        for (number, _), text in zip(user_messages, texts, strict=True)
        if _reports(cue, text)
    ]
    return list(dict.fromkeys(text for text in advice if text))


def _reports(cue: re.Pattern[str], text: str) -> bool:
    """Whether a text has the cue outside a question; failed advice has not worked."""
    if cue is _WORKED and _FAILED.search(text):
        return False
    match = cue.search(text)
    return match is not None and not text[match.end() :].lstrip().startswith("?")


def _latest_advice(
    messages: Sequence[Message], number: int, statements: Sequence[QuotableSentence]
) -> str | None:
    """The first statement of the latest answer among the three messages before `number`."""
    for earlier in range(number - 1, max(-1, number - 4), -1):
        if messages[earlier].role != "user":
            advice = [
                statement.text
                for statement in statements
                if statement.message == earlier and not statement.asks
            ]
            return beginning(advice[0], 400) if advice else None
    return None


def _describe_reaction(
    messages: Sequence[Message],
    user_messages: Sequence[tuple[int, Message]],
    texts: Sequence[str],
    statements: Sequence[QuotableSentence],
    cue: re.Pattern[str],
    reaction: str,
    users: str,
) -> str:
    """Describe the advice to which users reacted with a cue; N/A without a reaction."""
    advice = _advice_before_cue(messages, user_messages, texts, statements, cue)
    return f"{users} {reaction}: {advice[0]}" if advice else NOT_AVAILABLE
