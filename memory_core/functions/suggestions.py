"""Suggest the call, the field or the value that a caller probably meant.

A path is compared with those of the API segment by segment, without `/api/v1` and in the words of
other memory services. Where no call has all its words, its last word says what is meant. Note: a
caller is never led to a DELETE without having asked for it.
"""

from __future__ import annotations

import difflib
import functools
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import unquote

from memory_core.domain.errors import is_plain_name
from memory_core.functions.registered import http_functions

_SAVE, _LIST, _ONE = (
    "POST /api/v1/memories/save",
    "GET /api/v1/memories",
    "/api/v1/memories/{memory_id}",
)
_RETRIEVE, _CONVERSE, _CONTEXT, _DELETE, _CLEAR = (
    "POST /api/v1/memories/retrieve",
    "POST /api/v1/memories",
    "POST /api/v1/context",
    "POST /api/v1/memories/delete",
    "POST /api/v1/memories/clear",
)
_REPLAY, _SESSIONS, _EXPORT, _READY = (
    "POST /api/v1/replay",
    "GET /api/v1/sessions",
    "POST /api/v1/users/{user_id}/export",
    "GET /health/ready",
)
CALLS_OF_OTHERS: Mapping[str, str] = {
    # method and path, as `_segments` leaves it (* is any one segment) → the call that does
    # the same here
    **{
        f"{method} memories/{kind}/*": f"{method} {_ONE}"
        for kind in ("episodic", "semantic", "procedural")
        for method in ("GET", "PUT", "DELETE")
    },
    "GET memories/procedural/key/*": "GET /api/v1/procedures/{key}",
    "GET memories/temporal/evolution/*": "GET /api/v1/memories/{memory_id}/evolution",
    "PUT working-memory/*": "POST /api/v1/memories/batch",
    "GET sessions/*/context": _CONTEXT,
    "GET sessions/*/memories": _CONTEXT,
    "POST sessions/*/messages": _CONVERSE,
    "POST sessions/*/memories": _CONVERSE,
    "DELETE sessions/*": _CLEAR,
    "DELETE sessions/*/memories": _CLEAR,
    "GET users/*": "GET /api/v1/profile with user_id",
    "GET agent/summaries": "POST /api/v1/agent/summaries",
    "GET status": _READY,
}
_SYNONYMS = {
    "memory": "memories",
    **dict.fromkeys(("search", "find", "recall", "query_memory"), "retrieve"),
    **dict.fromkeys(("add", "create", "store", "remember"), "save"),
    **dict.fromkeys(("thread", "threads", "conversation", "conversations"), "sessions"),
    **dict.fromkeys(("history", "revisions"), "versions"),
    **dict.fromkeys(("events", "log"), "timeline"),
    **dict.fromkeys(("jobs", "job"), "tasks"),
    "user": "users",
}
_WORDS_AND_CALLS: tuple[tuple[str, str | None, str | None, str | None], ...] = (
    # the last word of a path → what is meant by it with GET, with POST, PUT or PATCH, with DELETE
    ("memories", _LIST, _CONVERSE, "POST /api/v1/forget"),
    (
        "save upsert insert ingest notes note documents document items item texts text data "
        "entries records observations knowledge graph long-term-memory",
        _LIST,
        _SAVE,
        _DELETE,
    ),
    ("episodic semantic procedural", f"{_LIST} with type", f"{_SAVE} with type", None),
    ("facts fact", f"{_LIST} with type=semantic", _SAVE, _DELETE),
    ("episodes episode", f"{_LIST} with type=episodic", _CONVERSE, _DELETE),
    ("procedures", f"{_LIST} with type=procedural", _SAVE, _DELETE),
    ("instructions", f"{_LIST} with category=instruction", _SAVE, _DELETE),
    ("update edit modify", None, f"PUT {_ONE}", None),
    ("delete remove", None, _DELETE, _DELETE),
    ("retrieve query ask lookup similar", "GET /api/v1/memories/query", _RETRIEVE, None),
    ("sessions chat chats converse dialogs transcripts", _SESSIONS, _CONVERSE, _CLEAR),
    ("messages message turns", "GET /api/v1/sessions/{session_id}/messages", _CONVERSE, _CLEAR),
    ("clear", None, _CLEAR, _CLEAR),
    ("context prompt", _CONTEXT, _CONTEXT, None),
    ("summaries summary summarize", "GET /api/v1/profile", "POST /api/v1/agent/summaries", None),
    ("export exports", _EXPORT, _EXPORT, None),
    ("import imports", None, "POST /api/v1/users/{user_id}/import", None),
    (
        "settings preferences",
        "GET /api/v1/users/{user_id}/settings",
        "PUT /api/v1/users/{user_id}/settings",
        None,
    ),
    ("stats statistics", "GET /api/v1/usage", None, None),
    ("live livez liveness ping", "GET /health", None, None),
    ("ready readyz readiness", _READY, None, None),
    ("swagger redoc api-docs", "GET /docs", None, None),
)
CALLS_BY_WORD: Mapping[str, Mapping[str, str | None]] = {
    word: {"GET": read, "DELETE": removal, **dict.fromkeys(("POST", "PUT", "PATCH"), write)}
    for words, read, write, removal in _WORDS_AND_CALLS
    for word in words.split()
}
"""The last word of a path → the call that is meant by it, for each method."""
_OWNERS = {"users": "user_id", "entities": "user_id", "agents": "agent_id"}
"""Segments before an id that is a field of each call here."""
_VERSION = re.compile(r"v[0-9]{1,2}")
_MAX_SEGMENTS, _MAX_CHARACTERS = 7, 40
_CLOSE_SEGMENTS = 0.7
"""Least ratio of `difflib` between two segments that may be misspellings of each other.

`helth` and `health` have .91.
"""
_ID, _OTHER_METHOD = 0.1, 0.2
"""Costs of taking a segment for an id, and of a method other than requested.

A wrong segment costs up to 0.3.
"""


