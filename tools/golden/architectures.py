"""Writes tiny random classifiers of the architectures other than BERT as Hugging Face folders, with
transformers' outputs.

    python tools/golden/architectures.py [NAME…]

Writes tests/frontends/golden/NAME/ with config.json, model.safetensors and expected.json: batches with
`logits` (float32, eager attention, one thread), `logits_f64`, `loss_f64` and `first_token_f64`, the
hidden state of the first token after the last layer (all arithmetic in float64). Folders without a
classifier have `first_token_f64` only. Padding is the pad_token_id of the config, on the right, on
the left and, in the last batch, in the middle of a text.
Every folder is checked by reading it back with transformers.
The folders are emptied first, so run gradients.py afterwards.
"""

import dataclasses
import shutil
import sys

import numpy
import torch
import transformers
from safetensors.torch import save_file

import tiny_bert


@dataclasses.dataclass
class Case:
    """One folder: its name, its model, and the class that the model is saved as."""

    name: str
    family: str  # prefix of transformers' classes: "Roberta" for RobertaForSequenceClassification
    settings: dict
    saved_as: str = "ForSequenceClassification"
    bare_names: bool = False  # names without the encoder's prefix
    surplus: tuple = ()  # additional tensors, as in older checkpoints

    def config(self):
        return getattr(transformers, f"{self.family}Config")(**self.settings)

    def class_of(self, suffix):
        return getattr(transformers, f"{self.family}{suffix}")

    @property
    def has_classifier(self):
        return self.saved_as == "ForSequenceClassification"


SMALL = dict(
    hidden_size=12,
    num_attention_heads=3,
    num_hidden_layers=2,
    intermediate_size=20,
    vocab_size=45,
    max_position_embeddings=24,
)
SMALL_DISTILBERT = dict(
    dim=12, n_heads=3, n_layers=2, hidden_dim=20, vocab_size=45, max_position_embeddings=24
)
NAMED = dict(id2label={0: "no", 1: "yes", 2: "maybe"}, label2id={"no": 0, "yes": 1, "maybe": 2})

CASES = [
    Case("distilbert", "DistilBert", SMALL_DISTILBERT),
    Case(
        "distilbert_masked_lm",
        "DistilBert",
        SMALL_DISTILBERT | dict(activation="relu", n_heads=2, sinusoidal_pos_embds=True),
        saved_as="ForMaskedLM",
    ),
    Case("roberta", "Roberta", SMALL | dict(type_vocab_size=1, layer_norm_eps=1e-5, **NAMED)),
    Case(
        "roberta_masked_lm",
        "Roberta",
        SMALL | dict(type_vocab_size=1, hidden_act="gelu_new"),
        saved_as="ForMaskedLM",
        surplus=("roberta.embeddings.position_ids", "roberta.pooler.dense.weight"),
    ),
    Case("roberta_two_types", "Roberta", SMALL | dict(type_vocab_size=2, pad_token_id=4)),
    Case("electra", "Electra", SMALL | dict(embedding_size=8, num_labels=3)),
    Case(
        "electra_discriminator",
        "Electra",
        SMALL | dict(embedding_size=12, hidden_act="relu"),
        saved_as="ForPreTraining",
    ),
    Case("electra_base", "Electra", SMALL | dict(embedding_size=16), "Model", bare_names=True),
    Case(
        "electra_regression",
        "Electra",
        SMALL | dict(embedding_size=8, num_labels=1, problem_type="regression"),
    ),
    Case(
        "distilbert_regression",
        "DistilBert",
        SMALL_DISTILBERT | dict(num_labels=2, problem_type="regression"),
    ),
    Case(
        "roberta_labels",
        "Roberta",
        SMALL | dict(type_vocab_size=1, problem_type="multi_label_classification", **NAMED),
    ),
]


def encoder_of(model):
    return getattr(model, model.base_model_prefix)


def random_model(case, seed):
    """Returns the classifier with eager attention, in evaluation mode, with random parameters."""
    config = case.config()
    cls = case.class_of("ForSequenceClassification")
    model = cls._from_config(config, attn_implementation="eager")
    tiny_bert.set_weights(model, seed, scale=0.4)
    return model.eval()


