"""Choose the adapter behind each port from the settings.

Heavy libraries are imported only for adapters that the settings choose.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, assert_never

from memory_core.adapters.breaker import Breaker
from memory_core.adapters.embedders.cached import CachedEmbedder
from memory_core.adapters.offline.thesaurus import NoRelatedWords, RelatedWords
from memory_core.adapters.redis.client import server
from memory_core.adapters.redis.local import EmbeddedShortTermStore, NullShortTermStore
from memory_core.adapters.redis.store import RedisShortTermStore
from memory_core.adapters.webhook import WebCourier
from memory_core.bootstrap.phases import (
    ConsolidationAdapters,
    DataRightsAdapters,
    FormationAdapters,
)
from memory_core.config import ConfigError, Settings
from memory_core.domain.ranking.vectors import Chunking
from memory_core.ports import (
    Agents,
    Archive,
    Charged,
    Clock,
    Courier,
    Embedder,
    KeyStore,
    LongTermStore,
    Meter,
    Reranker,
    ShortTermStore,
    TaskQueue,
    Thesaurus,
)

if TYPE_CHECKING:
    from pydantic import SecretStr

    from memory_core.adapters.azure_storage.account import StorageAccount
    from memory_core.adapters.openai.client import Service


_MODELS = json.loads(
    (Path(__file__).parents[1] / "adapters" / "openai" / "models.json").read_text(encoding="utf-8")
)
"""Names of models, which are in this file only.

