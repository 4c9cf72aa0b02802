"""The graph that multiplies integers, beside numpy; and protocol buffers as bytes."""

from __future__ import annotations

import os

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_core.adapters.embedders import protobuf
from memory_core.adapters.embedders.onnx_integers import multiply_integers
from memory_core.adapters.embedders.protobuf import block, number, text

FLOAT, INT8, INT64 = 1, 3, 7
ROWS, INNER, COLUMNS = 7, 16, 5


@given(
    st.lists(
        st.tuples(st.integers(1, 2**20), st.one_of(st.integers(0, 2**63), st.binary(max_size=300)))
    )
)
def test_a_message_is_read_as_it_was_written(values: list[tuple[int, int | bytes]]) -> None:
    message = b"".join(
        number(field, value) if isinstance(value, int) else block(field, value)
        for field, value in values
    )
    fields = list(protobuf.fields(message))
    assert [field.number for field in fields] == [field for field, _ in values]
    assert b"".join(field.written() for field in fields) == message


@pytest.mark.parametrize(
    "message", [b"\x80", block(1, b"whole")[:-1], b"\x0b", b"\x0d\x00", b"\x08" + b"\xff" * 12]
)
def test_what_is_no_message_is_refused(message: bytes) -> None:
    with pytest.raises(ValueError, match="message"):
        list(protobuf.fields(message))


def test_a_constant_kept_as_int8_is_multiplied_as_integers() -> None:
    random = np.random.default_rng(5)
    weight = random.integers(-127, 128, (INNER, COLUMNS), dtype=np.int8)
    scale = random.uniform(0.01, 0.05, (1, COLUMNS)).astype(np.float32)
    table = random.integers(-127, 128, (30, INNER), dtype=np.int8)
    widths = random.uniform(0.1, 2, (30, 1)).astype(np.float32)
    places = random.integers(0, 30, (2, ROWS), dtype=np.int64)
    model = _model(table, widths, weight, scale)
    expected = ((table * widths)[places]) @ (weight * scale)
    product = _run(multiply_integers(model), places)
    assert b"MatMulInteger" in multiply_integers(model)
    np.testing.assert_allclose(_run(model, places), expected, rtol=1e-4, atol=1e-4)
    assert not np.array_equal(product, expected)
    assert float(np.abs(product - expected).max()) < 0.02 * float(np.abs(expected).max())


def test_the_product_of_one_row_does_not_depend_on_the_others() -> None:
    random = np.random.default_rng(6)
    table = random.integers(-127, 128, (30, INNER), dtype=np.int8)
    widths = np.geomspace(1e-3, 1e3, 30).astype(np.float32)[:, None]
    weight = random.integers(-127, 128, (INNER, COLUMNS), dtype=np.int8)
    model = multiply_integers(
        _model(table, widths, weight, np.full((1, COLUMNS), 0.02, np.float32))
    )
    together = _run(model, np.arange(30)[None])
    for place in range(30):
        np.testing.assert_allclose(
            _run(model, np.array([[place]])), together[:, place : place + 1], rtol=1e-6
        )


def test_a_row_of_zeros_stays_one() -> None:
    table = np.zeros((1, INNER), np.int8)
    weight = np.full((INNER, COLUMNS), 127, np.int8)
    model = multiply_integers(
        _model(table, np.ones((1, 1), np.float32), weight, np.ones((1, COLUMNS), np.float32))
    )
    assert not _run(model, np.zeros((1, 3), np.int64)).any()


def _model(
    table: npt.NDArray[np.int8],
    widths: npt.NDArray[np.float32],
    weight: npt.NDArray[np.int8],
    scale: npt.NDArray[np.float32],
) -> bytes:
    """Looks rows up in a table and multiplies them by a weight, both kept as int8,
    as the file of the package does.
    """
    floats = text(1, "to") + number(3, FLOAT) + number(20, 2)
    nodes = (
        _node("Cast", ("table_q",), "table_f", floats)
        + _node("Mul", ("table_f", "widths"), "table"),
        _node("Cast", ("weight_q",), "weight_f", floats)
        + _node("Mul", ("weight_f", "scale"), "weight"),
        _node("Gather", ("table", "places"), "rows")
        + _node("MatMul", ("rows", "weight"), "product"),
    )
    tensors = (
        _tensor("table_q", INT8, table),
        _tensor("widths", FLOAT, widths),
        _tensor("weight_q", INT8, weight),
        _tensor("scale", FLOAT, scale),
    )
    graph = b"".join(
        (
            *nodes,
            text(2, "graph"),
            *tensors,
            _value(11, "places", INT64),
            _value(12, "product", FLOAT),
        )
    )
    return number(1, 8) + block(7, graph) + block(8, number(2, 17))


def _node(operator: str, inputs: tuple[str, ...], output: str, attribute: bytes = b"") -> bytes:
    names = b"".join(text(1, name) for name in inputs) + text(2, output)
    return block(1, names + text(4, operator) + (block(5, attribute) if attribute else b""))


def _tensor(name: str, kind: int, values: npt.NDArray[np.int8] | npt.NDArray[np.float32]) -> bytes:
    shape = b"".join(number(1, length) for length in values.shape)
    return block(5, shape + number(2, kind) + text(8, name) + block(9, values.tobytes()))


def _value(field: int, name: str, kind: int) -> bytes:
    return block(field, text(1, name) + block(2, block(1, number(1, kind))))


def _run(model: bytes, places: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.add_session_config_entry("session.x64quantprecision", "1")
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return np.asarray(session.run(None, {"places": places})[0], dtype=np.float32)
