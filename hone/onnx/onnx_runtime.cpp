#include "hone/onnx/onnx_runtime.h"

#include <fmt/format.h>

#include "hone/base/json.h"
#include "hone/base/process.h"
#include "hone/tensor/safetensors.h"

namespace hone {
namespace {

constexpr const char* kDebianPackage = "python3";

// Contains its own safetensors code, so that it needs only numpy besides onnxruntime.
constexpr const char* kScript = R"(import json, struct, sys, time
import numpy as np
import onnxruntime as ort

TYPES = {"F32": "<f4", "F16": "<f2", "I64": "<i8"}
NAMES = {np.dtype(code): name for name, code in TYPES.items()}

def read(path):
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        data = file.read()
    header.pop("__metadata__", None)
    return {name: np.frombuffer(data[slice(*row["data_offsets"])], TYPES[row["dtype"]]).reshape(row["shape"])
            for name, row in header.items()}

def write(path, arrays, metadata):
    header, parts, at = {"__metadata__": metadata}, [], 0
    for name, array in arrays.items():
        part = np.ascontiguousarray(array).tobytes()
        header[name] = {"dtype": NAMES[array.dtype], "shape": list(array.shape),
                        "data_offsets": [at, at + len(part)]}
        parts.append(part)
        at += len(part)
    text = json.dumps(header).encode()
    text += b" " * (-len(text)% 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(parts))

model, asked, answered, threads, repetitions, exact = sys.argv[1:7]
options = ort.SessionOptions()
options.intra_op_num_threads = int(threads)
options.log_severity_level = 3
if exact == "exact":
    options.add_session_config_entry("session.qdq_matmulnbits_accuracy_level", "0")
session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
names = [output.name for output in session.get_outputs()]
runs = {}
for name, array in read(asked).items():
    run, input = name.split("/", 1)
    runs.setdefault(int(run), {})[input] = array
outputs, seconds = {}, []
for run, inputs in sorted(runs.items()):
    times = []
    for _ in range(int(repetitions)):
        start = time.perf_counter()
        values = session.run(None, inputs)
        times.append(time.perf_counter() - start)
    seconds.append(min(times))
    outputs.update({f"{run}/{name}": value for name, value in zip(names, values)})
write(answered, outputs, {"version": ort.__version__, "seconds": json.dumps(seconds)})
)";

// Splits a tensor name into the index of its run and the name of the value.
std::pair<std::size_t, std::string> parts_of(const std::string& name) {
  const std::size_t slash = name.find('/');
  return {std::stoul(name.substr(0, slash)), name.substr(slash + 1)};
}

}  // namespace

std::optional<std::string> python_with_onnx_runtime() {
  const std::string python = python_program();
  try {
    run_program({python, "-c", "import numpy, onnxruntime"}, fs::temp_directory_path(),
                kDebianPackage);
  } catch (const UserError&) {
    return std::nullopt;
  }
  return python;
}

OnnxRuntimeRuns run_in_onnx_runtime(const std::string& python, const fs::path& file,
                                    const std::vector<TensorMap>& inputs,
                                    const OnnxRuntimeOptions& options) {
  const ScratchFolder scratch(fs::temp_directory_path() / "hone_onnx_runtime");
  const fs::path asked = scratch.path() / "inputs.safetensors",
                 answered = scratch.path() / "outputs.safetensors";
  TensorMap all;
  for (std::size_t run = 0; run < inputs.size(); ++run)
    for (const auto& [name, tensor] : inputs[run])
      all.emplace(fmt::format("{}/{}", run, name), tensor);
  write_safetensors(asked, all);
  run_program({python, "-c", kScript, fs::absolute(file).string(), asked.string(),
               answered.string(), std::to_string(options.threads),
               std::to_string(options.repetitions), options.exact_products ? "exact" : "usual"},
              scratch.path(), kDebianPackage);
  const Safetensors answers = read_safetensors(answered);
  OnnxRuntimeRuns runs{.version = answers.metadata.at("version"),
                       .outputs = std::vector<TensorMap>(inputs.size()),
                       .seconds = {}};
  for (const auto& [name, tensor] : answers.tensors) {
    const auto [run, output] = parts_of(name);
    runs.outputs.at(run).emplace(output, tensor.contiguous_copy());
  }
  for (const Json& seconds : parse_json(answers.metadata.at("seconds"), "ONNX Runtime"))
    runs.seconds.push_back(seconds.get<double>());
  return runs;
}

}  // namespace hone
