"""Times reading and tokenizing reviews with `hone tokenize` and with Hugging Face's datasets and fast tokenizer.

Usage: python tools/compare/loading.py make FOLDER [--reviews 50000]
       python tools/compare/loading.py time FOLDER --hone build/bin/hone [--runs 5] [--threads 2]
Needs: datasets 5.2, transformers 5.23, pyarrow 26

`make` writes synthetic reviews to FOLDER, as many and as long as IMDb's, in four formats, and a tokenizer:
  parquet/  train and test, one file each, snappy          aclImdb/  one file per review
  csv/      train.csv, test.csv                            jsonl/    train.jsonl, test.jsonl
  model/    config.json and a vocabulary of 30,522 pieces
`time` prints one JSON line per format: the seconds of every run, their minimum and median. Each run is a new process
without cached results; the files are in the page cache after the first run. Hugging Face's libraries run with
`num_proc` processes and with the tokenizer's own threads; the faster variant counts.
"""

import argparse
import csv
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

VOCABULARY = 30522
WORDS = 60000
MEAN_WORDS = 233  # of IMDb's reviews; the median is 174
SYLLABLE_STARTS = "b br c ch cl d dr f fl g gr h j k l m n p pl pr r s sh st str t tr v w".split()
SYLLABLE_ENDS = "a e i o u ay ee oa an en in on er or al el is us ight est".split()


def make_words(rng):
    """Returns distinct words; frequent ones are short."""
    words = dict.fromkeys("a I the of and to is in it that this was as with for but".split())
    while len(words) < WORDS:
        most = 1 + (len(words) > 300) + (len(words) > 6000) + (len(words) > 30000)
        count = rng.randint(max(1, most - 1), most)
        words.setdefault(
            "".join(rng.choice(SYLLABLE_STARTS) + rng.choice(SYLLABLE_ENDS) for _ in range(count))
        )
    return list(words)


def make_vocabulary(words):
    """Returns special tokens, characters, syllables that continue words, and the most frequent words."""
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    characters = [chr(c) for c in range(33, 127) if not chr(c).isupper()] + list("éàü")
    tokens += characters + ["##" + c for c in characters]
    tokens += ["##" + a + b for a in SYLLABLE_STARTS for b in SYLLABLE_ENDS]
    for word in words:
        if len(tokens) == VOCABULARY:
            break
        if word.lower() not in characters:
            tokens.append(word.lower())
    assert len(set(tokens)) == VOCABULARY
    return tokens


def make_review(rng, words, cumulative):
    """Returns sentences with commas, capitals and IMDb's line breaks, with log-normal length."""
    count = max(10, int(rng.lognormvariate(5.16, 0.77)))
    text = []
    start = True
    for word in rng.choices(words, cum_weights=cumulative, k=count):
        text.append(word.capitalize() if start else word)
        mark = rng.random()
        start = mark < 0.05
        if start:
            text[-1] += ".<br /><br />" if mark < 0.004 else "!" if mark < 0.008 else "."
        elif mark < 0.12:
            text[-1] += ","
        elif mark < 0.13:
            text[-1] = '"' + text[-1] + '"'
        elif mark < 0.14:
            text[-1] += "'s"
        elif mark < 0.141:
            text[-1] += "é"
    return " ".join(text)


