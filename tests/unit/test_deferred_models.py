"""Every model of ours is built when it is first used; then each can be, in any order."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Barrier

import pytest
from pydantic import BaseModel, Field

import memory_core
from memory_core.domain.deferred_model import DeferredModel

THREADS = 8


def models_of_the_product() -> list[type[BaseModel]]:
    """All models that any module of the package defines."""
    for module in pkgutil.walk_packages(memory_core.__path__, "memory_core."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    models: list[type[BaseModel]] = [BaseModel]
    for model in models:
        models += model.__subclasses__()
    return [model for model in dict.fromkeys(models) if model.__module__.startswith("memory_core.")]


MODELS = models_of_the_product()


def test_every_model_waits_for_its_first_use() -> None:
    assert len(MODELS) > 100
    assert [model for model in MODELS if not issubclass(model, DeferredModel)] == []
    assert [model for model in MODELS if model.model_config.get("defer_build") is not True] == []


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__qualname__)
def test_a_model_can_be_built(model: type[BaseModel]) -> None:
    """A name in a field's type that nothing defines would show at the first request only."""
    model.model_rebuild()
    assert model.__pydantic_complete__


def test_threads_that_use_a_model_first_at_once_all_get_it_whole() -> None:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(THREADS) as threads:
            for _ in range(20):
                read = partial(read_at_once, model_in_parts(), Barrier(THREADS))
                assert list(threads.map(read, range(THREADS))) == [
                    f'{{"part":{{"number":{number}}},"words":["none"]}}'
                    for number in range(THREADS)
                ]
    finally:
        sys.setswitchinterval(interval)


def model_in_parts() -> type[BaseModel]:
    """A model that was never used."""

    class Part(DeferredModel):
        number: int

    class Whole(DeferredModel):
        part: Part
        words: list[str] = Field(default=["none"], min_length=1)

    assert not Whole.__pydantic_complete__
    return Whole


def read_at_once(model: type[BaseModel], start: Barrier, number: int) -> str:
    start.wait()
    return model.model_validate({"part": {"number": number}}).model_dump_json()
