"""Writes tiny random sentence embedding models in sentence-transformers' format, with its embeddings.

    python tools/golden/embeddings.py [NAME…]

Writes tests/models/golden/embeddings/NAME/ as SentenceTransformer.save_pretrained does (modules.json,
1_Pooling/config.json, …), weights and a vocab.txt, and expected.json: `texts` and their `embeddings`
(float32, eager attention, one thread), texts of unequal lengths in one batch.
Folders whose names begin with `old` have the JSON files of versions before 5.
Every folder is checked by reading it back.
"""

import dataclasses
import json
import shutil
import sys

import torch
import transformers
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer import modules

import tiny_bert

FOLDER = tiny_bert.ROOT / "tests" / "models" / "golden" / "embeddings"

BERT = dict(
    hidden_size=12,
    num_attention_heads=3,
    num_hidden_layers=2,
    intermediate_size=20,
    vocab_size=95,
    max_position_embeddings=24,
)
DISTILBERT = dict(
    dim=12, n_heads=3, n_layers=2, hidden_dim=20, vocab_size=95, max_position_embeddings=24
)
TEXTS = [
    "a film",
    "The film was not bad, and the acting is really fine in it!",
    "",
    "dull",
    "it was quite a slow start to the end but the music of the scene was never awful and the cast "
    "is very good in that plot of bright music",
    "AWFUL Music",
    "Café Plot",
]


@dataclasses.dataclass
class Case:
    name: str
    pooling: object
    family: str = "Bert"
    settings: dict = dataclasses.field(default_factory=lambda: BERT)
    normalize: bool = False
    cased: bool = False  # the tokenizer keeps case and accents
    transformer: dict = dataclasses.field(default_factory=dict)  # sentence_bert_config.json
    prompt: str = ""

    @property
    def old(self):
        return self.name.startswith("old")


CASES = [
    Case("mean", "mean", normalize=True),
    Case("cls", "cls", family="Electra", settings=BERT | dict(embedding_size=8)),
    Case("max", "max", family="DistilBert", settings=DISTILBERT),
    Case("several", ("mean", "cls"), normalize=True, prompt="a really good "),
    Case(
        "old_mean_sqrt_len",
        "mean_sqrt_len_tokens",
        cased=True,
        transformer=dict(max_seq_length=10, do_lower_case=True),
    ),
    Case(
        "old_several",
        ("cls", "max", "mean"),
        transformer=dict(max_seq_length=16, do_lower_case=False),
    ),
]

OLD_POOLING_KEYS = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
}


def write_encoder(case, folder, seed):
    config = getattr(transformers, f"{case.family}Config")(**case.settings)
    model = getattr(transformers, f"{case.family}Model")._from_config(config)
    tiny_bert.set_weights(model, seed, scale=0.4)
    model.save_pretrained(folder)
    tiny_bert.write_vocabulary(folder, config.vocab_size)
    tokenizer = {
        "tokenizer_class": "BertTokenizer",
        "do_lower_case": not case.cased,
        "model_max_length": 20,
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(tokenizer, indent=2) + "\n")


def write_new(case, folder, seed):
    """Saves with this version of sentence-transformers, and the tokenizer as vocab.txt."""
    encoder = folder / "encoder"
    encoder.mkdir()
    write_encoder(case, encoder, seed)
    transformer = modules.Transformer(str(encoder), **case.transformer)
    pooling = modules.Pooling(
        transformer.get_embedding_dimension(), pooling_mode=case.pooling
    )
    parts = [transformer, pooling] + ([modules.Normalize()] if case.normalize else [])
    prompts = dict(prompts={"query": case.prompt}, default_prompt_name="query") if case.prompt else {}
    model = SentenceTransformer(modules=parts, device="cpu", **prompts)
    model.save_pretrained(str(folder), create_model_card=False)
    (folder / "tokenizer.json").unlink()
    for name in ("vocab.txt", "tokenizer_config.json"):
        shutil.copy(encoder / name, folder / name)
    shutil.rmtree(encoder)


def write_old(case, folder, seed):
    write_encoder(case, folder, seed)
    names = ["Transformer", "Pooling"] + (["Normalize"] if case.normalize else [])
    listed = [
        dict(
            idx=index,
            name=str(index),
            path="" if index == 0 else f"{index}_{name}",
            type=f"sentence_transformers.models.{name}",
        )
        for index, name in enumerate(names)
    ]
    modes = [case.pooling] if isinstance(case.pooling, str) else case.pooling
    pooling = {"word_embedding_dimension": 12}
    pooling |= {key: mode in modes for key, mode in OLD_POOLING_KEYS.items()}
    (folder / "1_Pooling").mkdir()
    for path, content in {
        "modules.json": listed,
        "1_Pooling/config.json": pooling,
        "sentence_bert_config.json": case.transformer,
    }.items():
        (folder / path).write_text(json.dumps(content, indent=2) + "\n")


def embeddings(folder):
    model = SentenceTransformer(
        str(folder), device="cpu", model_kwargs=dict(attn_implementation="eager")
    )
    together = model.encode(TEXTS, batch_size=len(TEXTS), convert_to_tensor=True)
    alone = model.encode(TEXTS, batch_size=1, convert_to_tensor=True)
    torch.testing.assert_close(together, alone, rtol=0, atol=5e-6)
    return together


def write_case(case, seed):
    folder = FOLDER / case.name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (write_old if case.old else write_new)(case, folder, seed)
    numbers = embeddings(folder)
    expected = {"texts": TEXTS, "embeddings": tiny_bert.float32_list(numbers)}
    tiny_bert.write_json(folder / "expected.json", expected)
    print(f"{case.name:20} {tuple(numbers.shape)}, norms {numbers.norm(dim=1).tolist()}")


def main():
    tiny_bert.prepare()
    wanted = sys.argv[1:] or [case.name for case in CASES]
    for seed, case in enumerate(CASES, start=80):
        if case.name in wanted:
            write_case(case, seed)


if __name__ == "__main__":
    main()
