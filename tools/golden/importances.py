"""Writes parameter importances of small studies, computed by Optuna.

    pip install optuna==5.0.0 && python tools/golden/importances.py

Writes tests/search/golden/importances.json: for each study its directions, trials (parameters with distribution and internal
value, values) and the result of `optuna.importance.get_param_importances`.
"""

import json
import math
import pathlib

import optuna

optuna.logging.set_verbosity(optuna.logging.ERROR)


def mixed(trial):
    x = trial.suggest_float("x", -5, 5)
    rate = trial.suggest_float("rate", 1e-5, 1e-1, log=True)
    stepped = trial.suggest_float("stepped", 0, 1, step=0.25)
    layers = trial.suggest_int("layers", 1, 6)
    width = trial.suggest_int("width", 8, 512, log=True)
    kind = trial.suggest_categorical("kind", ["int", "mxint", None, True])
    trial.suggest_int("single", 3, 3)
    bonus = {"int": 0.0, "mxint": 1.0, None: 3.0, True: 2.0}[kind]
    return x**2 + (math.log10(rate) + 3) ** 2 + stepped + 0.1 * abs(layers - 2) + 0.01 * math.log(width) + bonus


def conditional(trial):
    layers = trial.suggest_int("layers", 1, 3)
    total = 0.0
    for layer in range(layers):
        if trial.suggest_categorical(f"format_{layer}", ["none", "int"]) == "int":
            total += trial.suggest_int(f"bits_{layer}", 2, 8) * 0.1
        else:
            total += 1.5
    # bounds that differ between trials
    total += trial.suggest_float("dropout", 0, 0.5 if layers == 1 else 0.3)
    return total


def two(trial):
    x = trial.suggest_float("x", 0, 1)
    y = trial.suggest_float("y", 0, 1)
    trial.suggest_float("nothing", 0, 1)
    return x + 0.1 * y, 1 - x + y


def ties(trial):
    return float(trial.suggest_int("bits", 1, 4) > 2) + 0 * trial.suggest_float("z", 0, 1)


CASES = [("mixed", mixed, ["minimize"], 60, "random"), ("mixed by TPE", mixed, ["minimize"], 60, "tpe"),
         ("maximized", lambda t: -mixed(t), ["maximize"], 35, "random"), ("conditional", conditional, ["minimize"], 60, "random"),
         ("two objectives", two, ["minimize", "minimize"], 50, "random"), ("ties", ties, ["minimize"], 23, "random"),
         ("few", mixed, ["minimize"], 3, "random"), ("one", mixed, ["minimize"], 1, "random")]


def main():
    studies = []
    for name, objective, directions, count, sampler in CASES:
        make = optuna.samplers.RandomSampler if sampler == "random" else optuna.samplers.TPESampler
        study = optuna.create_study(directions=directions, sampler=make(seed=7))
        study.optimize(objective, n_trials=count)
        trials = [{"values": trial.values,
                   "parameters": [{"name": key, "value": distribution.to_internal_repr(trial.params[key]),
                                   "distribution": optuna.distributions.distribution_to_json(distribution)}
                                  for key, distribution in trial.distributions.items()]} for trial in study.trials]
        studies.append({"name": name, "directions": directions, "trials": trials,
                        "importances": optuna.importance.get_param_importances(study)})
    path = pathlib.Path(__file__).parents[2] / "tests/search/golden/importances.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"optuna": optuna.__version__, "studies": studies}, separators=(",", ":")) + "\n")


main()
