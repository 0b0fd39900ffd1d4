"""Writes low-rank adapters saved by PEFT, with its logits and gradients.

    python tools/golden/adapters.py

Writes tests/models/golden/adapters/NAME/ as PeftModel.save_pretrained does (adapter_config.json,
adapter_model.safetensors, no model card), on a base from tests/frontends/golden/, and expected.json:
`base`, its folder; `logits` and `logits_f64` (all arithmetic in float64) of the first two batches of
the base's expected.json; `merged_f64`, those of the second batch after merge_and_unload; and
`trainable`, the number of parameters that PEFT trains. gradients.safetensors has the loss of the
second batch and its gradients for all trained parameters, in float64, without dropout.

B is random, because an adapter with zero B has no effect.

READ lists adapters that hone reads but does not write: they have no gradients and no `trainable`.
"""

import copy
import json
import pathlib
import shutil

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from safetensors.torch import load_file, save_file
from transformers import AutoModelForSequenceClassification

import tiny_bert

FOLDER = tiny_bert.ROOT / "tests" / "models" / "golden" / "adapters"
PREFIX = "base_model.model."

CASES = {
    # PEFT's own choice of linears for BERT: query and value.
    "defaults": ("safetensors", dict(r=2, lora_alpha=6, lora_dropout=0.25, task_type="SEQ_CLS")),
    "rank_stabilized": (
        "safetensors",
        dict(r=3, lora_alpha=4, use_rslora=True, target_modules="all-linear", task_type="SEQ_CLS"),
    ),
    # No separate head: the classifier is adapted like all other linears.
    "without_head": ("safetensors", dict(r=2, target_modules=["key", "dense", "classifier"])),
    # A head of two linears, chosen by a regular expression, in some layers.
    "roberta": (
        "roberta",
        dict(r=2, target_modules=r".*\.attention\.self\.(query|key)", task_type="SEQ_CLS"),
    ),
    "distilbert": (
        "distilbert",
        dict(
            r=2,
            lora_alpha=1,
            target_modules=["q_lin", "ffn.lin1", "out_lin"],
            exclude_modules=["out_lin"],
            layers_to_transform=[1],
            modules_to_save=["pre_classifier", "classifier"],
        ),
    ),
}

READ = {
    # Separate ranks and scales of some linears.
    "patterns": dict(
        r=3,
        lora_alpha=6,
        target_modules=["query", "value", "dense"],
        rank_pattern={"value": 2, "layer.0.output.dense": 1},
        alpha_pattern={"query": 16, "^bert.pooler.dense": 3},
        task_type="SEQ_CLS",
    ),
    # Biases of the base, of linears with and without an adapter.
    "biases": dict(r=2, lora_alpha=6, target_modules=["query"], bias="all", task_type="SEQ_CLS"),
    # An encoder without a head: names have no prefix "bert.".
    "encoder": dict(r=2, lora_alpha=6, target_modules=["query"], task_type="FEATURE_EXTRACTION"),
}
BINARY = {"encoder"}  # adapter_model.bin, as older versions of PEFT write


def batches(base):
    known = json.loads((tiny_bert.MODELS / base / "expected.json").read_text())["inputs"][:2]
    names = ("input_ids", "attention_mask", "token_type_ids", "labels")
    return [
        {name: torch.tensor(batch[name]) for name in names if name in batch} for batch in known
    ]


def open_base(base):
    return AutoModelForSequenceClassification.from_pretrained(
        tiny_bert.MODELS / base, attn_implementation="eager"
    ).eval()


def logits(model, batch):
    with torch.no_grad():
        return model(**batch).logits.double()


def draw_trained(model, seed):
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for _, parameter in model.named_parameters():
            if parameter.requires_grad:
                draw = torch.randint(-64, 65, parameter.shape, generator=generator)
                parameter.copy_(draw / 512)


def saved_name(name):
    return name.replace(".default", "").replace("modules_to_save.", "")


def write_gradients(model, batch, folder):
    model.zero_grad()
    loss = model(**batch).loss
    loss.backward()
    tensors = {
        saved_name(name).removeprefix(PREFIX): parameter.grad.contiguous()
        for name, parameter in model.named_parameters()
        if parameter.requires_grad
    }
    save_file(tensors | {"loss": loss.detach()}, folder / "gradients.safetensors")


def write(name, base, settings, seed):
    folder = FOLDER / name
    model = get_peft_model(open_base(base), LoraConfig(**settings)).eval()
    draw_trained(model, seed)
    model.save_pretrained(folder)
    tidy(folder, base)
    again = PeftModel.from_pretrained(open_base(base), folder).eval()
    first, second = batches(base)
    exact = copy.deepcopy(model).double()
    for batch in (first, second):
        assert torch.equal(logits(again, batch), logits(model, batch)), name
        base_logits = logits(open_base(base).double(), batch)
        assert (logits(exact, batch) - base_logits).abs().max() > 0.01, name
    expected = {
        "base": base,
        "trainable": sum(p.numel() for p in model.parameters() if p.requires_grad),
        "logits": [logits(model, batch).tolist() for batch in (first, second)],
        "logits_f64": [logits(exact, batch).tolist() for batch in (first, second)],
        "merged_f64": logits(copy.deepcopy(exact).merge_and_unload(), second).tolist(),
    }
    (folder / "expected.json").write_text(json.dumps(expected) + "\n")
    write_gradients(exact, second, folder)


def tidy(folder, base):
    (folder / "README.md").unlink()
    config = json.loads((folder / "adapter_config.json").read_text())
    config["base_model_name_or_path"] = f"tiny/{base}"  # instead of a path of this machine
    for key in ("target_modules", "modules_to_save", "exclude_modules"):  # sets, in any order
        if isinstance(config[key], list):
            config[key] = sorted(config[key])
    (folder / "adapter_config.json").write_text(json.dumps(config, indent=2, sort_keys=True) + "\n")


def write_read_only(name, settings, seed, base="safetensors"):
    folder = FOLDER / name
    headless = settings["task_type"] == "FEATURE_EXTRACTION"

    def adapted(make):
        model = open_base(base)
        if not headless:
            return make(model).eval()
        model.bert = make(model.bert)
        return model.eval()

    model = adapted(lambda plain: get_peft_model(plain, LoraConfig(**settings)))
    draw_trained(model.bert if headless else model, seed)
    (model.bert if headless else model).save_pretrained(folder)
    if name in BINARY:
        weights = folder / "adapter_model.safetensors"
        torch.save(load_file(weights), folder / "adapter_model.bin")
        weights.unlink()
    tidy(folder, base)
    again = adapted(lambda plain: PeftModel.from_pretrained(plain, folder))
    exact = copy.deepcopy(model).double()
    for batch in batches(base):
        assert torch.equal(logits(again, batch), logits(model, batch)), name
    expected = {
        "base": base,
        "logits_f64": [logits(exact, batch).tolist() for batch in batches(base)],
    }
    (folder / "expected.json").write_text(json.dumps(expected) + "\n")


def main():
    tiny_bert.prepare()
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    for seed, (name, (base, settings)) in enumerate(CASES.items(), start=1):
        write(name, base, settings, seed)
    for seed, (name, settings) in enumerate(READ.items(), start=len(CASES) + 1):
        write_read_only(name, settings, seed)
    print(*sorted(pathlib.Path(FOLDER).iterdir()), sep="\n")


if __name__ == "__main__":
    main()
