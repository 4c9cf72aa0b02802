"""Settings, each with its default, its meaning and its environment variable.

This module is the only place that states them. They are read once at the start and passed down. No
other code of the product reads the environment for them. `python -m memory_core.config` prints all
of them.

Note: a threshold of None does not mean "no threshold", but the embedder's own
(`domain/ranking/recipes.py`). `calibrated` returns the values in force.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    model_validator,
)

from memory_core.domain.deferred_model import DeferredModel
from memory_core.domain.errors import PlainError
from memory_core.domain.joint_answers import FormationCalls
from memory_core.domain.ranking.recipes import CALIBRATIONS, Calibration
from memory_core.setting_types import (
    MOST,
    WEEK_S,
    ApiKey,
    ConnectionString,
    Cosine,
    Count,
    EmbeddingProvider,
    Folder,
    Fraction,
    LlmProvider,
    Lower,
    Positive,
    Price,
    Redact,
    RedisUrl,
    RequestRate,
    SecureUrl,
    StoredBytes,
    Upper,
    Url,
    Wait,
    check_app_or_claim,
    check_authority,
    check_claim,
    check_grants,
    check_tenant_id,
    describe_error,
    display_value,
    foreign_variables,
    from_json,
    host_or_network,
    listed,
    long_enough,
    unknown,
    variable,
)

log = logging.getLogger(__name__)


class ConfigError(PlainError):
    """Settings that can't be used.

    The text names each environment variable, its value and the allowed values.
    """


class Settings(DeferredModel):
    """All settings.

    They are immutable. Construct them by field names, or from the environment with `from_env`.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
        validate_default=True,
        hide_input_in_errors=True,
    )

    # the model that agents ask
    llm_provider: LlmProvider = Field(
        "offline", description="Who answers the agents' calls; offline needs no model"
    )
    llm_model: str | None = Field(None, description="Model; none = the provider's own default")
    llm_deployment: str | None = Field(
        None, description="What Azure has the model deployed as; none = the model's name"
    )
    llm_api_key: SecretStr | None = Field(None, description="Key; on Azure none = managed identity")
    llm_base_url: Url | None = Field(
        None, description="Address of an OpenAI-compatible service; required for azure"
    )
    llm_temperature: Annotated[float, Field(ge=0, le=2)] = Field(
        0.4, description="Sampling temperature"
    )
    llm_max_tokens: Count = Field(
        3000, description="Longest answer, in tokens, what the model reasons before it included"
    )
    llm_top_p: Annotated[float, Field(gt=0, le=1)] = Field(0.9, description="Nucleus sampling")
    llm_reasoning_effort: Annotated[
        Literal["none", "minimal", "low", "medium", "high", "xhigh", "default"], Lower
    ] = Field(
        "none",
        description=(
            "How much a model may reason, or the least that it takes; default = its own. It counts "
            "as completion tokens"
        ),
    )
    llm_timeout: Positive = Field(
        60.0, description="Seconds one call may take with all its tries; then the work waits"
    )
    llm_concurrency: Count = Field(
        8, description="Calls of the model under way at once, in one process"
    )
    llm_daily_tokens: Count | None = Field(
        None,
        description=(
            "Tokens an app may spend in a day (UTC); then rules answer in the model's place. None "
            "= no cap"
        ),
    )
    llm_daily_tokens_user: Count | None = Field(
        None,
        description=(
            "Tokens that are spent for one user in a day (UTC), in the same way; beside the app's "
            "cap. None = no cap"
        ),
    )

    # the embedder
    embedding_provider: EmbeddingProvider = Field(
        "minilm",
        description="Who makes vectors; hash makes a random one a text, for benches and tests",
    )
    embedding_model: str | None = Field(
        None, description="Model; none = the provider's own default"
    )
    embedding_deployment: str | None = Field(
        None, description="What Azure has the model deployed as; none = the model's name"
    )
    embedding_api_key: SecretStr | None = Field(
        None, description="Key; on Azure none = managed identity"
    )
    embedding_base_url: Url | None = Field(
        None, description="Address of an OpenAI-compatible service; required for azure"
    )
    embedding_dimensions: Annotated[int, Field(ge=1, le=4096)] | None = Field(
        None,
        description=(
            "Length of a vector; none = 512 where the model can shorten its own "
            "(text-embedding-3-*), else the model's own"
        ),
    )
    embedding_timeout: Positive = Field(
        30.0, description="Seconds one call may take with all its tries"
    )
    embedding_query_deadline_s: Positive = Field(
        2.0,
        description=(
            "Seconds a query waits for its vector; then words alone answer, and the answer says "
            "so. Not for minilm, which is here"
        ),
    )
    embedding_encoding_format: Annotated[Literal["base64", "float"], Lower] = Field(
        "base64", description="How vectors travel"
    )
    chunk_tokens: Count = Field(
        500, description="Tokens a chunk of a long text; the embedder's own limit stands if smaller"
    )
    chunk_overlap: Annotated[int, Field(ge=0, le=MOST)] = Field(
        50, description="Tokens that a chunk shares with the one before"
    )
    chunk_edge_weight: Positive = Field(
        1.15, description="Weight of the first and the last chunk; the others weigh 1"
    )
    vector_cache_entries: Annotated[int, Field(ge=0, le=MOST)] = Field(
        512, description="Vectors kept in process; 0 = none"
    )
    vector_cache_ttl_s: Positive = Field(3600.0, description="Seconds a vector is kept in process")

    # the long term
    long_term: Annotated[Literal["sqlite", "cosmos"], Lower] = Field(
        "sqlite", description="Where the truth is kept"
    )
    cosmos_endpoint: Url | None = Field(
        None, description="Address of the account, required when MEMORY_LONG_TERM is cosmos"
    )
    cosmos_key: SecretStr | None = Field(
        None, description="Key of the account; none = managed identity"
    )
    cosmos_database: str = Field(
        "memory-core", min_length=1, description="Database that holds the container memories"
    )
    cosmos_consistency: Annotated[Literal["strong", "session"], Lower] = Field(
        "strong",
        description=(
            "Least the account must have; strong: Strong or BoundedStaleness, session: Session "
            "too, which is weaker"
        ),
    )
    cosmos_check_consistency: bool = Field(
        True,
        description="Whether the account is asked for its consistency; false trusts the setting",
    )
    data: Folder = Field(
        Path(".memory"), description="Folder of everything that is kept on this machine"
    )
    sqlite_synchronous: Annotated[Literal["full", "normal"], Lower] = Field(
        "normal",
        description=(
            "normal: an acknowledged write survives a killed process; full: a power cut too, at "
            "ten times a commit's time"
        ),
    )
    slice_budget_mb: int = Field(
        320,
        ge=0,
        le=MOST,
        description=(
            "Megabytes of users' vectors and terms held in memory; 0 = with Cosmos DB, every "
            "search is asked of it"
        ),
    )

    # the short term
    short_term: Annotated[Literal["embedded", "redis", "none"], Lower] = Field(
        "embedded", description="Where each session's recent past is kept"
    )
    redis_url: RedisUrl | None = Field(
        None,
        description=(
            "Address (redis://, rediss://, unix://), required when MEMORY_SHORT_TERM is redis"
        ),
    )
    redis_password: SecretStr | None = Field(
        None, description="Stands before the address's own password"
    )
    redis_auth: Annotated[Literal["password", "entra"], Lower] = Field(
        "password", description="How to sign in; entra = Entra ID, no password"
    )
    redis_identity_client_id: str | None = Field(
        None, description="User-assigned identity for entra; none = the default credential"
    )
    redis_timeout_ms: Count = Field(
        100, description="Milliseconds one call may take; then the short term is done without"
    )
    redis_breaker_failures: Count = Field(3, description="Failures in a row that open the circuit")
    redis_breaker_rest_s: Positive = Field(
        2.0, description="Seconds an open circuit rests before one call tries again"
    )
    redis_vector_ttl_s: Count = Field(86_400, description="Seconds a vector is kept in Redis")
    session_ttl_s: Count = Field(
        86_400, description="Seconds a session's set is kept after its last write"
    )
    session_cap: Count = Field(500, description="Memories kept of one session")
    short_term_budget_mb: Count = Field(
        32, description="Megabytes that the embedded short term may hold"
    )

    # work that waits
    queue: Annotated[Literal["embedded", "storage"], Lower] = Field(
        "embedded", description="Where work waits for its function"
    )
    queue_connection: ConnectionString | None = Field(
        None,
        description=(
            "Connection string of a storage account; this or MEMORY_QUEUE_ACCOUNT_URL is required "
            "when MEMORY_QUEUE is storage"
        ),
    )
    queue_account_url: SecureUrl | None = Field(
        None,
        description=(
            "Address of the account's queues (https://NAME.queue.core.windows.net), to sign in to "
            "with the app's identity"
        ),
    )
    queue_visibility_s: int = Field(
        30,
        ge=1,
        le=WEEK_S,
        description=(
            "Seconds the development host hides a message, renewed while its function runs; "
            "Azure's own host: ten minutes"
        ),
    )
    task_lease_s: Wait = Field(
        90.0,
        description=(
            "Seconds a task belongs to a worker that gives no sign of life; renewed after a third "
            "of them. Clocks may differ by two thirds of them before two workers have one task"
        ),
    )

    erase_settle_s: Annotated[float, Field(ge=0, le=WEEK_S)] | None = Field(
        None,
        description=(
            "Seconds after which an erasure empties everything once more, as long as a worker may "
            "live; none = 600 with Cosmos DB (functionTimeout in host.json), 2 with SQLite"
        ),
    )

    boundary_gap_minutes: Positive = Field(
        120.0, description="Minutes of silence that end an episode, where rules cut a conversation"
    )

    formation_calls: Annotated[FormationCalls, Lower] = Field(
        "separate",
        description=(
            "Calls of a model: separate = one an answer, two = one a cell and rules for "
            "boundaries, one = one for 50 messages"
        ),
    )

    # batches and webhooks
    batch_messages: Annotated[int, Field(ge=1, le=200)] = Field(
        30, description="Gathered messages of a session that are formed at once"
    )
    batch_idle_s: Annotated[int, Field(ge=1, le=WEEK_S)] = Field(
        60, description="Seconds without another message after which those gathered are formed"
    )
    webhook_secret: Annotated[SecretStr, AfterValidator(long_enough)] | None = Field(
        None,
        description=(
            "Signs webhooks, ≥ 16 characters; none = one kept in MEMORY_DATA, or no callbacks "
            "where MEMORY_LONG_TERM is cosmos"
        ),
    )
    webhook_allow: Annotated[
        tuple[Annotated[str, AfterValidator(host_or_network)], ...], BeforeValidator(listed)
    ] = Field(
        (),
        description=(
            "Hosts, addresses and networks (10.1.0.0/16), with commas between, that webhooks may "
            "go to though they are not public"
        ),
    )
    webhook_timeout_s: Positive = Field(10.0, description="Seconds one try of a webhook may take")

    # the cold
    archive: Annotated[Literal["folder", "blob"], Lower] = Field(
        "folder", description="Where old memories are kept; folder: below MEMORY_DATA"
    )
    archive_connection: ConnectionString | None = Field(
        None,
        description=(
            "Connection string of a storage account; this or MEMORY_ARCHIVE_ACCOUNT_URL is "
            "required when MEMORY_ARCHIVE is blob"
        ),
    )
    archive_account_url: SecureUrl | None = Field(
        None,
        description=(
            "Address of the account's blobs (https://NAME.blob.core.windows.net), to sign in to "
            "with the app's identity"
        ),
    )
    archive_container: Annotated[
        str, Field(min_length=3, max_length=63, pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")
    ] = Field("archive", description="Container that holds the blobs")
    archive_tier: Annotated[Literal["hot", "cool", "cold"], Lower] = Field(
        "cool",
        description=(
            "Access tier of new blobs; the tier Archive, from which reading takes hours, is none "
            "of them"
        ),
    )

    archival_age_years: Annotated[float, Field(gt=0, le=1000)] = Field(
        10.0,
        description="Years that a memory has to be untouched for, before it may go to the archive",
    )

    # signing in without a key
    identity_client_id: str | None = Field(
        None,
        description=(
            "User-assigned identity for Cosmos DB, queues, archive and Azure OpenAI; none = the "
            "default credential"
        ),
    )

    # saving and finding; none = the embedder's own
    cosine_low: Cosine | None = Field(
        None, description='Cosine that counts as "nothing in common"; none = the embedder\'s own'
    )
    cosine_high: Cosine | None = Field(
        None, description='Cosine that counts as "the same"; none = the embedder\'s own'
    )
    answer_threshold: Fraction | None = Field(
        None,
        description=(
            "Relevance that the best memory must reach; none = the embedder's own (0.39 with "
            "minilm, else 0.4)"
        ),
    )
    recall_threshold: Fraction | None = Field(
        None,
        description=(
            "Relevance each further memory must reach, similarity_threshold of a call; none = the "
            "embedder's own (0.2 with minilm, else 0.3)"
        ),
    )
    composite_score_threshold: Annotated[float, Field(ge=0, le=2)] | None = Field(
        None, description="Score each memory must reach; none = no cut"
    )
    duplicate_threshold: Fraction | None = Field(
        None, description="Similarity of one and the same statement; none = the embedder's own"
    )
    contradiction_floor: Fraction | None = Field(
        None,
        description=(
            "Similarity below which nothing contradicts; none = the embedder's own (0.4 with "
            "minilm, else 0.3)"
        ),
    )
    link_threshold: Fraction | None = Field(
        None,
        description=(
            "Similarity from which memories are linked; none = the embedder's own (0.5 with "
            "minilm, else 0.7)"
        ),
    )
    scene_threshold: Fraction | None = Field(
        None,
        description=(
            "Similarity above which an episode is near to a scene; 1 = vectors are not asked; none "
            "= the embedder's own (0.45 with minilm, 1 with hash, else 0.7)"
        ),
    )
    theme_threshold: Fraction | None = Field(
        None,
        description="Similarity to a theme's words that makes it an episode's own;"
        " none = the embedder's own (0.2 with minilm, 1 with hash, else 0.3)",
    )
    scene_cells: Annotated[int, Field(ge=4, le=200)] = Field(
        50, description="Episodes of a scene above which it is split in two"
    )
    default_n_results: Annotated[int, Field(ge=1, le=100)] = Field(
        10, description="Results of a query that names no limit"
    )

    learned_order: bool = Field(
        True,
        description=(
            "Whether results stand in the order that was learned of conversations, with minilm; "
            "thresholds stay as they are"
        ),
    )
    token_states: bool = Field(
        True,
        description=(
            "Whether the states of a text's tokens are kept with it, at most 3 KB a memory, for "
            "the learned order"
        ),
    )

    # reading the best once more
    rerank_provider: Annotated[Literal["none", "endpoint", "llm"], Lower] = Field(
        "none",
        description=(
            "Who puts the 50 best into another order; endpoint: a service with /rerank, llm: the "
            "agents' model"
        ),
    )
    rerank_model: str | None = Field(
        None, description="Model, required when MEMORY_RERANK_PROVIDER is endpoint"
    )
    rerank_base_url: Url | None = Field(
        None,
        description=(
            "Address that /rerank is put behind (https://host/v1), required when "
            "MEMORY_RERANK_PROVIDER is endpoint"
        ),
    )
    rerank_api_key: SecretStr | None = Field(None, description="Its key; none = it asks for none")
    rerank_deadline_s: Positive = Field(
        2.0,
        description="Seconds it may take; then the order stays as it is, and the answer says so",
    )

    # weighing
    recency_boost: Fraction = Field(
        0.1, description="Most that recency adds to a composite score, as a share of relevance"
    )
    importance_boost: Fraction = Field(
        0.1, description="Most that importance adds to a composite score, as a share of relevance"
    )
    max_age_hours: Annotated[float, Field(gt=0, le=10_000_000)] = Field(
        43_800.0,
        description=(
            "Divided by MEMORY_HALF_LIFE_FACTOR: the age that leaves 37 % of the recency of the "
            "recipes composite and linear"
        ),
    )
    half_life_factor: Annotated[float, Field(ge=0.01, le=10_000)] = Field(
        4.0, description="See MEMORY_MAX_AGE_HOURS"
    )
    recency_half_life_days: Positive = Field(
        30.0, description="Days that halve the recency of the recipe weighted"
    )
    decay_half_life_days: Positive = Field(
        30.0, description="Idle days that halve a memory's importance"
    )
    decay_floor: Fraction = Field(
        0.05, description="Importance under which a memory counts as decayed"
    )

    forgetting: Annotated[Literal["gentle", "strict"], Lower] = Field(
        "gentle",
        description=(
            "gentle: what has faded is found by a query that fits it, and being found brings it "
            "back; strict: only with include_decayed, and only a restore brings it back"
        ),
    )

    redact: Redact = Field(
        "secrets",
        description=(
            "What is replaced by a mark before anything is kept, with commas between: secrets "
            "(keys, tokens, passwords, card numbers), card, email, phone, iban, ip; off = nothing"
        ),
    )

    upkeep_cap: Count = Field(
        10_000,
        description=(
            "Memories that one task of decay or forget changes at most; it says when there "
            "were more"
        ),
    )

    # consolidation
    consolidation_threshold: Count = Field(
        20,
        description=(
            "New memories of a user that begin a run a minute later, without waiting for the hour"
        ),
    )
    consolidation_first_minutes: Annotated[float, Field(ge=0, le=60)] = Field(
        1.0,
        description=(
            "Minutes from a user's first memory to their first run, so that scenes are there soon; "
            "0 = not before the hour"
        ),
    )
    consolidation_pause_minutes: Annotated[float, Field(ge=0, le=60)] = Field(
        10.0,
        description=(
            "Minutes from a user's last run to one that new memories begin, at least; 0 = at once; "
            "not for the hourly run"
        ),
    )
    consolidation_spread_minutes: Annotated[float, Field(ge=0, le=55)] = Field(
        45.0, description="Minutes over which an hour's users are spread; 0 = all at once"
    )
    llm_prompt_price: Price = Field(
        0.0,
        description=(
            "What a million prompt tokens cost, in any currency, for the estimates of reports"
        ),
    )
    llm_completion_price: Price = Field(0.0, description="The same of completion tokens")

    # the doors
    auth: Annotated[Literal["on", "off"], Lower] = Field(
        "on", description="off works only on a loopback address"
    )
    api_keys: Annotated[tuple[ApiKey, ...], BeforeValidator(from_json)] = Field(
        (),
        description=(
            'JSON list of keys {"id", "app", "sha256" of the whole key, "rights": ["read", '
            '"write", "admin"], "user"?}'
        ),
    )
    entra_tenant_id: Annotated[str, AfterValidator(check_tenant_id)] | None = Field(
        None,
        description=(
            "Tenant whose access tokens are taken beside keys; with MEMORY_ENTRA_AUDIENCE and "
            "MEMORY_ENTRA_APP"
        ),
    )
    entra_audience: Annotated[tuple[str, ...], BeforeValidator(listed)] = Field(
        (),
        description=(
            "Client id or api:// URI of this service's registration, which tokens must be meant "
            "for; several with commas"
        ),
    )
    entra_app: Annotated[str, AfterValidator(check_app_or_claim)] | None = Field(
        None,
        description=(
            "App that callers with tokens belong to: its name, or claim:NAME of the claim that "
            "says it"
        ),
    )
    entra_user: Annotated[str, AfterValidator(check_claim)] = Field(
        "claim:oid",
        description=(
            "Claim that is the user_id of a token that was issued for a person, who may name "
            "no other"
        ),
    )
    entra_rights: Annotated[str, AfterValidator(check_grants)] = Field(
        "Memory.Read=read,Memory.Write=write,Memory.Admin=admin",
        description="Rights that roles (of applications) and scopes (of people) give",
    )
    entra_authority: Annotated[Url, AfterValidator(check_authority)] = Field(
        "https://login.microsoftonline.com",
        description="Where tokens are issued; another one in national clouds",
    )
    trust_principal_header: Annotated[Literal["on", "off"], Lower] = Field(
        "off",
        description=(
            "Whether X-MS-CLIENT-PRINCIPAL is believed; on only behind App Service authentication"
        ),
    )
    secret: Annotated[SecretStr, AfterValidator(long_enough)] | None = Field(
        None,
        description=(
            "Signs cursors, ≥ 16 characters, the same in every process; none = one made and kept "
            "in MEMORY_DATA"
        ),
    )
    host: str = Field(
        "127.0.0.1", min_length=1, description="Address that the development host listens on"
    )
    port: Annotated[int, Field(ge=0, le=65_535)] = Field(
        7071, description="Its port; 0 = any free one"
    )
    deadline_s: Positive = Field(60.0, description="Seconds a request may take")
    requests_at_once: Count = Field(
        64, description="Requests that one process works on at once; others wait"
    )
    requests_waiting: Annotated[int, Field(ge=0, le=MOST)] = Field(
        256,
        description=(
            "Requests that wait for their turn in one process; one more is a 503. An app may take "
            "three quarters of the places"
        ),
    )
    request_wait_s: Positive = Field(
        2.0, description="Seconds that a request waits for its turn; then it is a 503"
    )
    rate_per_key: RequestRate = Field(
        "off",
        description=(
            "Requests of one key, like 600/minute (second, minute, hour, day); off: any number"
        ),
    )
    rate_per_app: RequestRate = Field(
        "off",
        description="Requests of all keys of an app together, like 6000/minute; off: any number",
    )
    stored_bytes_per_app: StoredBytes | None = Field(
        None,
        description=(
            "Bytes that the memories of an app's users may take; a write that makes them more is "
            "then a 507. None = no limit"
        ),
    )
    stored_bytes_per_user: StoredBytes | None = Field(
        None, description="The same for each user. None = no limit"
    )
    commit_deadline_s: Positive = Field(
        10.0, description="Seconds a write may try against concurrent ones"
    )
    body_limit_bytes: Count = Field(1_048_576, description="Longest request body")
    telemetry: Annotated[Literal["off", "otlp", "azure"], Lower] = Field(
        "off",
        description=(
            "Where meters and spans go beside /metrics, with the extra `telemetry`; azure: "
            "Application Insights (APPLICATIONINSIGHTS_CONNECTION_STRING), otlp: "
            "OTEL_EXPORTER_OTLP_ENDPOINT"
        ),
    )
    log_level: Annotated[Literal["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"], Upper] = Field(
        "INFO", description="Least severity logged of our own messages; other packages: warnings"
    )

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.long_term == "cosmos" and self.cosmos_endpoint is None:
            raise ValueError("MEMORY_COSMOS_ENDPOINT is required when MEMORY_LONG_TERM is cosmos")
        if self.short_term == "redis" and self.redis_url is None:
            raise ValueError("MEMORY_REDIS_URL is required when MEMORY_SHORT_TERM is redis")
        if (
            self.queue == "storage"
            and self.queue_connection is None
            and self.queue_account_url is None
        ):
            raise ValueError(
                "MEMORY_QUEUE_CONNECTION or MEMORY_QUEUE_ACCOUNT_URL is required when MEMORY_QUEUE "
                "is storage"
            )
        if (
            self.archive == "blob"
            and self.archive_connection is None
            and self.archive_account_url is None
        ):
            raise ValueError(
                "MEMORY_ARCHIVE_CONNECTION or MEMORY_ARCHIVE_ACCOUNT_URL is required when "
                "MEMORY_ARCHIVE is blob"
            )
        if self.rerank_provider == "endpoint" and (
            self.rerank_model is None or self.rerank_base_url is None
        ):
            raise ValueError(
                "MEMORY_RERANK_MODEL and MEMORY_RERANK_BASE_URL are required when "
                "MEMORY_RERANK_PROVIDER is endpoint"
            )
        if self.rerank_provider == "llm" and self.llm_provider == "offline":
            raise ValueError(
                "MEMORY_RERANK_PROVIDER is llm, but LLM_PROVIDER is offline: there is no model "
                "to ask"
            )
        self._check_entra()
        if self.chunk_overlap >= self.chunk_tokens:
            raise ValueError(
                f"MEMORY_CHUNK_OVERLAP={self.chunk_overlap}: should be less than "
                f"MEMORY_CHUNK_TOKENS, which is {self.chunk_tokens}"
            )
        scale = self.calibrated
        if scale.cosine_low >= scale.cosine_high:
            raise ValueError(
                f"MEMORY_COSINE_LOW={scale.cosine_low}: should be less than MEMORY_COSINE_HIGH, "
                f"which is {scale.cosine_high}"
            )
        for name, provider, key, url in (
            ("EMBEDDING", self.embedding_provider, self.embedding_api_key, self.embedding_base_url),
            ("LLM", self.llm_provider, self.llm_api_key, self.llm_base_url),
        ):
            if provider == "azure" and url is None:
                raise ValueError(f"{name}_BASE_URL is required when {name}_PROVIDER is azure")
            if provider == "openai" and key is None and url is None:
                raise ValueError(
                    f"{name}_API_KEY is required when {name}_PROVIDER is openai, unless "
                    f"{name}_BASE_URL names another service"
                )
        return self

    def _check_entra(self) -> None:
        """Raise ValueError if Entra ID is only configured in part."""
        needed = ("entra_tenant_id", "entra_audience", "entra_app")
        missing = [variable(name) for name in needed if not getattr(self, name)]
        if missing and (len(missing) < len(needed) or self.trust_principal_header == "on"):
            all_three = ", ".join(variable(name) for name in needed)
            raise ValueError(
                f"{missing[0]} is required: tokens and principals of Entra ID need all of "
                f"{all_three}"
            )
        if not missing and self.auth == "off":
            raise ValueError(
                "MEMORY_ENTRA_TENANT_ID is set, but MEMORY_AUTH is off, so that no token would be "
                "asked for: leave one out"
            )

    @property
    def calibrated(self) -> Calibration:
        """The scale and the thresholds in force: those set here, else the embedder's own."""
        given = {field.name: getattr(self, field.name) for field in fields(Calibration)}
        return replace(
            CALIBRATIONS[self.embedding_provider],
            **{name: value for name, value in given.items() if value is not None},
        )

    @property
    def redacted_kinds(self) -> tuple[str, ...]:
        """Kinds of values that are redacted; empty where redaction is off."""
        return () if self.redact == "off" else tuple(self.redact.split(","))

    @classmethod
    def from_env(cls, environ: Mapping[str, str] | None = None) -> Self:
        """Read the settings from the environment; an empty variable counts as not given.

        A variable with a prefix of ours that is nearly the name of a setting is an error. Any other
        unknown one is only logged, since other software (systemd) uses these prefixes too.
        Variables of other memory services are only logged as well.

        Raises ConfigError, in a single line, for all wrong values together.
        """
        given = os.environ if environ is None else environ
        known = {variable(name): name for name in cls.model_fields}
        problems = []
        for name, near in unknown(given, known):
            if near:
                problems.append(f"{name}: there is no such setting; did you mean {near}?")
            else:
                log.warning("%s is not a setting of Memory Core", name)
        for name, setting in foreign_variables(given, known):
            log.warning(
                "%s is not read: %s",
                name,
                f"the setting is {setting}" if setting else "Memory Core has no such setting",
            )
        values = {
            known[name]: value for name, value in given.items() if name in known and value.strip()
        }
        try:
            settings = cls.model_validate(values)
        except ValidationError as error:
            problems += [describe_error(fault, values) for fault in error.errors(include_url=False)]
            raise ConfigError("; ".join(problems)) from None
        if problems:
            raise ConfigError("; ".join(problems))
        return settings


def rows(settings: Settings) -> list[tuple[str, str, str, str]]:
    """Table of all settings: variable, default, current value (secrets masked), meaning."""
    return [
        (
            variable(name),
            display_value(name, field.default),
            display_value(name, getattr(settings, name)),
            field.description or "",
        )
        for name, field in Settings.model_fields.items()
    ]


def main() -> int:
    """Print the settings of this environment as a table.

    Returns 0, or 2 after a line that describes the wrong settings.
    """
    try:
        settings = Settings.from_env()
    except ConfigError as error:
        print(error, file=sys.stderr)
        return 2
    table = [("variable", "default", "now", "meaning"), *rows(settings)]
    widths = [max(len(row[column]) for row in table) for column in range(3)]
    try:
        for row in table:
            print(
                "  ".join(
                    [*(text.ljust(width) for text, width in zip(row, widths, strict=False)), row[3]]
                )
            )
        sys.stdout.flush()
    except BrokenPipeError:
        # the reader has seen enough, as `head` has; what is left over would fail at the exit of
        # the interpreter
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


if __name__ == "__main__":
    sys.exit(main())