def stored_tensors(case, model, seed):
    """Returns the state dictionary of the class that the folder is saved as, with the same encoder."""
    if case.bare_names:
        return encoder_of(model).state_dict()
    if case.has_classifier:
        return model.state_dict()
    heads = case.class_of(case.saved_as)._from_config(model.config)
    tiny_bert.set_weights(heads, seed + 1000, scale=0.4)
    encoder_of(heads).load_state_dict(encoder_of(model).state_dict())
    weights = {name: tensor.clone() for name, tensor in heads.state_dict().items()}
    for name in case.surplus:
        positions = torch.arange(model.config.max_position_embeddings).unsqueeze(0)
        weights[name] = positions if name.endswith("position_ids") else torch.ones(12, 12)
    return weights


def with_padding(batch, padding):
    batch["input_ids"] = torch.where(
        batch["attention_mask"] == 1, batch["input_ids"], torch.tensor(padding)
    )
    return batch


def batches(config, generator):
    """Returns batches with padding on the right, on the left, none (the longest sentence), and inside a text."""
    segments = getattr(config, "type_vocab_size", 0) > 1
    first = getattr(config, "pad_token_id", 0) + 1 if config.model_type == "roberta" else 0
    longest = config.max_position_embeddings - first
    padding = config.pad_token_id
    random = tiny_bert.random_batch
    yield with_padding(random(generator, config, [9, 4, 13, 7], segments), padding)
    yield with_padding(random(generator, config, [3, 8, 5], segments, pad_left=True), padding)
    yield random(generator, config, [longest], segments)
    inside = random(generator, config, [9, 6], segments)
    inside["input_ids"][0, 4] = padding
    yield with_padding(inside, padding)


@torch.no_grad()
def outputs(model, batch):
    """Returns (loss, logits, hidden state of the first token) of one batch."""
    result = model(**batch)
    inputs = {name: values for name, values in batch.items() if name != "labels"}
    return result.loss, result.logits, encoder_of(model)(**inputs).last_hidden_state[:, 0]


def expected(case, model, batch):
    """Returns one entry of expected.json, and the distance of float32 and float64 logits."""
    _, logits, _ = outputs(model, batch)
    loss_f64, logits_f64, first_f64 = outputs(
        tiny_bert.in_double(model), tiny_bert.labels_in_double(batch)
    )
    entry = {name: values.tolist() for name, values in batch.items()}
    if case.has_classifier:
        entry["logits"] = tiny_bert.float32_list(logits)
        entry["logits_f64"] = logits_f64.tolist()
        entry["loss_f64"] = loss_f64.item()
    else:
        del entry["labels"]
    entry["first_token_f64"] = first_f64.tolist()
    return entry, (logits - logits_f64).abs().max().item()


@torch.no_grad()
def check_read_back(case, model, folder, batch):
    """Checks that transformers reads the same model from the folder."""
    read = case.class_of("ForSequenceClassification").from_pretrained(
        folder, attn_implementation="eager"
    )
    _, logits, first = outputs(read.eval(), batch)
    _, true_logits, true_first = outputs(model, batch)
    torch.testing.assert_close(first, true_first)
    if case.has_classifier:
        torch.testing.assert_close(logits, true_logits)


def write_case(case, seed):
    folder = tiny_bert.MODELS / case.name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    model = random_model(case, seed)
    model.config.architectures = [f"{case.family}{case.saved_as}"]
    model.config.save_pretrained(folder)
    save_file(
        {name: tensor.contiguous() for name, tensor in stored_tensors(case, model, seed).items()},
        folder / "model.safetensors",
        metadata={"format": "pt"},
    )
    entries, distances = [], []
    for batch in batches(model.config, numpy.random.default_rng([seed, 1])):
        check_read_back(case, model, folder, batch)
        entry, distance = expected(case, model, batch)
        entries.append(entry)
        distances.append(distance)
    tiny_bert.write_json(folder / "expected.json", {"inputs": entries})
    print(f"{case.name:20} float32 logits within {max(distances):.1e} of float64")


def main():
    tiny_bert.prepare()
    wanted = sys.argv[1:] or [case.name for case in CASES]
    for seed, case in enumerate(CASES, start=50):
        if case.name in wanted:
            write_case(case, seed)


if __name__ == "__main__":
    main()
