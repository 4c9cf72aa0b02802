"""What is counted by app is shown to that app, and to the operator of the service."""

from __future__ import annotations

from memory_core.functions.callers import Caller
from memory_core.telemetry import Telemetry


def test_an_app_does_not_see_what_others_took() -> None:
    telemetry = Telemetry()
    telemetry.tokens("shop", "gpt-y", 7, 3)
    telemetry.tokens("rival", "gpt-y", 900, 90)
    with telemetry.operation("save"):
        pass
    text = telemetry.text({}, {}, "shop").decode()
    assert 'memory_core_llm_tokens_total{app="shop",kind="prompt",model="gpt-y"} 7.0' in text
    assert "rival" not in text
    assert 'memory_core_operations_total{operation="save",' in text
    assert 'app="rival"' in telemetry.text({}, {}).decode()


def test_only_the_right_to_everything_makes_an_admin() -> None:
    assert Caller("shop", "k", frozenset({"admin"})).is_admin
    assert not Caller("shop", "k", frozenset({"read", "write"})).is_admin
