"""Change the graph of the model, so that it multiplies the integers of its weights.

The file keeps a weight as int8 with a scale for each column, and turns both into floats before it
multiplies. Here the other factor becomes integers too, by a scale for each token.
`DynamicQuantizeLinear` takes a scale for the whole batch. With that, a text's vector would depend
on the other texts of its batch, and be further from the float's (cosine .993 beside .997). Rows of
the embedding tables become floats when they are looked up.

The changed graph does not check whether a share of attention is not a number. Each text has two
tokens that all attend to, and the check took an eighth of a long text's time.

All operators are ONNX's own. The file is read and written here, without the package `onnx`. That
takes 0.1 s, leaves no file on the disk, and needs no further installation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from struct import pack

from memory_core.adapters.embedders import protobuf
from memory_core.adapters.embedders.protobuf import Field, block, number, text

_GRAPH, _NODE, _TENSOR, _KNOWN_SHAPE = 7, 1, 5, 13
"""Numbers of fields: `_GRAPH` of a model, all further numbers of its graph.

The shapes known between nodes may be left out.
"""
_INPUT, _OUTPUT, _NODE_NAME, _OPERATOR, _ATTRIBUTE = 1, 2, 3, 4, 5
"""Fields of a node."""
_TENSOR_KIND, _TENSOR_NAME, _TENSOR_DATA = 2, 8, 9
_FLOAT, _UINT8 = 1, 2
"""Kinds of a tensor."""
_ATTRIBUTE_NAME, _ONE_INTEGER, _INTEGERS, _ATTRIBUTE_KIND = 1, 3, 8, 20
_WHOLE_NUMBER, _WHOLE_NUMBERS = 2, 7
"""Kinds of an attribute."""

_CONSTANTS: Mapping[str, bytes] = {
    name: number(_TENSOR_KIND, kind) + text(_TENSOR_NAME, name) + block(_TENSOR_DATA, data)
    for name, kind, data in (
        ("integers_zero", _UINT8, bytes([128])),
        ("integers_most", _FLOAT, pack("<f", 127)),
        ("integers_step", _FLOAT, pack("<f", 1 / 127)),
        ("integers_whole", _FLOAT, pack("<f", 1)),
        ("integers_least", _FLOAT, pack("<f", 1e-20)),
    )
}


@dataclass(frozen=True)
class _Node:
    operator: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    data: bytes


@dataclass(frozen=True)
class _Weight:
    """Names of a weight's integers and of their scale."""

    integers: str
    scale: str


def multiply_integers(model: bytes) -> bytes:
    """Change an ONNX model to multiply integers wherever it multiplies by an int8 constant.

    Raises ValueError if the bytes are no ONNX model.
    """
    changed = b""
    for field in protobuf.fields(model):
        if field.number == _GRAPH:
            field = Field(_GRAPH, field.kind, _changed_graph(field.data))
        changed += field.written()
    return changed


def _changed_graph(graph: bytes) -> bytes:
    fields = list(protobuf.fields(graph))
    nodes = [_read_node(field.data) for field in fields if field.number == _NODE]
    constants = {_name(field.data) for field in fields if field.number == _TENSOR}
    weights, casts = _find_weights(nodes, constants)
    written = [block(_NODE, node) for node in _changed_nodes(nodes, weights, casts)]
    written += [block(_TENSOR, tensor) for tensor in _CONSTANTS.values()]
    written += [field.written() for field in fields if field.number not in (_NODE, _KNOWN_SHAPE)]
    return b"".join(written)


def _find_weights(
    nodes: Sequence[_Node], constants: set[str]
) -> tuple[dict[str, _Weight], set[str]]:
    """Find the weights by the name of their float form, and their casts."""
    casts = {
        node.outputs[0]: node.inputs[0]
        for node in nodes
        if node.operator == "Cast" and node.inputs[0] in constants
    }
    weights = {
        node.outputs[0]: _Weight(casts[node.inputs[0]], node.inputs[1])
        for node in nodes
        if node.operator == "Mul" and node.inputs[0] in casts and node.inputs[1] in constants
    }
    return weights, {node.inputs[0] for node in nodes if node.outputs[0] in weights}


def _changed_nodes(
    nodes: Sequence[_Node], weights: Mapping[str, _Weight], casts: set[str]
) -> Iterator[bytes]:
    rounded: set[str] = set()
    nan_checks = {node.outputs[0] for node in nodes if node.operator == "IsNaN"}
    gelu_halves, gelus = _find_gelus(nodes)
    for node in nodes:
        output = node.outputs[0]
        if output in weights or output in casts or output in nan_checks or output in gelu_halves:
            continue
        if output in gelus:
            half, total = gelu_halves[gelus[output]]
            yield _write_node("Mul", (node.inputs[0], total), f"{output}_doubled")
            yield _write_node("Mul", (f"{output}_doubled", half), output)
            continue
        if node.operator == "Gather" and node.inputs[0] in weights:
            yield from _look_up(weights[node.inputs[0]], node.inputs[1], output)
        elif node.operator == "MatMul" and node.inputs[1] in weights:
            factor = node.inputs[0]
            if factor not in rounded:
                rounded.add(factor)
                yield from _round(factor)
            yield from _multiply(factor, weights[node.inputs[1]], output)
        elif node.operator == "Where" and node.inputs[0] in nan_checks:
            yield _write_node("Identity", (node.inputs[2],), output)
        else:
            yield node.data


