"""Writes short runs of transformers' Trainer with common settings, which our trainer must reproduce.

    python tools/golden/trainer_runs.py     # after training.py: reads its checkpoint and batches

Writes tests/train/golden/trainer_runs.json: `schedules`, the learning rates of
`lr_scheduler_type` x warm-up over some steps, and `runs`, each with its settings and per step `loss`
and `gradient_norm` (before clipping), and at the end the L2 norm of all parameters and the
`final_logits` of the last batch. All in float64, in the order of the texts, without dropout.

  accumulated  batches of 2, 4 of them a step, 20 texts: the last step of an epoch has 2 batches.
               With label smoothing, whose loss is divided by the number of texts of the whole step
               (num_items_in_batch). BertForSequenceClassification's own loss ignores that number
               in transformers 5, so the Trainer would add up the means of the batches.
  distilled    0.3 cross entropy + 0.7 T^2 KL(softmax(parent / T) || softmax(student / T)), T = 3,
               with stored `parent_logits`
  layerwise    the learning rate falls by 0.8 from layer to layer
"""

import json
import tempfile

import torch
from safetensors.torch import load_file
from transformers import (
    BertForSequenceClassification,
    Trainer,
    TrainingArguments,
    get_scheduler,
)

import tiny_bert

TEXTS = 20
COLUMNS = ("input_ids", "attention_mask", "labels")


class InOrder(Trainer):
    def _get_train_sampler(self, *_):
        return torch.utils.data.SequentialSampler(self.train_dataset)


class Distilled(InOrder):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        parent = inputs.pop("parent_logits")
        outputs = model(**inputs)
        t, alpha = 3.0, 0.3
        divergence = torch.nn.functional.kl_div(
            torch.log_softmax(outputs.logits / t, dim=-1),
            torch.softmax(parent / t, dim=-1),
            reduction="batchmean",
        )
        loss = alpha * outputs.loss + (1 - alpha) * t * t * divergence
        return (loss, outputs) if return_outputs else loss


def layer_rate(name, decay=0.8):
    if name.startswith("bert.embeddings."):
        return decay**3
    if name.startswith("bert.encoder.layer."):
        return decay ** (2 - int(name.split(".")[3]))
    return 1.0


class Layerwise(InOrder):
    def create_optimizer(self):
        groups = [
            {"params": [p], "lr": self.args.learning_rate * layer_rate(n)}
            for n, p in self.model.named_parameters()
        ]
        self.optimizer = torch.optim.AdamW(groups, weight_decay=0.0)
        return self.optimizer


RUNS = {
    "accumulated": (
        InOrder,
        {
            "per_device_train_batch_size": 2,
            "gradient_accumulation_steps": 4,
            "label_smoothing_factor": 0.1,
            "lr_scheduler_type": "cosine",
            "warmup_steps": 3,
        },
    ),
    "distilled": (
        Distilled,
        {
            "per_device_train_batch_size": 8,
            "lr_scheduler_type": "constant_with_warmup",
            "warmup_steps": 2,
        },
    ),
    "layerwise": (
        Layerwise,
        {"per_device_train_batch_size": 8, "lr_scheduler_type": "constant"},
    ),
}


def texts(parent):
    batches = load_file(tiny_bert.TRAINING / "batches.safetensors")
    columns = {name: batches[name].flatten(0, 1)[:TEXTS] for name in COLUMNS}
    rows = [{name: values[i] for name, values in columns.items()} for i in range(TEXTS)]
    if parent is not None:
        for row, logits in zip(rows, parent):
            row["parent_logits"] = logits
    return rows, {name: batches[f"final/{name}"] for name in COLUMNS}


def run(trainer_class, settings, parent):
    model = BertForSequenceClassification.from_pretrained(tiny_bert.TRAINING / "checkpoint")
    model = model.double()
    rows, final = texts(parent)
    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(
            output_dir=folder,
            num_train_epochs=4,
            learning_rate=5e-4,
            logging_steps=1,
            report_to=[],
            use_cpu=True,
            save_strategy="no",
            disable_tqdm=True,
            remove_unused_columns=False,
            **settings,
        )
        trainer = trainer_class(model, arguments, train_dataset=rows)
        trainer.train()
    steps = [line for line in trainer.state.log_history if "loss" in line]
    model.eval()
    with torch.no_grad():
        logits = model(**final).logits
        squares = sum(parameter.square().sum() for parameter in model.parameters())
    return settings | {
        "loss": [line["loss"] for line in steps],
        "gradient_norm": [float(line["grad_norm"]) for line in steps],
        "learning_rate": [line["learning_rate"] for line in steps],
        "epoch": [line["epoch"] for line in steps],
        "parameter_norm": squares.sqrt().item(),
        "final_logits": logits.tolist(),
    }


def rates(name, steps, warmup):
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=5e-4)
    scheduler = get_scheduler(
        name, optimizer, num_warmup_steps=warmup, num_training_steps=steps
    )
    values = []
    for _ in range(steps):
        values.append(scheduler.get_last_lr()[0])
        optimizer.step()
        scheduler.step()
    return {"name": name, "steps": steps, "warmup_steps": warmup, "rates": values}


def main():
    tiny_bert.prepare()
    generator = torch.Generator().manual_seed(300)
    parent = 2 * torch.randn(TEXTS, 2, generator=generator)
    schedules = [
        rates(name, 13, warmup)
        for name in ("linear", "cosine", "constant", "constant_with_warmup")
        for warmup in ((0,) if name == "constant" else (0, 4))
    ]
    result = {"learning_rate": 5e-4, "epochs": 4, "texts": TEXTS, "schedules": schedules}
    result["parent_logits"] = parent.tolist()
    result["runs"] = {}
    for name, (trainer_class, settings) in RUNS.items():
        rows = parent.double() if name == "distilled" else None
        result["runs"][name] = run(trainer_class, settings, rows)
    tiny_bert.write_json(tiny_bert.TRAINING / "trainer_runs.json", result)
    for name, one in result["runs"].items():
        print(name, len(one["loss"]), "steps:", json.dumps(one["loss"][:3]), one["loss"][-1])


if __name__ == "__main__":
    main()
