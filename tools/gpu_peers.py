#!/usr/bin/env python3
"""Times PyTorch on an NVIDIA GPU, to compare with hone's kernels, training steps and inference.

Usage: python tools/gpu_peers.py --output peers.jsonl [--sections peaks,training] [--no-mask]
Needs: torch 2.11 (CUDA), transformers 5.17, triton. Random weights and inputs; fetches nothing.

  peaks      a copy in GPU memory, products of 8192 x 8192 matrices
  training   BERT classifiers and ResNet-18: forward, loss, backward, clipping, fused AdamW; dropout 0.1
  inference  BERT-base and ResNet-18 (224 x 224 pixels, channels_last): logits
  attention  naive, and scaled_dot_product_attention by each backend; backward is 2.5 forward passes
  decode     MXINT8 to bfloat16, groups of 32: 3.03 bytes per element

Modes of models: eager; graph, an eager call including the optimizer, replayed as one CUDA graph; default and
reduce-overhead of torch.compile, in separate processes that compile in parallel and are then timed one by one. bf16 is
autocast in training; inference casts the model to bf16 or fp16. The mask is all ones: transformers drops it in eager
calls, but not in compiled ones; there is no mask in graph mode or with --no-mask. Operations are replayed in graphs of
at least 1 ms, over more sets of operands than fit into the cache.

Writes one JSON object per line to --output: first_ms, the first call (while other processes compile); median_ms and
min_ms of 20 calls after warm-up, by CUDA events; wall_ms, their mean wall-clock time; attention, the chosen backend.
Prints the same as a table.
"""

import argparse
import fnmatch
import itertools
import json
import math
import multiprocessing
import os
import statistics
import time
import warnings

os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "2")  # in each of about twenty processes
os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

DEVICE = "cuda"
SECTIONS = ("peaks", "training", "inference", "attention", "decode")
PRECISIONS = {"fp32": "highest", "tf32": "high", "bf16": "high"}
HALVES = {"bf16": torch.bfloat16, "fp16": torch.float16}
MODELS = {"base": (768, 12, 12, 3072), "tiny": (128, 2, 2, 512)}  # hidden, layers, heads, inner
RESNET = "resnet-18"
TOKENS = 128
BACKENDS = {"flash": SDPBackend.FLASH_ATTENTION, "cudnn": SDPBackend.CUDNN_ATTENTION}
BACKENDS |= {"efficient": SDPBackend.EFFICIENT_ATTENTION, "math": SDPBackend.MATH}
TIMING_SECONDS = 25  # reserved for timing the compiled models
HELD = {}  # the compiled call of a compiling process


def first_call(call):
    torch.cuda.synchronize()
    start = time.perf_counter()
    call()
    torch.cuda.synchronize()
    return {"first_ms": (time.perf_counter() - start) * 1e3}


def timed(call, parts=1, runs=20):
    """Returns the milliseconds of each of the `parts` of a call."""
    for _ in range(3):
        call()
    events = [[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(runs)]
    torch.cuda.synchronize()
    start = time.perf_counter()
    for before, after in events:
        before.record()
        call()
        after.record()
    torch.cuda.synchronize()
    wall = (time.perf_counter() - start) * 1e3 / runs
    times = [before.elapsed_time(after) for before, after in events]
    facts = {"median_ms": statistics.median(times), "min_ms": min(times), "wall_ms": wall}
    return {name: value / parts for name, value in facts.items()} | {"runs": runs}


def captured(call):
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            call()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        call()
    return graph.replay


def operation(make, size):
    """Times an operation; each `make()` returns a call with its own operands of `size` bytes."""
    calls = [make() for _ in range(math.ceil(100e6 / size))]
    first = first_call(calls[0])
    calls *= math.ceil(1 / (len(calls) * timed(calls[0], runs=5)["min_ms"]))

    def all_calls():
        for call in calls:
            call()

    return first | timed(captured(all_calls), len(calls))


def failure(error):
    lines = str(error).strip().splitlines() or [""]
    return {"error": f"{type(error).__name__}: {lines[0][:120]}"}


class Report:
    def __init__(self, output, seconds):
        self.file, self.end = open(output, "w", encoding="utf-8"), time.monotonic() + seconds
        self.facts = {"device": torch.cuda.get_device_name(), "torch": torch.__version__}
        print(*self.facts.values(), "- milliseconds; rates by the median")
        print(f"{'':52}{'median':>10}{'min':>10}{'wall':>10}{'first':>10}  rate, attention")

    def left(self):
        return self.end - time.monotonic()

    def add(self, what, measure, work=None, **known):
        """Adds a result. `work`: the name of a rate, and the amount that gives the rate if divided by milliseconds."""
        try:
            facts = known | (measure() if self.left() > 0 else {"error": "out of time"})
        except Exception as error:
            facts = known | failure(error)
        torch.cuda.empty_cache()
        note = facts.get("error", facts.get("attention", ""))
        if work and "median_ms" in facts:
            facts[work[0]] = work[1] / facts["median_ms"]
            note = f"{facts[work[0]]:.1f} {work[0]} {note}"
        facts = {k: round(v, 5) if isinstance(v, float) else v for k, v in facts.items()}
        print(json.dumps({"what": what, **facts, **self.facts}), file=self.file, flush=True)
        times = [facts.get(f"{name}_ms", math.nan) for name in ("median", "min", "wall", "first")]
        print(f"{what:52}{''.join(f'{value:10.4f}' for value in times)}  {note}", flush=True)


def peaks(report):
    def copy():
        source = torch.randint(0, 127, (1 << 30,), dtype=torch.int8, device=DEVICE)
        return lambda target=torch.empty_like(source): target.copy_(source)

    report.add("copy of 1 GiB", lambda: operation(copy, 2 << 30), ("GB/s", (2 << 30) / 1e6))
    for precision, setting in PRECISIONS.items():
        torch.set_float32_matmul_precision(setting)
        kind = {"dtype": torch.bfloat16 if precision == "bf16" else torch.float32, "device": DEVICE}

        def product():
            a, b = torch.randn(8192, 8192, **kind), torch.randn(8192, 8192, **kind)
            return lambda: a @ b

        work = ("TFLOP/s", 2 * 8192**3 / 1e9)
        report.add(f"product 8192 {precision}", lambda: operation(product, 4 * 8192**2), work)


def naive_attention(q, k, v):
    return torch.softmax(q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1]), -1) @ v