def make(folder, reviews):
    import pyarrow
    import pyarrow.parquet

    rng = random.Random(7)
    words = make_words(rng)
    cumulative, total = [], 0.0
    for rank in range(1, WORDS + 1):
        total += 1 / (rank + 2.7) ** 1.05
        cumulative.append(total)
    for name in ("parquet", "csv", "jsonl", "model"):
        (folder / name).mkdir(parents=True)
    (folder / "model" / "vocab.txt").write_text("\n".join(make_vocabulary(words)) + "\n")
    config = {"model_type": "bert", "vocab_size": VOCABULARY}
    (folder / "model" / "config.json").write_text(json.dumps(config))
    (folder / "model" / "tokenizer_config.json").write_text('{"tokenizer_class": "BertTokenizer"}')
    for part in ("train", "test"):
        rows = [(make_review(rng, words, cumulative), i % 2) for i in range(reviews // 2)]
        texts, labels = [text for text, _ in rows], [label for _, label in rows]
        pyarrow.parquet.write_table(
            pyarrow.table({"text": texts, "label": labels}),
            folder / "parquet" / f"{part}-00000-of-00001.parquet",
        )
        with open(folder / "csv" / f"{part}.csv", "w", newline="") as file:
            csv.writer(file).writerows([("text", "label"), *rows])
        with open(folder / "jsonl" / f"{part}.jsonl", "w") as file:
            for text, label in rows:
                file.write(json.dumps({"text": text, "label": label}) + "\n")
        for label, name in enumerate(("neg", "pos")):
            (folder / "aclImdb" / part / name).mkdir(parents=True)
        for i, (text, label) in enumerate(rows):
            name = ("neg", "pos")[label]
            (folder / "aclImdb" / part / name / f"{i}_{9 * label + 1}.txt").write_text(text)


def peer(folder, form, threads, way, cache):
    """Runs the code of a `datasets` user in a separate process; prints seconds and tokens."""
    import datasets
    import transformers

    datasets.disable_progress_bars()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder / "model")
    files = {
        part: str(next((folder / form).glob(f"{part}*"))) for part in ("train", "test")
    }
    start = time.perf_counter()
    if form == "aclImdb":
        data = datasets.load_dataset(
            "text",
            data_files={part: str(folder / form / part / "*" / "*.txt") for part in files},
            sample_by="document",
            cache_dir=cache,
        )
    else:
        kind = {"parquet": "parquet", "csv": "csv", "jsonl": "json"}[form]
        data = datasets.load_dataset(kind, data_files=files, cache_dir=cache)
    read = time.perf_counter()
    data = data.map(
        lambda rows: tokenizer(rows["text"], truncation=True, max_length=512),
        batched=True,
        num_proc=threads if way == "processes" and threads > 1 else None,
    )
    end = time.perf_counter()
    tokens = sum(
        len(ids) for part in data.values() for ids in part.with_format("numpy")["input_ids"]
    )
    print(
        json.dumps(
            {"read": read - start, "tokenize": end - read, "seconds": end - start, "tokens": tokens}
        )
    )


def run_peer(folder, form, threads, way):
    own_threads = str(threads if way == "threads" else 1)
    environment = os.environ | {
        "RAYON_NUM_THREADS": own_threads,
        "TOKENIZERS_PARALLELISM": str(way == "threads").lower(),
        "HF_HUB_OFFLINE": "1",
    }
    with tempfile.TemporaryDirectory() as cache:
        command = [sys.executable, __file__, "peer", str(folder), "--form", form, "--way", way]
        command += ["--threads", str(threads), "--cache", cache]
        output = subprocess.run(
            command, check=True, capture_output=True, text=True, env=environment
        ).stdout
    return json.loads(output.splitlines()[-1]) | {"way": way}


def run_hone(hone, folder, form, threads):
    command = [hone, "tokenize", str(folder / "model"), "--data", str(folder / form)]
    command += ["--threads", str(threads), "--json", "--quiet"]
    start = time.perf_counter()
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    wall = time.perf_counter() - start
    result = json.loads(output)
    read, tokenize = result["read_seconds"], result["tokenize_seconds"]
    tokens = sum(part["tokens"] for part in result["parts"])
    return {
        "read": read,
        "tokenize": tokenize,
        "seconds": read + tokenize,
        "process": wall,
        "tokens": tokens,
    }


def measure(folder, forms, ways, hone, runs, threads):
    for form in forms:
        ours, theirs = [], []
        for _ in range(runs):
            ours.append(run_hone(hone, folder, form, threads))
            tried = [run_peer(folder, form, threads, way) for way in ways]
            theirs.append(min(tried, key=lambda run: run["seconds"]))
        seconds = [[run["seconds"] for run in side] for side in (ours, theirs)]
        print(
            json.dumps(
                {
                    "form": form,
                    "threads": threads,
                    "hone_seconds": [round(s, 3) for s in seconds[0]],
                    "peer_seconds": [round(s, 3) for s in seconds[1]],
                    "hone_least": ours[seconds[0].index(min(seconds[0]))],
                    "peer_least": theirs[seconds[1].index(min(seconds[1]))],
                    "ratio_of_least": round(min(seconds[1]) / min(seconds[0]), 2),
                    "ratio_of_medians": round(
                        statistics.median(seconds[1]) / statistics.median(seconds[0]), 2
                    ),
                }
            ),
            flush=True,
        )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["make", "time", "peer"])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--reviews", type=int, default=50000)
    parser.add_argument("--hone", default="build/bin/hone")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--forms", nargs="+", default=["parquet", "aclImdb", "csv", "jsonl"])
    parser.add_argument("--ways", nargs="+", default=["processes", "threads"])
    parser.add_argument("--form", help=argparse.SUPPRESS)
    parser.add_argument("--way", help=argparse.SUPPRESS)
    parser.add_argument("--cache", help=argparse.SUPPRESS)
    a = parser.parse_args()
    if a.what == "make":
        make(a.folder, a.reviews)
    elif a.what == "peer":
        peer(a.folder, a.form, a.threads, a.way, a.cache)
    else:
        measure(a.folder, a.forms, a.ways, a.hone, a.runs, a.threads)


if __name__ == "__main__":
    main()
