"""Hugging Face's models, as they are: tiny ones, made from their configuration, compute and learn what they do on the CPU."""

import os
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
import torch

os.environ["HF_HUB_OFFLINE"] = "1"
import transformers  # noqa: E402

from tests.compare import assert_same  # noqa: E402
from tests.device import no_fallback  # noqa: E402

_TOKENS = {"vocab_size": 64, "bos_token_id": 1, "eos_token_id": 2}
_TEXT = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4}
_DECODER = _TOKENS | _TEXT | {"num_key_value_heads": 2, "head_dim": 8, "max_position_embeddings": 32, "pad_token_id": 0}


@dataclass(frozen=True)
class Model:
    """A class of transformers, and what its configuration needs to be small and without dropout."""

    name: str
    config: str
    options: dict = field(default_factory=dict)
    inputs: Callable[[], dict[str, torch.Tensor]] = lambda: _text()

    def make(self) -> torch.nn.Module:
        torch.manual_seed(0)
        return getattr(transformers, self.name)(getattr(transformers, self.config)(**self.options))


def _text() -> dict[str, torch.Tensor]:
    ids = torch.randint(3, 64, (2, 7))
    return {"input_ids": ids, "labels": ids}


def _padded_text() -> dict[str, torch.Tensor]:
    return _text() | {"attention_mask": torch.tensor([[1] * 7, [1] * 5 + [0] * 2])}


def _image() -> dict[str, torch.Tensor]:
    return {"pixel_values": torch.randn(2, 3, 16, 16), "labels": torch.tensor([0, 2])}


def _unlabelled_text() -> dict[str, torch.Tensor]:
    return {"input_ids": _text()["input_ids"]}


_NO_DROPOUT = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
_EXPERTS = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16, "decoder_sparse_step": 1}
_WINDOW = {"sliding_window": 4, "layer_types": ["sliding_attention", "full_attention"]}
_GPT2 = {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 32, "pad_token_id": 0}
_RESNET = {"embedding_size": 8, "hidden_sizes": [8, 16], "depths": [1, 1], "layer_type": "basic", "num_labels": 3}
_T5 = {"d_model": 32, "d_kv": 8, "d_ff": 48, "num_layers": 2, "num_heads": 4, "decoder_start_token_id": 0}

GENERATORS = {
    "llama": Model("LlamaForCausalLM", "LlamaConfig", _DECODER),
    "qwen3": Model("Qwen3ForCausalLM", "Qwen3Config", _DECODER),
    "qwen3_moe": Model("Qwen3MoeForCausalLM", "Qwen3MoeConfig", _DECODER | _EXPERTS),
    "gemma3": Model("Gemma3ForCausalLM", "Gemma3TextConfig", _DECODER | _WINDOW),
    "gpt2": Model(
        "GPT2LMHeadModel", "GPT2Config", _TOKENS | _GPT2 | {"resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0}
    ),
    "t5": Model("T5ForConditionalGeneration", "T5Config", {"vocab_size": 64, "dropout_rate": 0.0} | _T5),
}
MODELS = GENERATORS | {
    "bert": Model("BertForMaskedLM", "BertConfig", {"vocab_size": 64} | _TEXT | _NO_DROPOUT, _padded_text),
    "vit": Model(
        "ViTForImageClassification",
        "ViTConfig",
        _TEXT | _NO_DROPOUT | {"image_size": 16, "patch_size": 8, "num_labels": 3},
        _image,
    ),
    "resnet": Model("ResNetForImageClassification", "ResNetConfig", _RESNET, _image),
    "clip": Model(
        "CLIPTextModelWithProjection",
        "CLIPTextConfig",
        _TOKENS | _TEXT | {"max_position_embeddings": 16, "projection_dim": 8},
        _unlabelled_text,
    ),
}


def _step(model: torch.nn.Module, inputs: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The output, the loss and all gradients; without labels the loss is the size of the output."""
    outputs = model(**inputs)
    output = outputs.logits if "logits" in outputs else outputs.text_embeds
    loss = outputs.loss if "loss" in outputs else output.square().mean()
    loss.backward()
    gradients = {name: parameter.grad for name, parameter in model.named_parameters() if parameter.grad is not None}
    return {"output": output, "loss": loss, **gradients}


def _assert_close(actual: dict[str, torch.Tensor], expected: dict[str, torch.Tensor]) -> None:
    """To 1e-4 of the size of each tensor. What is all rounding, such as the gradient of a key's bias, has none."""
    assert actual.keys() == expected.keys()
    for name, right in expected.items():
        left = actual[name].detach().cpu()
        assert (left - right).norm() <= 1e-4 * right.norm() + 1e-8 * right.numel() ** 0.5, name


@pytest.mark.parametrize("name", MODELS)
def test_a_training_step(device, name, tmp_path) -> None:
    """In float32; then the model is saved from the device, and loaded there."""
    torch.manual_seed(0)
    inputs = MODELS[name].inputs()
    ours, theirs = MODELS[name].make().to(device), MODELS[name].make()
    with no_fallback():
        actual = _step(ours, {key: value.to(device) for key, value in inputs.items()})
    _assert_close(actual, _step(theirs, inputs))

    ours.save_pretrained(tmp_path)
    loaded = type(ours).from_pretrained(tmp_path, device_map=device)
    assert {parameter.device.type for parameter in loaded.parameters()} == {device}
    assert_same(
        dict(loaded.state_dict()), {key: value.cpu() for key, value in ours.state_dict().items()}, strides=False
    )


@pytest.mark.parametrize("name", GENERATORS)
def test_generation(device, name) -> None:
    """The same tokens, one after the other, each of them the likeliest."""
    torch.manual_seed(0)
    tokens = torch.randint(3, 64, (2, 5))
    ours, theirs = MODELS[name].make().to(device).eval(), MODELS[name].make().eval()
    options = {"max_new_tokens": 4, "do_sample": False}
    with no_fallback():
        generated = ours.generate(tokens.to(device), **options)
    assert_same(generated, theirs.generate(tokens, **options), strides=False)
