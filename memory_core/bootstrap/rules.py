"""The rules of each phase, from the settings.

Thresholds are on the embedder's scale, and times are spans. Note: a threshold left unset is not a
constant, but the value that was measured for the embedder (`Settings.calibrated`).
"""

from __future__ import annotations

from datetime import timedelta

from memory_core import signing
from memory_core.access.admission import AdmissionRules
from memory_core.access.rate_limits import RequestRates
from memory_core.access.usage import UsageLimits
from memory_core.bootstrap.phases import ConsolidationRules, FormationRules
from memory_core.config import Settings
from memory_core.consolidation.archive import ArchiveRules
from memory_core.consolidation.patterns import Closeness
from memory_core.consolidation.run_commits import RunFinishRules
from memory_core.consolidation.upkeep import DecayRules
from memory_core.data_rights.erase import EraseRules, remains_of
from memory_core.domain.fading import Fading
from memory_core.domain.ranking.recipes import ScoringParameters
from memory_core.domain.ranking.relevance import FusionParameters, RelevanceParameters
from memory_core.domain.rate_limits import Rate
from memory_core.domain.scene_assignment import SceneRules
from memory_core.evolution.judgements import SaveRules
from memory_core.evolution.links import LinkRules
from memory_core.formation.batches import BatchRules
from memory_core.formation.form_cell import FormingRules
from memory_core.ports import Clock, ShortTermStore
from memory_core.recollection.candidate_search import RetrieveRules


def save_rules(settings: Settings) -> SaveRules:
    """Rules of saving, on the embedder's scale."""
    scale = settings.calibrated
    return SaveRules(scale.duplicate_threshold, scale.contradiction_floor)


def forming_rules(settings: Settings) -> FormingRules:
    """Rules of forming, on the embedder's scale."""
    scale = settings.calibrated
    links = LinkRules(
        duplicate_threshold=scale.duplicate_threshold,
        link_threshold=scale.link_threshold,
        recency_boost=settings.recency_boost,
        importance_boost=settings.importance_boost,
        age_hours=settings.max_age_hours / settings.half_life_factor,
        half_life_days=settings.decay_half_life_days,
    )
    return FormingRules(links, scale.contradiction_floor, calls=settings.formation_calls)


def formation_rules(settings: Settings) -> FormationRules:
    """Rules of formation."""
    return FormationRules(
        forming_rules(settings),
        BatchRules(settings.batch_messages, timedelta(seconds=settings.batch_idle_s)),
        settings.commit_deadline_s,
        signing.webhook_secret(settings),
    )


def request_rates(settings: Settings, short_term: ShortTermStore, clock: Clock) -> RequestRates:
    """Count requests by key and by app, at the rates of the settings.

    Args:
        settings: The rates, or `off`.
        short_term: Holds the counts.
        clock: The clock of the process.

    """
    rates = (
        None if text == "off" else Rate.read(text)
        for text in (settings.rate_per_key, settings.rate_per_app)
    )
    return RequestRates(short_term, clock, *rates)


ON_ONE_MACHINE_S = 2.0
"""Seconds that an erasure waits with SQLite before it deletes a second time.

A late commit is refused in its own transaction, and the short-term store refuses an ended life.
Only a file of an export or of the archive may still appear, if it was on its way to the disk when
the life ended.
"""


def erase_rules(settings: Settings) -> EraseRules:
    """Rules of erasing."""
    settle = settings.erase_settle_s
    if settle is None:
        settle = 600.0 if settings.long_term == "cosmos" else ON_ONE_MACHINE_S
    remains = remains_of(settings.long_term, settings.short_term, settings.queue)
    return EraseRules(timedelta(seconds=settle), timedelta(seconds=settings.session_ttl_s), remains)


def fading_rules(settings: Settings) -> Fading:
    """Rules by which memories fade."""
    return Fading(half_life_days=settings.decay_half_life_days, floor=settings.decay_floor)


def usage_limits(settings: Settings) -> UsageLimits:
    """Limits of stored bytes and of a model's tokens."""
    bytes_limits = settings.stored_bytes_per_app, settings.stored_bytes_per_user
    if settings.llm_provider == "offline":  # rules spend no tokens
        return UsageLimits(*bytes_limits)
    return UsageLimits(*bytes_limits, settings.llm_daily_tokens, settings.llm_daily_tokens_user)


def admission_rules(settings: Settings) -> AdmissionRules:
    """Limits of the requests that a process takes at once."""
    return AdmissionRules(
        settings.requests_at_once, settings.requests_waiting, settings.request_wait_s
    )


def first_run(settings: Settings) -> timedelta | None:
    """Time from a user's first memory to the first run; None for the hourly run."""
    minutes = settings.consolidation_first_minutes
    return timedelta(minutes=minutes) if minutes else None


def consolidation_rules(settings: Settings) -> ConsolidationRules:
    """Rules of consolidation."""
    fading = fading_rules(settings)
    archive = ArchiveRules(
        settings.archival_age_years, settings.max_age_hours / settings.half_life_factor
    )
    scale = settings.calibrated
    closeness = Closeness(
        scale.duplicate_threshold, scale.link_threshold, scale.contradiction_floor
    )
    scenes = SceneRules(scale.scene_threshold, scale.theme_threshold, settings.scene_cells)
    finish = RunFinishRules(
        fading,
        archive.least_age,
        settings.upkeep_cap,
        prompt_price=settings.llm_prompt_price,
        completion_price=settings.llm_completion_price,
        marks_fading=settings.forgetting == "strict",
    )
    spread = timedelta(minutes=settings.consolidation_spread_minutes)
    return ConsolidationRules(
        DecayRules(fading, settings.upkeep_cap, settings.forgetting == "gentle"),
        settings.upkeep_cap,
        archive,
        closeness,
        scenes,
        finish,
        spread,
        settings.formation_calls,
    )


def retrieve_rules(settings: Settings) -> RetrieveRules:
    """Rules of retrieval, on the embedder's scale."""
    scale = settings.calibrated
    return RetrieveRules(
        answer_threshold=scale.answer_threshold,
        finds_faded=settings.forgetting == "gentle",
        fading=fading_rules(settings),
        similarity_threshold=scale.recall_threshold,
        score_threshold=settings.composite_score_threshold,
        default_results=settings.default_n_results,
        relevance=RelevanceParameters(
            fusion=FusionParameters(cosine_low=scale.cosine_low, cosine_high=scale.cosine_high),
            learned=settings.learned_order and settings.embedding_provider == "minilm",
        ),
        scoring=ScoringParameters(
            recency_boost=settings.recency_boost,
            importance_boost=settings.importance_boost,
            max_age_hours=settings.max_age_hours,
            half_life_factor=settings.half_life_factor,
            recency_half_life_days=settings.recency_half_life_days,
            decay_half_life_days=settings.decay_half_life_days,
        ),
    )
