"""The field that an unknown name probably meant.

The words are those of other memory services: of the papers and systems that this one follows, of mem0, Zep and Graphiti, Redis Agent
Memory Server, LangGraph.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from memory_core.domain.described import is_plain_name

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_CLOSE = 0.75
"""Least ratio of `difflib` between two names that may be misspellings of each other: `tag` and `tags` have .86, `text` and `at` .33."""

_FIELDS_AND_WORDS: tuple[tuple[str, str], ...] = (
    # the fields that mean it, the first that the call has (several, with commas, where none alone does) ← the words of others
    ("content | query | messages", "text memory data body fact document input page_content episode_body information"),
    ("messages | content | query", "message conversation turns history chat_history"),
    ("query", "q question search search_query search_text prompt query_text"),
    ("session_id", "session session_ids thread thread_id conversation_id chat_id run_id channel_id"),
    ("user_id", "user uid userid owner owner_id group_id group_ids customer_id entity_id person_id"),
    ("app_id", "app application_id project_id org_id tenant_id workspace_id"),
    ("agent_id | to_agent_id", "agent assistant_id bot_id"),
    ("limit | n_results", "limit n_results top_k k topk max_results num_results n count size page_size lastn"),
    ("cursor", "offset page page_token starting_after next_cursor skip"),
    ("type | types", "memory_type memory_types kind kinds scope node_labels"),
    ("tags | tag", "topics topic namespace labels keywords"),
    ("categories | category", "custom_categories"),
    ("importance", "importance_score salience priority"),
    ("confidence", "confidence_score certainty"),
    ("metadata", "meta properties attributes extra custom_metadata"),
    (
        "filter | session_id, agent_id, types, categories, tags | type, category, session_id, agent_id, tag | types, memory_id",
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
    ("since | start_time | valid_from", "from_date start_date start start_time begin after created_after"),
    ("until | end_time | valid_until | filter.before", "to_date end_date end end_time created_before"),
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
WORDS: Mapping[str, tuple[str, ...]] = {word: tuple(fields.split(" | ")) for fields, words in _FIELDS_AND_WORDS for word in words.split()}
"""A word of another service → the fields that may mean it, in the order in which a call is searched for them."""


@dataclass(frozen=True, slots=True)
class OtherMeaning:
    """What a word means that is no field of a call: another call, or a setting. beside: only where the call has that field."""

    text: str
    beside: str | None = None


_RAW = (OtherMeaning("POST /api/v1/memories/save", beside="messages"),)
_HALF_LIFE = (
    OtherMeaning("the setting MEMORY_RECENCY_HALF_LIFE_DAYS", beside="recipe"),
    OtherMeaning("the setting MEMORY_DECAY_HALF_LIFE_DAYS"),
)
OTHER_MEANINGS: Mapping[str, tuple[OtherMeaning, ...]] = {
    **dict.fromkeys(("messages", "conversation", "turns"), (OtherMeaning("POST /api/v1/memories", beside="content"),)),
    "memories": (OtherMeaning("POST /api/v1/memories/bulk", beside="content"),),
    **dict.fromkeys(("half_life", "half_life_days", "decay_rate", "half_life_hours"), _HALF_LIFE),
    "half_life_factor": (OtherMeaning("the setting MEMORY_HALF_LIFE_FACTOR"),),
    "max_age_hours": (OtherMeaning("the setting MEMORY_MAX_AGE_HOURS"),),
    **dict.fromkeys(("infer", "content", "text", "memory"), _RAW),
    **dict.fromkeys(("rerank", "reranker", "enable_rerank"), (OtherMeaning("the setting MEMORY_RERANK_PROVIDER", beside="recipe"),)),
}


def suggest_field(name: str, fields: Collection[str]) -> str | None:
    """What a caller probably meant by a name.

    Args:
        name: As the caller wrote it; any text.
        fields: Those that the call knows.

    Returns:
        A field of the call, several with commas between them, another call or a setting; None where nothing comes near.

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
    return next(iter(difflib.get_close_matches(word, sorted(fields), n=1, cutoff=_CLOSE)), None)