class _Candidate(NamedTuple):
    """A call that may be meant.

    Attributes:
        differs: Whether its method is another, a word is spelt otherwise, or a word is taken for an
            id.
        cost: How far it is from the path.
        call: Method and path.

    """

    differs: bool
    cost: float
    call: str


class KnownCalls:
    """The calls of an API."""

    def __init__(self, calls: Iterable[tuple[str, str]]) -> None:
        """Index the calls of an API.

        Args:
            calls: The method and the path of each, with names in braces for its parameters.

        """
        self._methods: dict[str, list[str]] = {}
        for method, path in calls:
            self._methods.setdefault(path, []).append(method)
        self._templates = {path: _segments(path) or [] for path in self._methods}

    def suggest(self, method: str, path: str) -> str | None:
        """Suggest the probable call for a wrong path.

        Args:
            method: Method of the request.
            path: Path of the request, as it came over the wire; any text.

        Returns:
            Method and path, such as "POST /api/v1/memories/save"; None if no call is similar.

        """
        segments = _segments(path)
        if segments is None:
            return None
        segments = [_SYNONYMS.get(segment, segment) for segment in segments]
        call = self._meant(method, segments)
        owner = _OWNERS.get(segments[0]) if len(segments) > 2 else None
        if owner is None or (call is not None and "{user_id}" in call):
            return call
        call = self._meant(method, segments[2:])
        return call and f"{call} {'and' if ' with ' in call else 'with'} {owner}"

    def _meant(self, method: str, segments: list[str]) -> str | None:
        for pattern, call in CALLS_OF_OTHERS.items():
            its_method, _, its_path = pattern.partition(" ")
            if method == its_method and _matches(its_path.split("/"), segments):
                return call
        candidates = [
            candidate
            for variant in self._variants(segments)
            for candidate in self._candidates(method, variant)
        ]
        best = min(candidates, default=None)
        by_word = CALLS_BY_WORD.get(segments[-1], {}).get(method) if segments else None
        if by_word is not None and (best is None or best.differs):
            return by_word
        return None if best is None else best.call

    def suggest_other_method(self, method: str, path: str) -> str | None:
        """Suggest the call that has exactly this path and another method.

        Its last word was then taken for an id: GET /api/v1/memories/retrieve.

        Args:
            method: Method of the request.
            path: Path of the request.

        Returns:
            Method and path; None if there is no such call.

        """
        path = path.rstrip("/").lower()
        return None if method in self._methods.get(path, []) else self._call_name(method, path)

    def _variants(self, segments: list[str]) -> list[list[str]]:
        """The segments, and the same with or without a leading `memories`.

        Some calls have no such segment here, such as `memory/timeline`; others have it in front of
        a word, such as `bulk`.
        """
        variants = [segments]
        if len(segments) > 1 and segments[0] == "memories":
            variants.append(segments[1:])
        if segments and (longer := ["memories", *segments]) in self._templates.values():
            variants.append(longer)
        return variants

    def _candidates(self, method: str, segments: list[str]) -> list[_Candidate]:
        """Calls that the segments may be a misspelling of."""
        candidates: list[_Candidate] = []
        for path, template in self._templates.items():
            cost, call = _distance(template, segments), self._call_name(method, path)
            if cost is not None and call is not None:
                other = method not in self._methods[path]
                ids = [
                    segment
                    for want, segment in zip(template, segments, strict=True)
                    if want.startswith("{")
                ]
                differs = other or cost > _ID * len(ids) or not CALLS_BY_WORD.keys().isdisjoint(ids)
                candidates.append(_Candidate(differs, cost + other * _OTHER_METHOD, call))
        return candidates

    def _call_name(self, method: str, path: str) -> str | None:
        """A path's call with the method, else with methods that are like it."""
        methods = [
            other
            for other in sorted(self._methods.get(path, []))
            if other != "DELETE" or method == "DELETE"
        ]
        alike = [other for other in methods if (other == "GET") == (method == "GET")]
        suggested = [method] if method in methods else alike or methods
        return f"{' or '.join(suggested)} {path}" if suggested else None


