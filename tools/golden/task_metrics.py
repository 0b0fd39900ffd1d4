"""Writes regression and multi-label metrics by scipy and scikit-learn, for the tests in tests/metrics.

Usage: python tools/golden/task_metrics.py
Needs: numpy, scipy 1.18, scikit-learn 1.9

File: tests/metrics/golden/task_metrics.json with the lists `regression` and `multi_label`. Values are multiples of 1/64,
which float32 represents exactly; predictions are rounded so that there are ties. Labels are rare, common, absent,
always present, and never predicted.
"""

import json
import pathlib

import numpy as np
from scipy import stats
from sklearn import metrics

FILE = pathlib.Path(__file__).resolve().parents[2] / "tests" / "metrics" / "golden" / "task_metrics.json"


def regression(random, examples, outputs, step):
    targets = np.round(random.normal(2, 1.5, (examples, outputs)) / step) * step
    predictions = np.round((0.7 * targets + random.normal(0.5, 0.8, targets.shape)) / step) * step

    def errors(truth, given):
        return {
            "mse": metrics.mean_squared_error(truth, given),
            "rmse": metrics.root_mean_squared_error(truth.ravel(), given.ravel()),
            "mae": metrics.mean_absolute_error(truth, given),
            "r2": metrics.r2_score(truth, given, multioutput="variance_weighted"),
        }

    def of_output(o):
        pearson = stats.pearsonr(predictions[:, o], targets[:, o])
        interval = pearson.confidence_interval(0.95)
        return errors(targets[:, [o]], predictions[:, [o]]) | {
            "pearson": pearson.statistic,
            "pearson_interval": [interval.low, interval.high],
            "spearman": stats.spearmanr(predictions[:, o], targets[:, o]).statistic,
        }

    mean = np.broadcast_to(targets.mean(axis=0), targets.shape)
    return {
        "outputs": outputs,
        "predictions": predictions.ravel().tolist(),
        "targets": targets.ravel().tolist(),
        "errors": errors(targets, predictions),
        "baseline": errors(targets, mean),
        "of_output": [of_output(o) for o in range(outputs)],
    }


def constant_f1(targets, chosen):
    """Returns the micro F1 of predicting the labels whose bits are set in `chosen` for every example."""
    given = [chosen >> l & 1 for l in range(targets.shape[1])]
    constant = np.broadcast_to(np.array(given), targets.shape)
    return metrics.f1_score(targets, constant, average="micro", zero_division=0)


def multi_label(random, examples):
    shares = np.array([0.6, 0.25, 0.05, 0.0, 1.0, 0.4])
    targets = (random.random((examples, len(shares))) < shares).astype(int)
    logits = np.round((2.5 * (targets - 0.5) + random.normal(0, 1.5, targets.shape)) * 4) / 4
    logits[:, 2] -= 20  # never predicted
    given = (logits >= 0).astype(int)

    def averaged(average):
        values = metrics.precision_recall_fscore_support(targets, given, average=average, zero_division=0)
        return dict(zip(("precision", "recall", "f1"), values))

    mixed = [l for l in range(len(shares)) if 0 < targets[:, l].sum() < examples]
    areas = [metrics.roc_auc_score(targets[:, l], logits[:, l]) if l in mixed else None for l in range(len(shares))]
    usual = np.broadcast_to((2 * targets.sum(axis=0) > examples).astype(int), targets.shape)
    losses = np.maximum(logits, 0) - logits * targets + np.log1p(np.exp(-np.abs(logits)))
    return {
        "labels": len(shares),
        "logits": logits.ravel().tolist(),
        "targets": targets.ravel().tolist(),
        "subset_accuracy": metrics.accuracy_score(targets, given),
        "hamming_accuracy": 1 - metrics.hamming_loss(targets, given),
        "loss": losses.mean(),
        **{average: averaged(average) for average in ("micro", "macro", "weighted", "samples")},
        "auc_of_label": areas,
        "macro_auc": metrics.roc_auc_score(targets[:, mixed], logits[:, mixed], average="macro"),
        "baseline": {
            "subset_accuracy": metrics.accuracy_score(targets, usual),
            "hamming_accuracy": 1 - metrics.hamming_loss(targets, usual),
            "micro_f1": max(constant_f1(targets, chosen) for chosen in range(1 << len(shares))),
        },
    }


def main():
    random = np.random.default_rng(7)
    cases = {
        "regression": [
            regression(random, 40, 1, 1 / 64),
            regression(random, 30, 1, 0.5),
            regression(random, 20, 3, 1 / 64),
        ],
        "multi_label": [multi_label(random, 40), multi_label(random, 25)],
    }
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text(json.dumps(cases) + "\n")


main()
