"""Tiny models with random weights, in the layout of diffusers. They are made in a second, and draw noise."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

diffusers: Any = import_module("diffusers")
torch: Any = import_module("torch")
transformers: Any = import_module("transformers")
tokenizers: Any = import_module("tokenizers")
_LETTERS = [chr(code) for code in range(97, 123)]


def sdxl(folder: Path) -> Path:
    """A Stable Diffusion XL pipeline."""
    torch.manual_seed(0)
    tokenizer, text = _clip(folder)
    unet = diffusers.UNet2DConditionModel(
        block_out_channels=(2, 4),
        layers_per_block=1,
        sample_size=16,
        in_channels=4,
        out_channels=4,
        down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
        up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
        attention_head_dim=(2, 4),
        use_linear_projection=True,
        addition_embed_type="text_time",
        addition_time_embed_dim=8,
        transformer_layers_per_block=(1, 1),
        projection_class_embeddings_input_dim=80,
        cross_attention_dim=64,
        norm_num_groups=1,
    )
    pipeline = diffusers.StableDiffusionXLPipeline(
        vae=_vae(4),
        text_encoder=transformers.CLIPTextModel(text),
        text_encoder_2=transformers.CLIPTextModelWithProjection(text),
        tokenizer=tokenizer,
        tokenizer_2=tokenizer,
        unet=unet,
        scheduler=diffusers.EulerDiscreteScheduler(),
    )
    return _saved(pipeline, folder / "sdxl")


def flux(folder: Path) -> Path:
    """A FLUX.1 pipeline."""
    torch.manual_seed(0)
    tokenizer, text = _clip(folder)
    t5_tokenizer, t5 = _t5()
    transformer = diffusers.FluxTransformer2DModel(
        patch_size=1,
        in_channels=4,
        num_layers=1,
        num_single_layers=1,
        attention_head_dim=16,
        num_attention_heads=2,
        joint_attention_dim=32,
        pooled_projection_dim=32,
        axes_dims_rope=(4, 4, 8),
    )
    pipeline = diffusers.FluxPipeline(
        scheduler=diffusers.FlowMatchEulerDiscreteScheduler(),
        vae=_vae(1),
        text_encoder=transformers.CLIPTextModel(text),
        tokenizer=tokenizer,
        text_encoder_2=t5,
        tokenizer_2=t5_tokenizer,
        transformer=transformer,
    )
    return _saved(pipeline, folder / "flux")


def ltx(folder: Path) -> Path:
    """An LTX pipeline, which makes videos."""
    torch.manual_seed(0)
    tokenizer, t5 = _t5()
    transformer = diffusers.LTXVideoTransformer3DModel(
        in_channels=8,
        out_channels=8,
        num_attention_heads=4,
        attention_head_dim=8,
        cross_attention_dim=32,
        num_layers=1,
        caption_channels=32,
    )
    vae = diffusers.AutoencoderKLLTXVideo(
        latent_channels=8,
        block_out_channels=(8, 8, 8, 8),
        decoder_block_out_channels=(8, 8, 8, 8),
        layers_per_block=(1, 1, 1, 1, 1),
        decoder_layers_per_block=(1, 1, 1, 1, 1),
        spatio_temporal_scaling=(True, True, False, False),
        decoder_spatio_temporal_scaling=(True, True, False, False),
        patch_size=1,
    )
    vae.use_framewise_encoding = vae.use_framewise_decoding = False
    pipeline = diffusers.LTXPipeline(
        scheduler=diffusers.FlowMatchEulerDiscreteScheduler(),
        vae=vae,
        text_encoder=t5,
        tokenizer=tokenizer,
        transformer=transformer,
    )
    return _saved(pipeline, folder / "ltx")


def _saved(pipeline: Any, folder: Path) -> Path:
    pipeline.save_pretrained(folder)
    return folder


def _vae(channels: int) -> Any:
    return diffusers.AutoencoderKL(
        block_out_channels=(8, 16),
        norm_num_groups=4,
        down_block_types=("DownEncoderBlock2D", "DownEncoderBlock2D"),
        up_block_types=("UpDecoderBlock2D", "UpDecoderBlock2D"),
        latent_channels=channels,
        sample_size=32,
        shift_factor=0.1,
        scaling_factor=0.5,
        use_quant_conv=channels == 4,
        use_post_quant_conv=channels == 4,
    )


def _clip(folder: Path) -> tuple[Any, Any]:
    """A tokenizer that knows letters, and the settings of a text encoder for it."""
    source = folder / "letters"
    source.mkdir(parents=True, exist_ok=True)
    words = [*_LETTERS, *(f"{letter}</w>" for letter in _LETTERS), "<|startoftext|>", "<|endoftext|>"]
    (source / "vocab.json").write_text(json.dumps({word: index for index, word in enumerate(words)}))
    (source / "merges.txt").write_text("#version: 0.2\n")
    settings = transformers.CLIPTextConfig(
        hidden_size=32,
        intermediate_size=37,
        num_attention_heads=4,
        num_hidden_layers=2,
        vocab_size=len(words),
        projection_dim=32,
        hidden_act="gelu",
        bos_token_id=len(words) - 2,
        eos_token_id=len(words) - 1,
    )
    return transformers.CLIPTokenizer.from_pretrained(source, model_max_length=77), settings


def _t5() -> tuple[Any, Any]:
    """A tokenizer that knows letters, and a text encoder for it."""
    words = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), ("▁", -2.0), *((letter, -3.0) for letter in _LETTERS)]
    tokenizer = tokenizers.Tokenizer(tokenizers.models.Unigram(words, unk_id=2))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace()
    wrapped = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", eos_token="</s>", unk_token="<unk>", model_max_length=64
    )
    settings = transformers.T5Config(
        vocab_size=len(words), d_model=32, d_kv=8, d_ff=37, num_layers=1, num_heads=4, decoder_start_token_id=0
    )
    return wrapped, transformers.T5EncoderModel(settings)