@functools.cache
def known_calls() -> KnownCalls:
    """The calls of this API."""
    return KnownCalls((function.method, function.path) for function in http_functions())


def _segments(path: str) -> list[str] | None:
    """The path's segments, decoded and in lower case, without `/api/v1`.

    None for a path that is too long to be compared.
    """
    segments = unquote(path).strip().lower().removeprefix("/").removesuffix("/").split("/")
    if segments[0] == "api":
        segments = segments[1:]
    if segments and _VERSION.fullmatch(segments[0]):
        segments = segments[1:]
    if len(segments) > _MAX_SEGMENTS or any(len(segment) > _MAX_CHARACTERS for segment in segments):
        return None
    return [] if segments == [""] else segments


def _matches(pattern: list[str], segments: list[str]) -> bool:
    return len(pattern) == len(segments) and all(
        want in ("*", segment) for want, segment in zip(pattern, segments, strict=True)
    )


def _distance(template: list[str], segments: list[str]) -> float | None:
    """The cost of taking the segments for the template.

    None if a segment is neither its word, nor similar to it, nor an id.
    """
    if len(template) != len(segments):
        return None
    cost = 0.0
    for want, segment in zip(template, segments, strict=True):
        if want.startswith("{"):
            if not segment:
                return None
            cost += _ID
        elif want != segment:
            likeness = difflib.SequenceMatcher(None, want, segment).ratio()
            if likeness < _CLOSE_SEGMENTS:
                return None
            cost += 1 - likeness
    return cost


# Suggest a field for an unknown name.
#
# The known names come from other memory services: from the papers and systems that this one
# follows, and from mem0, Zep and Graphiti, Redis Agent Memory Server, LangGraph.


_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_CLOSE_FIELDS = 0.75
"""Least ratio of `difflib` between two names that may be misspellings of each other.

`tag` and `tags` have .86, `text` and `at` .33.
"""

