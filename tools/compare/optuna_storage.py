#!/usr/bin/env python3
"""Opens a storage of studies with Optuna, to compare with hone.

  show STORAGE             prints all studies and trials as JSON, one study per line
  run STORAGE STUDY N      runs N more trials of the study
  bench STORAGE            runs bench/storage_bench with Optuna's storage: workers create trials with three parameters
                           and a trivial objective, then take as many from a queue

STORAGE is an address in Optuna's format: sqlite:///PATH, postgresql+psycopg2://…. Needs `pip install optuna`.
"""

import argparse
import json
import multiprocessing
import sys
import time
import warnings

import optuna


def objective(trial):
    x = trial.suggest_float("x", 0, 1)
    trial.suggest_int("y", 0, 9)
    trial.suggest_categorical("z", ["a", "b"])
    return x


def fields(trial):
    return {
        "number": trial.number,
        "state": trial.state.name,
        "values": trial.values,
        "params": trial.params,
        "distributions": {name: optuna.distributions.distribution_to_json(d) for name, d in trial.distributions.items()},
        "reports": trial.intermediate_values,
        "user_attrs": trial.user_attrs,
        "system_attrs": trial.system_attrs,
        "start": str(trial.datetime_start),
        "end": str(trial.datetime_complete),
    }


def show(storage):
    for name in [summary.study_name for summary in optuna.get_all_study_summaries(storage)]:
        study = optuna.load_study(study_name=name, storage=storage)
        best = None
        if len(study.directions) == 1:
            try:
                best = study.best_trial.number
            except ValueError:
                pass  # no trial is complete and feasible
        print(json.dumps({
            "study": name,
            "directions": [d.name for d in study.directions],
            "user_attrs": study.user_attrs,
            "best": best,
            "trials": [fields(t) for t in study.trials],
        }))


def work(storage, name, count, results):
    study = optuna.load_study(study_name=name, storage=storage, sampler=optuna.samplers.RandomSampler())
    ran = failed = 0

    def counted(trial):
        nonlocal ran
        ran += 1
        return objective(trial)

    for _ in range(count):
        try:
            study.optimize(counted, n_trials=1)
        except Exception as error:  # Optuna's workers raise this if two take the same trial
            failed += 1
            last = error
    results.put((ran, failed, repr(last)[:200] if failed else ""))


def bench(storage, workers, trials):
    rounds = []
    for kind in ("made", "queued"):
        name = f"bench {kind} {time.time()}"
        study = optuna.create_study(study_name=name, storage=storage)
        if kind == "queued":
            for i in range(trials):
                study.enqueue_trial({"x": i / trials})
        results = multiprocessing.Queue()
        share = [trials // workers + (i < trials % workers) for i in range(workers)]
        processes = [multiprocessing.Process(target=work, args=(storage, name, n, results)) for n in share]
        for process in processes:
            process.start()
        told = [results.get() for _ in processes]
        for process in processes:
            process.join()
        finished = [t for t in study.get_trials() if t.state.is_finished()]
        seconds = (max(t.datetime_complete for t in finished) - min(t.datetime_start for t in finished)).total_seconds()
        ran = sum(t[0] for t in told)
        rounds.append({
            "kind": kind,
            "trials": len(finished),
            "seconds": seconds,
            "trials_per_s": len(finished) / seconds,
            "evaluated_twice": ran - len({t.number for t in finished}),
            "left_waiting": sum(t.state == optuna.trial.TrialState.WAITING for t in study.get_trials()),
            "exceptions": sum(t[1] for t in told),
            "an_exception": next((t[2] for t in told if t[2]), ""),
        })
        optuna.delete_study(study_name=name, storage=storage)
    print(json.dumps({"optuna": optuna.__version__, "workers": workers, "rounds": rounds}))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["show", "run", "bench"])
    parser.add_argument("storage")
    parser.add_argument("study", nargs="?")
    parser.add_argument("count", nargs="?", type=int, default=10)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--trials", type=int, default=200)
    arguments = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.simplefilter("ignore")
    if arguments.what == "show":
        show(arguments.storage)
    elif arguments.what == "run":
        optuna.load_study(study_name=arguments.study, storage=arguments.storage).optimize(objective, n_trials=arguments.count)
    else:
        bench(arguments.storage, arguments.workers, arguments.trials)


if __name__ == "__main__":
    sys.exit(main())
