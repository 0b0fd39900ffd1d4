"""Trains a BERT classifier with PyTorch and hone's default settings, to compare accuracies.

    python tools/compare/train_peer.py FOLDER --train TRAIN.csv --test TEST.csv [options]

FOLDER is a Hugging Face folder with config.json and a tokenizer. Training starts from its weights, or
from random ones with --fresh. The CSV files have a header and the columns `text` and `label`.
Uses AdamW, linear decay of the learning rate to 0 without warm-up, clipping of the gradient norm, and
batches padded to their longest text. With --no-shuffle --dropout 0 training is deterministic, and
--curve can be compared with hone's loss of each step.

Prints one JSON object per seed (accuracy and mean loss on the test file after each epoch, seconds),
then one with the mean and the spread over seeds.
"""

import argparse
import csv
import json
import pathlib
import statistics
import time

import torch
import transformers
from transformers import BertConfig, BertForSequenceClassification, BertTokenizer


def parse_options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--train", type=pathlib.Path, required=True)
    parser.add_argument("--test", type=pathlib.Path, required=True)
    parser.add_argument("--text-column", default="text")
    parser.add_argument("--label-column", default="label")
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--learning-rate", type=float, default=5e-5)
    parser.add_argument("--weight-decay", type=float, default=0.0)
    parser.add_argument("--clip", type=float, default=1.0, help="largest gradient norm")
    parser.add_argument("--max-length", type=int, default=512, help="tokens kept of a text")
    parser.add_argument("--dropout", type=float, help="instead of the folder's, everywhere")
    parser.add_argument("--seeds", type=int, nargs="+", default=[42])
    parser.add_argument("--fresh", action="store_true", help="start from new random weights")
    parser.add_argument("--no-shuffle", action="store_true", help="train in the order of the file")
    parser.add_argument("--curve", action="store_true", help="also print the loss of each step")
    parser.add_argument("--threads", type=int, default=2)
    return parser.parse_args()


def read_csv(path, options):
    """Returns (texts, labels as written), in the order of the file."""
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return [row[options.text_column] for row in rows], [row[options.label_column] for row in rows]


def label_numbers(labels):
    """Returns {label as written: class}. Integers 0 … k-1 stay, others are numbered in sorted order."""
    distinct = sorted(set(labels))
    integers = [str(number) for number in range(len(distinct))]
    names = integers if set(integers) == set(distinct) else distinct
    return {name: number for number, name in enumerate(names)}


def tokenized(path, tokenizer, numbers, longest, options):
    """Returns [(input ids, class)…]."""
    texts, labels = read_csv(path, options)
    ids = tokenizer(texts, truncation=True, max_length=longest)["input_ids"]
    return [(row, numbers[label]) for row, label in zip(ids, labels, strict=True)]


def batches(examples, order, size, pad_id):
    """Yields batches of `size` examples, padded to the longest; the last may be smaller."""
    for start in range(0, len(order), size):
        rows = [examples[place] for place in order[start : start + size]]
        width = max(len(ids) for ids, _ in rows)
        padded = [ids + [pad_id] * (width - len(ids)) for ids, _ in rows]
        mask = [[1] * len(ids) + [0] * (width - len(ids)) for ids, _ in rows]
        yield {
            "input_ids": torch.tensor(padded),
            "attention_mask": torch.tensor(mask),
            "labels": torch.tensor([label for _, label in rows]),
        }


def make_model(options, classes):
    config = BertConfig.from_pretrained(options.folder, num_labels=classes)
    if options.dropout is not None:
        config.hidden_dropout_prob = config.attention_probs_dropout_prob = options.dropout
        config.classifier_dropout = options.dropout
    if options.fresh:
        return BertForSequenceClassification(config)
    return BertForSequenceClassification.from_pretrained(
        options.folder, config=config, dtype=torch.float32
    )


def train_epoch(model, optimizer, schedule, inputs, clip):
    """Trains one epoch; returns the loss of each step."""
    model.train()
    losses = []
    for batch in inputs:
        loss = model(**batch).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    return losses


@torch.no_grad()
def evaluate(model, inputs):
    model.eval()
    examples, right, loss = 0, 0, 0.0
    for batch in inputs:
        output = model(**batch)
        count = len(batch["labels"])
        examples += count
        right += (output.logits.argmax(dim=1) == batch["labels"]).sum().item()
        loss += output.loss.item() * count
    return {"accuracy": right / examples, "loss": loss / examples}


def run(seed, options, train, test, classes, pad_id):
    """Trains with one seed; returns the line to print."""
    torch.manual_seed(seed)
    model = make_model(options, classes)
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=options.learning_rate, weight_decay=options.weight_decay, fused=True
    )
    steps = options.epochs * -(-len(train) // options.batch)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1.0 - step / steps)
    shuffler = torch.Generator().manual_seed(seed)
    start, epochs, curve = time.perf_counter(), [], []
    for _ in range(options.epochs):
        order = list(range(len(train)))
        if not options.no_shuffle:
            order = torch.randperm(len(train), generator=shuffler).tolist()
        inputs = batches(train, order, options.batch, pad_id)
        curve += train_epoch(model, optimizer, schedule, inputs, options.clip)
        epochs.append(evaluate(model, batches(test, range(len(test)), 64, pad_id)))
    result = {"seed": seed, "steps": steps, "test": epochs}
    result["seconds"] = round(time.perf_counter() - start, 2)
    return result | ({"curve": curve} if options.curve else {})


def main():
    options = parse_options()
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    torch.set_num_threads(options.threads)
    tokenizer = BertTokenizer.from_pretrained(options.folder)
    positions = BertConfig.from_pretrained(options.folder).max_position_embeddings
    numbers = label_numbers(read_csv(options.train, options)[1])
    longest = min(options.max_length, positions)
    train = tokenized(options.train, tokenizer, numbers, longest, options)
    test = tokenized(options.test, tokenizer, numbers, longest, options)
    accuracies = []
    for seed in options.seeds:
        result = run(seed, options, train, test, len(numbers), tokenizer.pad_token_id)
        accuracies.append(result["test"][-1]["accuracy"])
        print(json.dumps(result), flush=True)
    spread = statistics.stdev(accuracies) if len(accuracies) > 1 else None
    mean = statistics.mean(accuracies)
    print(json.dumps({"seeds": len(accuracies), "mean_accuracy": mean, "deviation": spread}))


if __name__ == "__main__":
    main()