_FIELDS_AND_WORDS: tuple[tuple[str, str], ...] = (
    # the fields that mean it, the first that the call has (several, with commas,
    # where none alone does) ← the words of others
    (
        "content | query | messages",
        "text memory data body fact document input page_content episode_body information",
    ),
    ("messages | content | query", "message conversation turns history chat_history"),
    ("query", "q question search search_query search_text prompt query_text"),
    (
        "session_id",
        "session session_ids thread thread_id conversation_id chat_id run_id channel_id",
    ),
    (
        "user_id",
        "user uid userid owner owner_id group_id group_ids customer_id entity_id person_id",
    ),
    ("app_id", "app application_id project_id org_id tenant_id workspace_id"),
    ("agent_id | to_agent_id", "agent assistant_id bot_id"),
    (
        "limit | n_results",
        "limit n_results top_k k topk max_results num_results n count size page_size lastn",
    ),
    ("cursor", "offset page page_token starting_after next_cursor skip"),
    ("type | types", "memory_type memory_types kind kinds scope node_labels"),
    ("tags | tag", "topics topic namespace labels keywords"),
    ("categories | category", "custom_categories"),
    ("importance", "importance_score salience priority"),
    ("confidence", "confidence_score certainty"),
    ("metadata", "meta properties attributes extra custom_metadata"),
    (
        (
            "filter | session_id, agent_id, types, categories, tags | type, category, session_id, "
            "agent_id, tag | types, memory_id"
        ),
        "filter filters where search_filter",
    ),
    (
        "similarity_threshold | answer_threshold",
        "threshold min_score min_relevance min_rating recall_threshold distance_threshold",
    ),
    ("score_threshold", "composite_score_threshold"),
    ("weights", "scoring_weights score_weights"),
    ("actor", "name speaker author sender role role_type actor_id"),
    (
        "timestamp | event_timestamp | known_at | at",
        "timestamp created_at date event_time event_date occurred_at reference_time time",
    ),
    ("known_at | at", "as_of as_of_time"),
    ("valid_from | at", "valid_at"),
    ("valid_until", "invalid_at expires_at expired_at expiration_date"),
    (
        "since | start_time | valid_from",
        "from_date start_date start start_time begin after created_after",
    ),
    (
        "until | end_time | valid_until | filter.before",
        "to_date end_date end end_time created_before",
    ),
    ("filter.ids", "ids memory_ids uuids"),
    ("memory_id", "id uuid"),
    ("max_tokens", "max_length token_budget token_limit context_window_max"),
    ("on_conflict | decision", "strategy conflict_strategy resolution"),
    ("mode", "hard hard_delete permanent soft"),
    ("reason | change_reason", "archive_reason comment why"),
    ("status", "new_status"),
    ("source", "source_description"),
    ("callback_url", "webhook_url callback webhook"),
)
WORDS: Mapping[str, tuple[str, ...]] = {
    word: tuple(fields.split(" | "))
    for fields, words in _FIELDS_AND_WORDS
    for word in words.split()
}
"""A word of another service → the fields that may mean it.

The fields are in the order in which a call is searched for them.
"""


@dataclass(frozen=True, slots=True)
class OtherMeaning:
    """Meaning of a word that is no field: another call, a setting or another form.

    Attributes:
        text: The call, the setting or the form.
        beside: Only where the call has this field; None for any call.

    """

    text: str
    beside: str | None = None


