"""`MusicgenModel`: MusicGen of transformers, loaded once; makes samples of a text."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from importlib import import_module
from typing import Any

from abstractcore import MissingExtraError, ModelStoreError, UnsupportedContentError
from abstractcore.schema import install_hint

_KINDS = ("musicgen", "musicgen_melody")


class MusicgenModel:
    """A model in a folder, or by its name on the Hugging Face hub. It is loaded by the first call, which blocks.

    `device` is a name of torch, such as "cpu", "cuda" or "mps"; `dtype` a type of torch, such as "bfloat16".
    """

    def __init__(self, source: str, device: str | None, dtype: str | None, threads: int) -> None:
        self._source = source
        self._device = device
        self._dtype = dtype
        self._threads = threads
        self._loaded: tuple[Any, Any] | None = None
        self._lock = threading.Lock()

    def samples(
        self,
        prompt: str,
        seconds: float,
        seed: int | None,
        settings: dict[str, Any],
        step: Callable[[int, int], object],
    ) -> tuple[Any, int]:
        """Returns the samples, of shape (channels, length), and their rate a second.

        `step` gets the number of tokens that are made, and of all; an exception of it ends the call. `settings` are
        those of transformers' `generate`. Calls run one after the other, since torch has one source of randomness.
        """
        torch = library("torch")
        with self._lock:
            processor, model = self._loaded = self._loaded or self._load(torch)
            encoder = model.config.audio_encoder
            tokens = max(1, round(seconds * encoder.frame_rate)) + model.config.decoder.num_codebooks
            given = processor(text=[prompt], padding=True, return_tensors="pt").to(model.device)
            devices = [model.device] if model.device.type == "cuda" else []
            with torch.inference_mode(), torch.random.fork_rng(devices=devices):
                if seed is not None:
                    torch.manual_seed(seed)
                criteria = library("transformers").StoppingCriteriaList([_criterion(torch, step, tokens)])
                made = model.generate(
                    **given, do_sample=True, max_new_tokens=tokens, stopping_criteria=criteria, **settings
                )
        return made[0].float().cpu().numpy(), int(encoder.sampling_rate)

    def _load(self, torch: Any) -> tuple[Any, Any]:
        transformers = library("transformers")
        device = self._device or _best_device(torch)
        if device == "cpu":
            torch.set_num_threads(self._threads)
        dtype = getattr(torch, self._dtype or ("float32" if device == "cpu" else "float16"), None)
        if not isinstance(dtype, torch.dtype):
            raise ModelStoreError(f"torch has no type {self._dtype!r}", hint="Set music_dtype='bfloat16', for example.")
        local = os.path.isdir(self._source)
        try:
            config = transformers.AutoConfig.from_pretrained(self._source, local_files_only=local)
            if config.model_type not in _KINDS:
                kind = f"a model of the type {config.model_type!r}"
                raise UnsupportedContentError(f"{self._source} is {kind}", hint="Name a model of the type 'musicgen'.")
            processor = transformers.AutoProcessor.from_pretrained(self._source, local_files_only=local)
            auto = transformers.AutoModelForTextToWaveform
            model = auto.from_pretrained(self._source, dtype=dtype, local_files_only=local)
        except UnsupportedContentError:
            raise
        except Exception as error:  # of many libraries: no network, no such model, a damaged file
            why = " ".join(str(error).split())[:300] or type(error).__name__
            hint = "music_model is a folder with config.json, or the name of a model on the Hugging Face hub."
            raise ModelStoreError(f"the model {self._source[:60]} cannot be loaded: {why}", hint=hint) from None
        return processor, model.to(device).eval()


def _criterion(torch: Any, step: Callable[[int, int], object], total: int) -> Any:
    """Returns a criterion of transformers that never stops: it is asked after each token, and reports it."""
    made = 0

    def reported(tokens: Any, scores: Any, **_: Any) -> Any:
        nonlocal made
        made += 1
        step(min(made, total), total)
        return torch.zeros(tokens.shape[0], dtype=torch.bool, device=tokens.device)

    return reported


def library(name: str) -> Any:
    """Returns a library; raises `MissingExtraError` with what to install."""
    try:
        return import_module(name)
    except ImportError as error:
        missing = error.name or name
        raise MissingExtraError(
            f"MusicGen needs the package {missing}", hint=install_hint("torch", "transformers")
        ) from None


def _best_device(torch: Any) -> str:
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"
