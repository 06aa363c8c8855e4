"""Small sentence models of the architecture BERT: GGUF files with random weights, and the same computed by NumPy.

Keys and names of tensors: gguf-py/gguf/constants.py of https://github.com/ggml-org/llama.cpp; the layout is that of
https://github.com/ggml-org/ggml/blob/master/docs/gguf.md.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

WIDTH, HEADS, INNER, LAYERS, CONTEXT = 32, 2, 64, 2, 64
MEAN, RANK = 1, 4
WORDS = ["a", "cat", "dog", "purrs", "barks", "who", "the", "stock", "market", "fell"]
TOKENS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *(f"\u2581{word}" for word in WORDS)]
_CLS, _SEP = 2, 3
_EPSILON = 1e-12
_ALIGNMENT = 32
_UINT32, _INT32, _FLOAT32, _BOOL, _TEXT, _ARRAY = 4, 5, 6, 7, 8, 9


class Weights(dict[str, Any]):
    """Random tensors by name, and the model that they are."""

    def __init__(self, *, ranks: bool = False) -> None:
        super().__init__()
        random = np.random.default_rng(37)

        def linear(name: str, rows: int, columns: int) -> None:
            self[f"{name}.weight"] = random.normal(0, 0.3, (rows, columns)).astype("f4")
            self[f"{name}.bias"] = random.normal(0, 0.3, rows).astype("f4")

        def norm(name: str) -> None:
            self[f"{name}.weight"] = random.normal(1, 0.1, WIDTH).astype("f4")
            self[f"{name}.bias"] = random.normal(0, 0.1, WIDTH).astype("f4")

        for name, rows in {"token_embd": len(TOKENS), "token_types": 2, "position_embd": CONTEXT}.items():
            self[f"{name}.weight"] = random.normal(0, 1, (rows, WIDTH)).astype("f4")
        norm("token_embd_norm")
        for layer in range(LAYERS):
            for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
                linear(f"blk.{layer}.{name}", WIDTH, WIDTH)
            linear(f"blk.{layer}.ffn_up", INNER, WIDTH)
            linear(f"blk.{layer}.ffn_down", WIDTH, INNER)
            norm(f"blk.{layer}.attn_output_norm")
            norm(f"blk.{layer}.layer_output_norm")
        if ranks:
            linear("cls", WIDTH, WIDTH)
            linear("cls.output", 1, WIDTH)

    def hidden(self, tokens: Sequence[int]) -> Any:
        """Returns the vectors of tokens after the last layer."""
        x = self["token_embd.weight"][[*tokens]] + self["token_types.weight"][0]
        x = self._norm(x + self["position_embd.weight"][: len(tokens)], "token_embd_norm")
        for layer in range(LAYERS):
            x = self._norm(x + self._attention(x, f"blk.{layer}"), f"blk.{layer}.attn_output_norm")
            inner = self._linear(x, f"blk.{layer}.ffn_up")
            inner = 0.5 * inner * (1 + np.tanh(0.7978845608 * (inner + 0.044715 * inner**3)))
            x = self._norm(x + self._linear(inner, f"blk.{layer}.ffn_down"), f"blk.{layer}.layer_output_norm")
        return x

    def vector(self, text: str) -> Any:
        """Returns the mean of the vectors of the tokens of a text, with length 1."""
        mean = self.hidden([_CLS, *_tokens_of(text), _SEP]).mean(axis=0)
        return mean / np.linalg.norm(mean)

    def score(self, query: str, document: str) -> float:
        """Returns how well a document answers a query."""
        tokens = [_CLS, *_tokens_of(query), _SEP, *_tokens_of(document)]  # no end: the file does not ask for one
        first = np.tanh(self._linear(self.hidden(tokens)[:1], "cls"))
        return float(self._linear(first, "cls.output")[0, 0])

    def _linear(self, x: Any, name: str) -> Any:
        return x @ self[f"{name}.weight"].T + self[f"{name}.bias"]

    def _norm(self, x: Any, name: str) -> Any:
        scaled = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + _EPSILON)
        return scaled * self[f"{name}.weight"] + self[f"{name}.bias"]

    def _attention(self, x: Any, block: str) -> Any:
        size = WIDTH // HEADS
        q, k, v = (
            self._linear(x, f"{block}.attn_{each}").reshape(len(x), HEADS, size).transpose(1, 0, 2) for each in "qkv"
        )
        weights = np.exp(q @ k.transpose(0, 2, 1) / np.sqrt(size))
        mixed = (weights / weights.sum(-1, keepdims=True)) @ v
        return self._linear(mixed.transpose(1, 0, 2).reshape(len(x), WIDTH), f"{block}.attn_output")


def _tokens_of(text: str) -> list[int]:
    return [TOKENS.index(f"\u2581{word}") for word in text.split()]


def write_model(path: Path, weights: Mapping[str, Any], pooling: int | None = MEAN) -> Path:
    """Writes a model, and returns `path`."""
    facts: dict[str, Any] = {
        "general.architecture": "bert",
        "bert.block_count": LAYERS,
        "bert.context_length": CONTEXT,
        "bert.embedding_length": WIDTH,
        "bert.feed_forward_length": INNER,
        "bert.attention.head_count": HEADS,
        "bert.attention.layer_norm_epsilon": _EPSILON,
        "bert.attention.causal": False,
        "tokenizer.ggml.model": "bert",
        "tokenizer.ggml.pre": "jina-v2-en",
        "tokenizer.ggml.tokens": TOKENS,
        "tokenizer.ggml.token_type": [3] * 5 + [1] * len(WORDS),
        "tokenizer.ggml.token_type_count": 2,
        "tokenizer.ggml.padding_token_id": 0,
        "tokenizer.ggml.unknown_token_id": 1,
        "tokenizer.ggml.bos_token_id": _CLS,
        "tokenizer.ggml.eos_token_id": _SEP,
        "tokenizer.ggml.cls_token_id": _CLS,
        "tokenizer.ggml.seperator_token_id": _SEP,
        "tokenizer.ggml.mask_token_id": 4,
    }
    if pooling is not None:
        facts["bert.pooling_type"] = pooling
    path.write_bytes(gguf(facts, weights))
    return path


def gguf(facts: Mapping[str, Any], tensors: Mapping[str, Any]) -> bytes:
    """Returns a file with these facts and tensors of float32."""
    header = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(facts))
    header += b"".join(_text(name) + _typed(value) for name, value in facts.items())
    data = b""
    for name, tensor in tensors.items():
        shape = tensor.shape[::-1]
        header += _text(name) + struct.pack(f"<I{len(shape)}Q", len(shape), *shape) + struct.pack("<IQ", 0, len(data))
        data += tensor.tobytes()
        data += bytes(-len(data) % _ALIGNMENT)
    return header + bytes(-len(header) % _ALIGNMENT) + data


def _typed(value: Any) -> bytes:
    if isinstance(value, list):
        kind = _TEXT if isinstance(value[0], str) else _INT32
        items = b"".join(_text(each) if isinstance(each, str) else struct.pack("<i", each) for each in value)
        return struct.pack("<IIQ", _ARRAY, kind, len(value)) + items
    if isinstance(value, bool):
        return struct.pack("<I?", _BOOL, value)
    if isinstance(value, str):
        return struct.pack("<I", _TEXT) + _text(value)
    return struct.pack("<If", _FLOAT32, value) if isinstance(value, float) else struct.pack("<II", _UINT32, value)


def _text(text: str) -> bytes:
    content = text.encode()
    return struct.pack("<Q", len(content)) + content