_RAW = (OtherMeaning("POST /api/v1/memories/save", beside="messages"),)
_HALF_LIFE = (
    OtherMeaning("the setting MEMORY_RECENCY_HALF_LIFE_DAYS", beside="recipe"),
    OtherMeaning("the setting MEMORY_DECAY_HALF_LIFE_DAYS"),
)
_QUERY = (
    OtherMeaning(f"{_RETRIEVE}, and then filter.ids", beside="filter"),
    OtherMeaning(f"{_RETRIEVE}, and then ids", beside="before"),
    OtherMeaning("GET /api/v1/memories/query", beside="tag"),
)
_FIXED = (
    OtherMeaning("a new save with it, since an edit leaves it as it is", beside="change_reason"),
)
_FIXED_FIELDS = (
    "type key session_id agent_id actor action_type source event_timestamp searchable on_conflict"
)
_SYSTEM = (OtherMeaning("a message with the role system", beside="messages"),)
_PARAMETER = (OtherMeaning("the messages without the parameters of a model", beside="messages"),)
_PARAMETERS = """
model tools tool_choice parallel_tool_calls functions temperature top_p top_k n max_tokens
max_completion_tokens max_output_tokens stream stream_options stop stop_sequences seed logprobs
frequency_penalty presence_penalty logit_bias response_format reasoning reasoning_effort thinking
service_tier store previous_response_id
"""
"""Parameters of the usual chat APIs, which callers send along with the messages."""
OTHER_MEANINGS: Mapping[str, tuple[OtherMeaning, ...]] = {
    **dict.fromkeys(("query", "q", "search", "search_query"), _QUERY),
    **dict.fromkeys(("system", "instructions", "system_prompt", "developer"), _SYSTEM),
    **dict.fromkeys(_PARAMETERS.split(), _PARAMETER),
    **dict.fromkeys(_FIXED_FIELDS.split(), _FIXED),
    "status": (OtherMeaning(f"PATCH {_ONE}/status", beside="change_reason"),),
    "known_at": (OtherMeaning(f"{_REPLAY} or GET /api/v1/memories, which take known_at"),),
    **dict.fromkeys(
        ("messages", "conversation", "turns"),
        (OtherMeaning("POST /api/v1/memories", beside="content"),),
    ),
    "memories": (OtherMeaning("POST /api/v1/memories/bulk", beside="content"),),
    **dict.fromkeys(("half_life", "half_life_days", "decay_rate", "half_life_hours"), _HALF_LIFE),
    "half_life_factor": (OtherMeaning("the setting MEMORY_HALF_LIFE_FACTOR"),),
    "max_age_hours": (OtherMeaning("the setting MEMORY_MAX_AGE_HOURS"),),
    **dict.fromkeys(("infer", "content", "text", "memory"), (*_RAW, *_QUERY)),
    **dict.fromkeys(
        ("rerank", "reranker", "enable_rerank"),
        (OtherMeaning("the setting MEMORY_RERANK_PROVIDER", beside="recipe"),),
    ),
}


def suggest_field(name: str, fields: Collection[str]) -> str | None:
    """Suggest the probable meaning of a caller's name for a field.

    Args:
        name: As the caller wrote it; any text.
        fields: The fields of the call.

    Returns:
        A field of the call, several with commas between them, another call or a setting; None if no
        name is similar.

    """
    if not is_plain_name(name):
        return None
    word = _HUMP.sub("_", name).replace("-", "_").lower()
    if word in fields:
        return word
    for names in WORDS.get(word, ()):
        if all(field.partition(".")[0] in fields for field in names.split(", ")):
            return names
    for meaning in OTHER_MEANINGS.get(word, ()):
        if meaning.beside is None or meaning.beside in fields:
            return meaning.text
    return next(
        iter(difflib.get_close_matches(word, sorted(fields), n=1, cutoff=_CLOSE_FIELDS)), None
    )


_VALUES: Mapping[str, str] = {
    **dict.fromkeys(("event", "message", "conversation"), "episodic"),
    **dict.fromkeys(("fact", "preference", "profile"), "semantic"),
    **dict.fromkeys(("instruction", "procedure", "rule", "skill"), "procedural"),
}
"""A word of another service → the value that it means."""


def suggest_value(given: object, allowed: Sequence[str]) -> str | None:
    """Suggest the probable meaning of a value that is not allowed.

    Args:
        given: As the caller wrote it; anything.
        allowed: The allowed values.

    Returns:
        An allowed value; None if none is similar.

    """
    if not isinstance(given, str) or not is_plain_name(given):
        return None
    word = given.lower()
    meant = _VALUES.get(word) or _VALUES.get(word.removesuffix("s"), word)
    return next(
        iter(difflib.get_close_matches(meant, sorted(allowed), n=1, cutoff=_CLOSE_FIELDS)), None
    )