Bicep, Terraform and preflight read the same file.
"""
DEFAULT_MODEL: str = _MODELS["embedding"]["name"]
DEFAULT_LLM: str = _MODELS["chat"]["name"]
MODEL_DIMENSIONS: dict[str, int] = _MODELS["dimensions"]


@dataclass(frozen=True, slots=True)
class Adapters:
    """The adapter of each port.

    `rules` are the agents that need no model; they answer where `agents` fail.
    """

    long_term: LongTermStore
    short_term: ShortTermStore
    embedder: Embedder
    queue: TaskQueue
    archive: Archive
    agents: Agents
    rules: Agents
    courier: Courier
    keys: KeyStore
    reranker: Reranker | None = None
    thesaurus: Thesaurus = field(default_factory=NoRelatedWords)

    @classmethod
    def of(
        cls, settings: Settings, clock: Clock, charged: Charged, meter: Meter | None = None
    ) -> Adapters:
        """Build the adapters that the settings name, without connecting to any of them.

        Args:
            settings: The settings that choose the adapters and configure them.
            clock: The clock of all adapters.
            charged: Called with the request units that an answer of a store cost.
            meter: Records the tokens of a language model, and the fields that rules cut to size.

        Raises:
            ConfigError: A setting is missing that a chosen adapter needs.

        """
        short_term = _short_term(settings, clock)
        embedder = _embedder(settings, short_term, clock)
        long_term = _long_term(settings, embedder, clock, charged)
        rules = _rules(settings, meter)
        agents = (
            rules
            if settings.llm_provider == "offline"
            else _model(settings, long_term, clock, meter)
        )
        courier = WebCourier(settings.webhook_allow, timeout_s=settings.webhook_timeout_s)
        # `hash` is for benches and tests, which compare plain words.
        thesaurus = NoRelatedWords() if settings.embedding_provider == "hash" else RelatedWords()
        queue, archive, reranker = (
            _queue(settings, clock),
            _archive(settings, clock),
            _reranker(settings, agents, clock),
        )
        keys = long_term.key_store()
        return cls(
            long_term,
            short_term,
            embedder,
            queue,
            archive,
            agents,
            rules,
            courier,
            keys,
            reranker,
            thesaurus,
        )

    def of_formation(self) -> FormationAdapters:
        """The adapters that formation works with."""
        return FormationAdapters(
            self.long_term, self.embedder, self.queue, self.agents, self.rules, self.courier
        )

    def of_consolidation(self) -> ConsolidationAdapters:
        """The adapters that consolidation works with."""
        return ConsolidationAdapters(
            self.long_term, self.short_term, self.embedder, self.agents, self.rules, self.queue
        )

    def of_data_rights(self) -> DataRightsAdapters:
        """The adapters that data rights work with."""
        return DataRightsAdapters(self.long_term, self.short_term, self.archive, self.embedder)

    def pools(self) -> dict[str, tuple[int, int]]:
        """Connections or threads by dependency: the most that are held, and those in use."""
        return {
            "long_term": self.long_term.pool(),
            "short_term": self.short_term.pool(),
            "queue": self.queue.pool(),
            "agents": self.agents.pool(),
            "archive": self.archive.pool(),
            **({} if self.reranker is None else {"reranker": self.reranker.pool()}),
        }


def _long_term(
    settings: Settings, embedder: Embedder, clock: Clock, charged: Charged
) -> LongTermStore:
    match settings.long_term:
        case "cosmos":
            return _cosmos(settings, embedder, clock, charged)
        case "sqlite":
            return _sqlite(settings, embedder, clock)
        case unknown:
            assert_never(unknown)


def _sqlite(settings: Settings, embedder: Embedder, clock: Clock) -> LongTermStore:
    from memory_core.adapters.sqlite.store import SqliteStore

    return SqliteStore(
        settings.data / "memory.db",
        clock=clock,
        embedding_model=embedder.model,
        dimensions=embedder.dimensions,
        synchronous=settings.sqlite_synchronous,
        slice_budget_bytes=settings.slice_budget_mb * 2**20,
        slices=settings.data / "slices",
    )


def _cosmos(
    settings: Settings, embedder: Embedder, clock: Clock, charged: Charged
) -> LongTermStore:
    from memory_core.adapters.cosmos.store import CosmosStore

    if settings.cosmos_endpoint is None:
        raise ConfigError("MEMORY_COSMOS_ENDPOINT is required when MEMORY_LONG_TERM is cosmos")
    key = settings.cosmos_key
    return CosmosStore(
        settings.cosmos_endpoint,
        settings.cosmos_database,
        clock=clock,
        embedding_model=embedder.model,
        dimensions=embedder.dimensions,
        key=None if key is None else key.get_secret_value(),
        identity_client_id=settings.identity_client_id,
        consistency=settings.cosmos_consistency,
        asks_account=settings.cosmos_check_consistency,
        slice_budget_bytes=settings.slice_budget_mb * 2**20,
        charged=charged,
    )


def _short_term(settings: Settings, clock: Clock) -> ShortTermStore:
    if settings.short_term == "none":
        return NullShortTermStore()
    if settings.short_term == "embedded":
        budget = settings.short_term_budget_mb * 2**20
        return EmbeddedShortTermStore(
            clock,
            max_bytes=budget,
            session_ttl_s=settings.session_ttl_s,
            session_cap=settings.session_cap,
        )
    if settings.redis_url is None:
        raise ConfigError("MEMORY_REDIS_URL is required when MEMORY_SHORT_TERM is redis")
    password = settings.redis_password
    connect = server(
        settings.redis_url.get_secret_value(),
        password=None if password is None else password.get_secret_value(),
        entra=settings.redis_auth == "entra",
        identity_client_id=settings.redis_identity_client_id,
    )
    return RedisShortTermStore(
        connect,
        clock,
        timeout_s=settings.redis_timeout_ms / 1000,
        breaker=Breaker(
            clock,
            failures=settings.redis_breaker_failures,
            rest=timedelta(seconds=settings.redis_breaker_rest_s),
        ),
        session_ttl_s=settings.session_ttl_s,
        vector_ttl_s=settings.redis_vector_ttl_s,
        session_cap=settings.session_cap,
    )


def _queue(settings: Settings, clock: Clock) -> TaskQueue:
    if settings.queue == "embedded":
        from memory_core.adapters.sqlite.queue import SqliteQueue

        return SqliteQueue(
            settings.data / "queue.db", clock=clock, synchronous=settings.sqlite_synchronous
        )
    from memory_core.adapters.azure_storage.queue import StorageQueue

    return StorageQueue(
        _account(settings, settings.queue_connection, settings.queue_account_url), clock=clock
    )


def _archive(settings: Settings, clock: Clock) -> Archive:
    if settings.archive == "folder":
        from memory_core.adapters.folder_archive import FolderArchive

        return FolderArchive(settings.data / "archive", clock=clock)
    from memory_core.adapters.azure_storage.blob_archive import BlobArchive

    account = _account(settings, settings.archive_connection, settings.archive_account_url)
    return BlobArchive(account, settings.archive_container, clock=clock, tier=settings.archive_tier)


def _account(settings: Settings, connection: SecretStr | None, url: str | None) -> StorageAccount:
    from memory_core.adapters.azure_storage.account import StorageAccount

    return StorageAccount(
        None if connection is None else connection.get_secret_value(),
        url,
        settings.identity_client_id,
    )


def _embedder(settings: Settings, short_term: ShortTermStore, clock: Clock) -> Embedder:
    """The configured embedder behind a cache; `hash` costs less than a lookup."""
    match settings.embedding_provider:
        case "hash":
            from memory_core.adapters.embedders.hash_embedder import HashEmbedder

            return HashEmbedder(settings.embedding_dimensions or 384)
        case "minilm":
            made, deadline_s = _minilm(settings), None
        case "openai" | "azure":
            made, deadline_s = _openai(settings, clock), settings.embedding_query_deadline_s
        case unknown:
            assert_never(unknown)
    life = timedelta(seconds=settings.vector_cache_ttl_s)
    return CachedEmbedder(
        made,
        short_term,
        clock,
        entries=settings.vector_cache_entries,
        life=life,
        query_deadline_s=deadline_s,
    )


def _minilm(settings: Settings) -> Embedder:
    from memory_core.adapters.embedders.minilm import MiniLMEmbedder
    from memory_core.adapters.embedders.minilm_model import Reducer

    return MiniLMEmbedder(
        chunking=_chunking(settings), reducer=Reducer() if settings.token_states else None
    )


def _openai(settings: Settings, clock: Clock) -> Embedder:
    from memory_core.adapters.openai.embedder import OpenAIEmbedder

    service = _service(
        settings.embedding_provider,
        settings.embedding_base_url,
        settings.embedding_api_key,
        settings.identity_client_id,
    )
    model = settings.embedding_model or DEFAULT_MODEL
    dimensions = settings.embedding_dimensions or MODEL_DIMENSIONS.get(model)
    if dimensions is None:
        raise ConfigError(
            f"EMBEDDING_DIMENSIONS is required for the model {model!r}, whose vectors' length is "
            "not known here"
        )
    return OpenAIEmbedder(
        service,
        model,
        dimensions,
        clock,
        deployment=settings.embedding_deployment,
        timeout_s=settings.embedding_timeout,
        chunking=_chunking(settings),
        encoding=settings.embedding_encoding_format,
    )


def _rules(settings: Settings, meter: Meter | None) -> Agents:
    """The agents without a model.

    They tell topics apart by words alone. With vectors, 160 instead of 158 of 200 were right, at
    ten times the cost.
    """
    from memory_core.adapters.offline.agents import OfflineAgents

    gap = timedelta(minutes=settings.boundary_gap_minutes)
    return OfflineAgents(boundary_gap=gap, meter=meter)


def _service(
    provider: str, base_url: str | None, key: SecretStr | None, identity_client_id: str | None
) -> Service:
    from memory_core.adapters.openai.client import OPENAI_URL, Service

    return Service(
        provider="azure" if provider == "azure" else "openai",
        base_url=base_url or OPENAI_URL,
        api_key=None if key is None else key.get_secret_value(),
        identity_client_id=identity_client_id,
    )


def _reranker(settings: Settings, agents: Agents, clock: Clock) -> Reranker | None:
    if settings.rerank_provider == "none":
        return None
    if settings.rerank_provider == "llm":
        from memory_core.adapters.openai.agents import OpenAIAgents
        from memory_core.adapters.openai.rerankers import ListwiseReranker

        if not isinstance(agents, OpenAIAgents):
            raise ConfigError("MEMORY_RERANK_PROVIDER is llm, but LLM_PROVIDER names no model")
        return ListwiseReranker(agents)
    from memory_core.adapters.openai.rerankers import EndpointReranker

    service = _service("openai", settings.rerank_base_url, settings.rerank_api_key, None)
    return EndpointReranker(
        service, settings.rerank_model or "", clock, timeout_s=settings.rerank_deadline_s
    )


def _model(
    settings: Settings, long_term: LongTermStore, clock: Clock, meter: Meter | None
) -> Agents:
    from memory_core.adapters.openai.agents import OpenAIAgents
    from memory_core.adapters.openai.budget import Budget
    from memory_core.adapters.openai.chat import Chat, Sampling

    effort = None if settings.llm_reasoning_effort == "default" else settings.llm_reasoning_effort
    sampling = Sampling(
        settings.llm_temperature, settings.llm_top_p, settings.llm_max_tokens, effort
    )
    chat = Chat(
        _service(
            settings.llm_provider,
            settings.llm_base_url,
            settings.llm_api_key,
            settings.identity_client_id,
        ),
        settings.llm_model or DEFAULT_LLM,
        clock,
        deployment=settings.llm_deployment,
        sampling=sampling,
        timeout_s=settings.llm_timeout,
        concurrency=settings.llm_concurrency,
    )
    budget = Budget(
        settings.llm_daily_tokens,
        clock,
        long_term,
        user_daily_tokens=settings.llm_daily_tokens_user,
    )
    return OpenAIAgents(chat, budget, clock, meter)


def _chunking(settings: Settings) -> Chunking:
    return Chunking(settings.chunk_tokens, settings.chunk_overlap, settings.chunk_edge_weight)
