"""A BERT encoder as a graph for ONNX Runtime, from the weights as PyTorch saves them.

Exporting the model would need torch, which takes longer to import than the whole graph takes to build. The
operators are the fused ones that ONNX Runtime has for BERT: attention of all heads, the sum of two branches
with its normalisation, and GELU with its bias.

    tokens ─> embeddings ─> [attention ─> sum, norm ─> MLP ─> sum, norm] x layers ─> one vector per token
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

Weights = Mapping[str, NDArray[np.float32]]
_FUSED = "com.microsoft"
_IR, _OPSET = 8, 17  # old enough for every release of ONNX Runtime since 2022


class _Graph:
    """Nodes and weights that are collected for one graph."""

    def __init__(self, weights: Weights, epsilon: float) -> None:
        self._weights, self._epsilon = weights, epsilon
        self.nodes: list[Any] = []
        self.initializers: list[Any] = []

    def weight(self, name: str, values: NDArray[np.float32]) -> str:
        """Add values as a constant, and return its name."""
        self.initializers.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def given(self, name: str) -> str:
        """A vector of the checkpoint as a constant."""
        return self.weight(name, self._weights[name])

    def matrix(self, *names: str) -> str:
        """Linear layers of the checkpoint, which are stored transposed, as one matrix side by side."""
        both = np.concatenate([self._weights[f"{name}.weight"].T for name in names], axis=1)
        return self.weight(f"{names[0]}.weight", both)

    def bias(self, *names: str) -> str:
        """The biases of those layers."""
        return self.weight(f"{names[0]}.bias", np.concatenate([self._weights[f"{n}.bias"] for n in names]))

    def add(self, operator: str, inputs: list[str], output: str, domain: str = "", **options: Any) -> str:
        """Add a node, and return the name of its output."""
        self.nodes.append(helper.make_node(operator, inputs, [output], domain=domain, **options))
        return output

    def fused(self, operator: str, inputs: list[str], output: str, **options: Any) -> str:
        """Add a node with an operator of ONNX Runtime."""
        return self.add(operator, inputs, output, _FUSED, **options)

    def normed_sum(self, rows: str, other: str, norm: str, bias: str, output: str) -> str:
        """The sum of two branches and a bias, normalised."""
        inputs = [rows, other, self.given(f"{norm}.weight"), self.given(f"{norm}.bias"), self.bias(bias)]
        return self.fused("SkipLayerNormalization", inputs, output, epsilon=self._epsilon)


def bert_graph(weights: Weights, config: Mapping[str, Any]) -> bytes:
    """The encoder as a serialised ONNX model.

    Its inputs are `ids`, shape (texts, tokens), padded at the end, and `lengths`, shape (texts,), both int32.
    Its output is `hidden`, shape (texts, tokens, width).

    Args:
        weights: The checkpoint, by the names of `transformers`.
        config: The content of `config.json`.

    Raises:
        ValueError: The model is no BERT encoder with exact GELU and learned positions.
    """
    _require_bert(config)
    graph = _Graph(weights, float(config["layer_norm_eps"]))
    rows = _embedded(graph, weights, float(config["layer_norm_eps"]))
    for layer in range(config["num_hidden_layers"]):
        rows = _layer(graph, rows, f"encoder.layer.{layer}", config["num_attention_heads"])
    graph.add("Identity", [rows], "hidden")
    value = helper.make_tensor_value_info
    model = helper.make_model(
        helper.make_graph(
            graph.nodes,
            "bert",
            [
                value("ids", TensorProto.INT32, ["texts", "tokens"]),
                value("lengths", TensorProto.INT32, ["texts"]),
            ],
            [value("hidden", TensorProto.FLOAT, ["texts", "tokens", config["hidden_size"]])],
            graph.initializers,
        ),
        opset_imports=[helper.make_opsetid("", _OPSET), helper.make_opsetid(_FUSED, 1)],
        ir_version=_IR,
    )
    assert isinstance(model, onnx.ModelProto)  # noqa: S101 - the library has no types
    return bytes(model.SerializeToString())


def _require_bert(config: Mapping[str, Any]) -> None:
    positions = config.get("position_embedding_type", "absolute")
    kind = (config.get("model_type"), config.get("hidden_act"), positions)
    if kind != ("bert", "gelu", "absolute"):
        raise ValueError(f"a model with {kind} is no BERT encoder with GELU and absolute positions")


def _embedded(graph: _Graph, weights: Weights, epsilon: float) -> str:
    # All tokens have the type 0, whose vector is a part of the positions here.
    positions = weights["embeddings.position_embeddings.weight"]
    positions = positions + weights["embeddings.token_type_embeddings.weight"][0]
    inputs = [
        "ids",
        "",
        graph.given("embeddings.word_embeddings.weight"),
        graph.weight("embeddings.position_embeddings.weight", positions),
        "",
        graph.given("embeddings.LayerNorm.weight"),
        graph.given("embeddings.LayerNorm.bias"),
    ]
    outputs = ["embedded", "unused_mask"]
    node = helper.make_node("EmbedLayerNormalization", inputs, outputs, domain=_FUSED, epsilon=epsilon)
    graph.nodes.append(node)
    return "embedded"


def _layer(graph: _Graph, rows: str, name: str, heads: int) -> str:
    attention, between, after = f"{name}.attention", f"{name}.intermediate.dense", f"{name}.output"
    parts = [f"{attention}.self.{part}" for part in ("query", "key", "value")]
    read = graph.fused(
        "Attention",
        [rows, graph.matrix(*parts), graph.bias(*parts), "lengths"],
        f"{name}.read",
        num_heads=heads,
    )
    mixed = graph.add("MatMul", [read, graph.matrix(f"{attention}.output.dense")], f"{name}.mixed")
    summed = graph.normed_sum(
        mixed, rows, f"{attention}.output.LayerNorm", f"{attention}.output.dense", f"{name}.summed"
    )
    wide = graph.add("MatMul", [summed, graph.matrix(between)], f"{name}.wide")
    active = graph.fused("BiasGelu", [wide, graph.bias(between)], f"{name}.active")
    narrow = graph.add("MatMul", [active, graph.matrix(f"{after}.dense")], f"{name}.narrow")
    return graph.normed_sum(narrow, summed, f"{after}.LayerNorm", f"{after}.dense", f"{name}.rows")