def attention(report):
    torch.set_float32_matmul_precision("highest")
    shapes = ((32, 8, 128, 64), (4, 16, 4096, 64), (4, 16, 4096, 128))
    dtypes = (torch.float32, torch.bfloat16, torch.float16)
    ways = ("naive", *BACKENDS)
    for shape, dtype, backward, way in itertools.product(shapes, dtypes, (False, True), ways):
        attend = naive_attention if way == "naive" else scaled_dot_product_attention

        def call():
            q, k, v, dy = (torch.randn(shape, dtype=dtype, device=DEVICE) for _ in range(4))
            if not backward:
                return lambda: attend(q, k, v)
            inputs = [tensor.requires_grad_() for tensor in (q, k, v)]
            return lambda: torch.autograd.grad(attend(*inputs), inputs, dy)

        def measure():
            with sdpa_kernel(BACKENDS.get(way, SDPBackend.MATH)):
                return operation(call, 3 * math.prod(shape) * dtype.itemsize)

        work = ("TFLOP/s", 4 * math.prod(shape) * shape[2] * (3.5 if backward else 1) / 1e9)
        what = f"attention {shape} {str(dtype)[6:]}{' + backward' * backward}"
        report.add(what, measure, work, attention=way)


def decoded(mantissas, exponents):
    """Returns m * 2^(e - 127 - 6) for rows of 32 mantissas m with one exponent byte e."""
    return mantissas * ((exponents.to(torch.int16) - 6) << 7).view(torch.bfloat16)


