"""A tiny MusicGen with random weights, in the layout of transformers. It is made in a second, and makes noise."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

torch: Any = import_module("torch")
transformers: Any = import_module("transformers")
tokenizers: Any = import_module("tokenizers")
RATE = 8000
"""Samples a second of the model's sound."""


def musicgen(folder: Path) -> Path:
    """A folder with a model of two layers, and a tokenizer that knows letters."""
    torch.manual_seed(0)
    words = [
        ("<pad>", 0.0),
        ("</s>", 0.0),
        ("<unk>", 0.0),
        ("▁", -2.0),
        *((chr(code), -3.0) for code in range(97, 123)),
    ]
    tokenizer = tokenizers.Tokenizer(tokenizers.models.Unigram(words, unk_id=2))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace()
    wrapped = transformers.T5TokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", eos_token="</s>", unk_token="<unk>", extra_ids=0
    )
    text = transformers.T5Config(vocab_size=len(words), d_model=16, d_kv=4, d_ff=16, num_layers=1, num_heads=2)
    sound = transformers.EncodecConfig(
        sampling_rate=RATE, num_filters=4, hidden_size=8, codebook_size=32, codebook_dim=8, num_lstm_layers=1,
        upsampling_ratios=[8, 5, 4], target_bandwidths=[2.0], audio_channels=1,
    )  # fmt: skip
    decoder = transformers.MusicgenDecoderConfig(
        vocab_size=32, num_hidden_layers=2, ffn_dim=16, num_attention_heads=2, hidden_size=16, num_codebooks=4,
        bos_token_id=32, pad_token_id=32, max_position_embeddings=2048,
    )  # fmt: skip
    model = transformers.MusicgenForConditionalGeneration(
        transformers.MusicgenConfig(
            text_encoder=text.to_dict(), audio_encoder=sound.to_dict(), decoder=decoder.to_dict()
        )
    )
    for layer in model.audio_encoder.quantizer.layers:
        layer.codebook.embed.normal_()  # all are zero at first, so that any tokens would sound the same
    model.generation_config.update(
        decoder_start_token_id=32, pad_token_id=32, bos_token_id=32, guidance_scale=3.0, do_sample=True, max_length=1500
    )
    model.save_pretrained(folder)
    features = transformers.EncodecFeatureExtractor(feature_size=1, sampling_rate=RATE)
    transformers.MusicgenProcessor(features, wrapped).save_pretrained(folder)
    return folder