def _find_gelus(nodes: Sequence[_Node]) -> tuple[dict[str, tuple[str, str]], dict[str, str]]:
    """Find the products 0.5 × (1 + erf …) and their products with x.

    Returns the half and the sum of each product by its name, and by the name of each x × product
    the name of that product. Multiplied as (x × sum) × 0.5, which is the same number, the runtime
    computes all of it in a single pass.
    """
    errors = {node.outputs[0] for node in nodes if node.operator == "Erf"}
    totals = {
        node.outputs[0] for node in nodes if node.operator == "Add" and node.inputs[0] in errors
    }
    products = [node for node in nodes if node.operator == "Mul"]
    halves = {
        node.outputs[0]: (node.inputs[0], node.inputs[1])
        for node in products
        if node.inputs[1] in totals
    }
    return halves, {
        node.outputs[0]: node.inputs[1] for node in products if node.inputs[1] in halves
    }


def _look_up(weight: _Weight, places: str, output: str) -> Iterator[bytes]:
    yield _write_node("Gather", (weight.integers, places), f"{output}_found_integers")
    yield _write_node(
        "Cast", (f"{output}_found_integers",), f"{output}_found_floats", _attribute("to", _FLOAT)
    )
    yield _write_node("Gather", (weight.scale, places), f"{output}_found_scale")
    yield _write_node("Mul", (f"{output}_found_floats", f"{output}_found_scale"), output)


def _round(factor: str) -> Iterator[bytes]:
    """Scale each row to integers from 1 to 255, with 128 for zero.

    A row is multiplied by 127 / its greatest absolute value, and rounded.
    """
    yield _write_node("Abs", (factor,), f"{factor}_absolute")
    yield _write_node("ReduceMax", (f"{factor}_absolute",), f"{factor}_greatest", _last_axis())
    yield _write_node("Max", (f"{factor}_greatest", "integers_least"), f"{factor}_range")
    yield _write_node("Div", ("integers_most", f"{factor}_range"), f"{factor}_stretch")
    yield _write_node("Mul", (factor, f"{factor}_stretch"), f"{factor}_stretched")
    yield _write_node(
        "QuantizeLinear",
        (f"{factor}_stretched", "integers_whole", "integers_zero"),
        f"{factor}_integers",
    )
    yield _write_node("Mul", (f"{factor}_range", "integers_step"), f"{factor}_scale")


def _multiply(factor: str, weight: _Weight, output: str) -> Iterator[bytes]:
    yield _write_node(
        "MatMulInteger",
        (f"{factor}_integers", weight.integers, "integers_zero"),
        f"{output}_integers",
    )
    yield _write_node("Cast", (f"{output}_integers",), f"{output}_floats", _attribute("to", _FLOAT))
    yield _write_node("Mul", (f"{output}_floats", f"{factor}_scale"), f"{output}_rows")
    yield _write_node("Mul", (f"{output}_rows", weight.scale), output)


def _read_node(data: bytes) -> _Node:
    fields = list(protobuf.fields(data))
    inputs = tuple(field.data.decode() for field in fields if field.number == _INPUT)
    outputs = tuple(field.data.decode() for field in fields if field.number == _OUTPUT)
    operator = next((field.data.decode() for field in fields if field.number == _OPERATOR), "")
    return _Node(operator, inputs, outputs or ("",), data)


def _name(tensor: bytes) -> str:
    return next(
        (field.data.decode() for field in protobuf.fields(tensor) if field.number == _TENSOR_NAME),
        "",
    )


def _write_node(operator: str, inputs: Sequence[str], output: str, attribute: bytes = b"") -> bytes:
    parts = [text(_INPUT, name) for name in inputs]
    parts += [
        text(_OUTPUT, output),
        text(_NODE_NAME, f"{output}_{operator}"),
        text(_OPERATOR, operator),
    ]
    return b"".join(parts) + (block(_ATTRIBUTE, attribute) if attribute else b"")


def _attribute(name: str, value: int) -> bytes:
    return (
        text(_ATTRIBUTE_NAME, name)
        + number(_ONE_INTEGER, value)
        + number(_ATTRIBUTE_KIND, _WHOLE_NUMBER)
    )


def _last_axis() -> bytes:
    return (
        text(_ATTRIBUTE_NAME, "axes")
        + number(_INTEGERS, -1)
        + number(_ATTRIBUTE_KIND, _WHOLE_NUMBERS)
    )