def decode(report):
    for count, mode in itertools.product((1 << 24, 1 << 26, 7 << 25), ("eager", "default")):
        function = decoded if mode == "eager" else torch.compile(decoded, dynamic=False)

        def call():
            m = torch.randint(-128, 128, (count // 32, 32), dtype=torch.int8, device=DEVICE)
            e = torch.randint(100, 150, (count // 32, 1), dtype=torch.uint8, device=DEVICE)
            return lambda: function(m, e)

        size = 3 * count + count // 32
        what = f"decode MXINT8 {count / 1e6:.1f}M {mode}"
        report.add(what, lambda: operation(call, size), ("GB/s", size / 1e6), mode=mode)


def model_cases(sections):
    """Returns (section, model, batch, precision, mode), slowest to compile first."""
    both = ("default", "reduce-overhead")
    kinds = [("training", "base", 32, both[:1]), ("inference", "base", 32, both[:1]), ("inference", "base", 1, both)]
    kinds += [("training", "tiny", 8, both), ("training", "tiny", 32, both)]
    kinds += [(section, RESNET, batch, both[:1]) for section in ("training", "inference") for batch in (128, 8)]
    for section, model, batch, compiled in kinds:
        fp16 = ["fp16"] if model == RESNET and section == "inference" else []
        for mode, precision in itertools.product(("eager", "graph", *compiled), [*PRECISIONS, *fp16]):
            spared = section == "training" and mode in both and precision == "fp32"
            if section in sections and not spared:
                yield section, model, batch, precision, mode


def resnet(batch, dtype):
    """Returns ResNet-18 and a batch of images, in cuDNN's fastest layout."""
    from transformers import ResNetConfig, ResNetForImageClassification

    config = ResNetConfig(hidden_sizes=[64, 128, 256, 512], depths=[2] * 4, layer_type="basic", num_labels=2)
    with torch.device(DEVICE):
        model = ResNetForImageClassification(config).to(dtype=dtype, memory_format=torch.channels_last)
        pixels = torch.randn(batch, 3, 224, 224, dtype=dtype).to(memory_format=torch.channels_last)
    return model, {"pixel_values": pixels}


def bert(size, batch, dtype):
    """Returns a BERT classifier and a batch of texts without padding."""
    from transformers import BertConfig, BertForSequenceClassification

    names = ("hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size")
    kind = dict(zip(names, MODELS[size]), problem_type="single_label_classification", num_labels=2)
    with torch.device(DEVICE):
        model = BertForSequenceClassification(BertConfig(attn_implementation="sdpa", **kind)).to(dtype)
        inputs = {"input_ids": torch.randint(1000, 30000, (batch, TOKENS))}
        inputs["token_type_ids"] = torch.zeros_like(inputs["input_ids"])
        inputs["attention_mask"] = torch.ones_like(inputs["input_ids"])
    return model, inputs


def prepared(case, mask):
    """Returns a function that computes the case once."""
    section, size, batch, precision, mode = case
    torch.set_float32_matmul_precision(PRECISIONS.get(precision, "high"))
    torch.backends.cudnn.allow_tf32 = precision != "fp32"
    torch.backends.cudnn.benchmark = True
    dtype = HALVES.get(precision, torch.float32) if section == "inference" else torch.float32
    model, inputs = resnet(batch, dtype) if size == RESNET else bert(size, batch, dtype)
    labels = torch.randint(0, 2, (batch,), device=DEVICE)
    model.train(section == "training")
    if not mask and size != RESNET:
        model.bert._create_attention_masks = lambda **_: (None, None)
    compiles = mode in ("default", "reduce-overhead")
    forward = torch.compile(model, mode=mode, dynamic=False) if compiles else model
    if section == "inference":
        return torch.no_grad()(lambda: forward(**inputs).logits)
    optimizer = torch.optim.AdamW(model.parameters(), fused=True, capturable=mode == "graph")

    def step():
        with torch.autocast(DEVICE, torch.bfloat16, enabled=precision == "bf16"):
            loss = forward(**inputs, labels=labels).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    return step


def begun(case, mask):
    """Returns the call after its first runs, with their results."""
    call = prepared(case, mask)
    facts = first_call(call)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        call()
    names = " ".join(event.key for event in profile.key_averages())
    ways = [way for way in BACKENDS if f"_scaled_dot_product_{way}_attention" in names]
    return call, facts | {"attention": "+".join(ways) or "math"}


def compiled(case, mask):
    """Runs in a separate process: compiles at the first request, times at the second."""
    warnings.filterwarnings("ignore")
    try:
        if HELD:
            return HELD["facts"] | timed(HELD["call"])
        HELD["call"], HELD["facts"] = begun(case, mask)
        timed(HELD["call"], runs=1)
        return {}
    except Exception as error:
        return failure(error)


def name_of(case):
    section, model, batch, precision, mode = case
    what = f"{model} {batch}" if model == RESNET else f"bert-{model} {batch}x{TOKENS}"
    return f"{section} {what} {precision} {mode}"


def models(report, sections, mask, wanted):
    """Times cases without compilation first, while GPU and CPUs are idle."""
    cases = [case for case in model_cases(sections) if any(fnmatch.fnmatch(name_of(case), glob) for glob in wanted)]
    direct = [case for case in cases if case[-1] in ("eager", "graph")]

    def add(case, mask, measure):
        report.add(name_of(case), measure, precision=case[-2], mode=case[-1], mask=mask)

    for case in direct:
        graph = case[-1] == "graph"

        def measure():
            call, facts = begun(case, mask and not graph)
            return facts | timed(captured(call) if graph else call)

        add(case, mask and not graph, measure)
    context = multiprocessing.get_context("spawn")
    pools = {case: context.Pool(1) for case in cases if case not in direct}
    answers = {case: pool.apply_async(compiled, (case, mask)) for case, pool in pools.items()}
    for answer in answers.values():
        answer.wait(max(0, report.left() - TIMING_SECONDS))
    late = [case for case in pools if not answers[case].ready()]
    for case in late:
        pools[case].terminate()
    for case, pool in pools.items():

        def measure():
            first = {"error": "not compiled in time"} if case in late else answers[case].get()
            return first or pool.apply_async(compiled, (case, mask)).get(report.left())

        add(case, mask, measure)
        pool.terminate()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", required=True)
    parser.add_argument("--sections", default=",".join(SECTIONS))
    parser.add_argument("--cases", default="*", help="which models, as 'training*bf16 default,*tiny*'")
    parser.add_argument("--no-mask", action="store_true", help="give models no attention mask")
    parser.add_argument("--seconds", type=float, default=145, help="what comes later is left out")
    options = parser.parse_args()
    sections = options.sections.split(",")
    if unknown := set(sections) - set(SECTIONS):
        parser.error(f"no section {', '.join(unknown)}; there are {', '.join(SECTIONS)}")
    warnings.filterwarnings("ignore")
    torch.manual_seed(0)
    report = Report(options.output, options.seconds)
    for section in (peaks, attention, decode):
        if section.__name__ in sections:
            section(report)
    models(report, sections, not options.no_mask, options.cases.split(","))


if __name__ == "__main__":
    main()
