"""Layouts of checkpoints: each `save_*` writes the weights of a classifier to a folder in one of the
layouts in use, as `dtype`.
"""

import json
import unittest.mock

import torch
from safetensors.torch import save_file
from transformers import BertForPreTraining

import tiny_bert


def save_safetensors(model, folder, dtype):
    save_file(tensors(model, dtype), folder / "model.safetensors", metadata={"format": "pt"})


def save_sharded_safetensors(model, folder, dtype):
    model.to(dtype).save_pretrained(folder, max_shard_size="40KB")


def save_zip(model, folder, dtype):
    torch.save(tensors(model, dtype), folder / "pytorch_model.bin")


def save_legacy(model, folder, dtype):
    torch_save_legacy(tensors(model, dtype), folder / "pytorch_model.bin")


def save_sharded_zip(model, folder, dtype):
    """Saves three files and pytorch_model.bin.index.json, with tensors distributed round-robin."""
    weights = tensors(model, dtype)
    files = [f"pytorch_model-{part:05}-of-00003.bin" for part in (1, 2, 3)]
    weight_map = {name: files[place % 3] for place, name in enumerate(weights)}
    for file in files:
        part = {name: weights[name] for name in weights if weight_map[name] == file}
        torch.save(part, folder / file)
    total = sum(tensor.nbytes for tensor in weights.values())
    index = {"metadata": {"total_size": total}, "weight_map": dict(sorted(weight_map.items()))}
    (folder / "pytorch_model.bin.index.json").write_text(json.dumps(index, indent=2) + "\n")


def save_gamma_beta(model, folder, dtype):
    """Saves layer norms with the names of the first BERT checkpoints."""
    save_file(old_norm_names(tensors(model, dtype)), folder / "model.safetensors")


def save_base_model(model, folder, dtype):
    """Saves a BertModel: names without the prefix `bert.`, and no classifier."""
    save_file(tensors(model.bert, dtype), folder / "model.safetensors", metadata={"format": "pt"})


def save_pretraining(model, folder, dtype):
    """Saves a BertForPreTraining like early transformers: old layer-norm names, additional heads, a
    decoder that shares its storage with the word embeddings, and the position_ids buffer."""
    torch.save(old_norm_names(pretraining_tensors(model, dtype)), folder / "pytorch_model.bin")


def save_pretraining_legacy(model, folder, dtype):
    """Saves the same additional heads with new names, in the layout before the zip archive, with the few
    keys of the published bert-tiny's config.json."""
    torch_save_legacy(pretraining_tensors(model, dtype), folder / "pytorch_model.bin")
    keys = (
        "hidden_size hidden_act initializer_range vocab_size hidden_dropout_prob "
        "num_attention_heads type_vocab_size max_position_embeddings num_hidden_layers "
        "intermediate_size attention_probs_dropout_prob"
    ).split()
    minimal = {key: getattr(model.config, key) for key in keys}
    (folder / "config.json").write_text(json.dumps(minimal))


def save_views(model, folder, dtype):
    """Saves all tensors as views of one storage, with transposed matrices and layer norms as Parameters.
    Readers must respect offsets, strides and torch's `_rebuild_parameter`."""
    weights = tensors(model, dtype)
    storage = torch.empty(sum(tensor.numel() for tensor in weights.values()), dtype=dtype)
    views, offset = {}, 0
    for name, tensor in weights.items():
        part = storage[offset : offset + tensor.numel()]
        view = part.view(tensor.shape[::-1]).T if tensor.dim() == 2 else part
        view.copy_(tensor)
        views[name] = torch.nn.Parameter(view) if "LayerNorm" in name else view
        offset += tensor.numel()
    torch.save(views, folder / "pytorch_model.bin")


def tensors(model, dtype):
    """Returns the state dictionary in `dtype`, with torch's order and `_metadata` attribute."""
    weights = model.state_dict()
    for name in weights:
        weights[name] = weights[name].to(dtype)
    return weights


def old_norm_names(weights):
    def renamed(name):
        return name.replace("LayerNorm.weight", "LayerNorm.gamma").replace(
            "LayerNorm.bias", "LayerNorm.beta"
        )

    return {renamed(name): tensor for name, tensor in weights.items()}


def pretraining_tensors(model, dtype):
    heads = BertForPreTraining(model.config)
    tiny_bert.set_weights(heads, seed=1, scale=0.4)
    heads.bert.load_state_dict(model.bert.state_dict(), strict=False)
    heads.tie_weights()
    positions = torch.arange(model.config.max_position_embeddings).unsqueeze(0)
    return {"bert.embeddings.position_ids": positions} | dict(tensors(heads, dtype))


def torch_save_legacy(weights, path):
    """Runs torch.save in its old layout, with numbered storage keys: torch derives them from addresses,
    which differ from run to run."""
    ordinals = {}

    def ordinal(storage):
        return 1000 + ordinals.setdefault(storage.data_ptr(), len(ordinals))

    with unittest.mock.patch.object(torch.UntypedStorage, "_cdata", property(ordinal), create=True):
        torch.save(weights, path, _use_new_zipfile_serialization=False)
