"""The soak's judgement: what grows steadily is found, what is level or only noisy is not."""

from __future__ import annotations

import pytest

from bench.soak import BOUNDS, Sample, judged, slope


def steep(risen_mb: float, *, early_mb: float = 0.0) -> bool:
    """The verdict on 900 s in which memory grows by so much in the judged part,
    and before by `early_mb`.
    """
    samples = []
    for at in range(0, 900, 5):
        measures = dict.fromkeys(BOUNDS, 10.0)
        measures["memory, MB"] += (
            early_mb * min(1.0, at / 300) + risen_mb * max(0.0, at - 300) / 600 + at % 2
        )
        samples.append(Sample(at, measures))
    verdicts = judged(samples, 900)
    assert not any(is_steep for name, (_, is_steep) in verdicts.items() if name != "memory, MB")
    return verdicts["memory, MB"][1]


def test_a_slope_is_that_of_the_nearest_line() -> None:
    assert slope([(0, 1), (1, 3), (2, 5)]) == pytest.approx(2)
    assert slope([(0, 1), (1, 5), (2, 1)]) == pytest.approx(0)
    assert slope([]) == slope([(3, 4)]) == 0


def test_what_rises_after_the_warming_up_is_too_steep() -> None:
    assert steep(11.0)
    assert not steep(9.0)


def test_what_rises_while_it_warms_up_is_level() -> None:
    assert not steep(0.0, early_mb=200)
