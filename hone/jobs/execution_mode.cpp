#include "hone/jobs/execution_mode.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "hone/base/text.h"
#include "hone/compiler/compiled.h"
#include "hone/compiler/machine_code.h"
#include "hone/cuda/captured.h"
#include "hone/jobs/device_time.h"

namespace hone {
namespace {

/// Prepares the graph anew in every run.
class EagerExecutable final : public Executable {
 public:
  EagerExecutable(const Graph& graph, const Session& session) : graph_(graph), session_(session) {}

  NamedTensors run(const NamedTensors& inputs, ParameterStore& parameters) override {
    const std::unique_ptr<Executable> once = interpreted(graph_, session_);
    once->record(spans_);
    return once->run(inputs, parameters);
  }
  void record(std::vector<OperationSpan>* spans) override { spans_ = spans; }

 private:
  const Graph& graph_;
  Session session_;
  std::vector<OperationSpan>* spans_ = nullptr;
};

std::string not_eager(const Session& session) {
  return session.values == DType::f32 ? "" : "it supports fp32 only; leave `precision` out";
}

std::string not_compiled(const Session& session) {
  if (!session.device.host_accessible()) return "code is generated for the CPU only";
  return compiler::code_generation_missing();
}

std::string not_captured(const Session& session) {
  return gpu_of(session.device) == nullptr ? "only NVIDIA GPUs support CUDA graphs" : "";
}

}  // namespace

std::string objection_of(const ExecutionMode& mode, const Session& session) {
  return mode.objection == nullptr ? "" : mode.objection(session);
}

Graph executed_graph(const ExecutionMode& mode, const Graph& graph, const Session& session) {
  return mode.executed == nullptr ? graph : mode.executed(graph, session);
}

std::unique_ptr<Executable> run_eagerly(const Graph& graph, const Session& session) {
  return std::make_unique<EagerExecutable>(graph, session);
}

const std::vector<ExecutionMode>& execution_modes() {
  static const std::vector<ExecutionMode> all = {
      {.name = "eager",
       .summary = "runs the model's operations one by one: nothing is fused, and nothing is kept "
                  "between calls",
       .executor = run_eagerly,
       .fusing = Fusing::none,
       .objection = not_eager},
      {.name = "interpreter",
       .summary = "runs fused operations one by one; keeps memory and packed weights",
       .executor = interpreted},
      {.name = "compiled",
       .summary = "like interpreter, but fuses element-wise operations further, into code "
                  "generated for the CPU",
       .executor = compiler::compiled,
       .objection = not_compiled,
       .executed = compiler::compiled_graph},
      {.name = "graph",
       .summary = "like interpreter, but records the third call as a CUDA graph, which later calls "
                  "launch as a whole",
       .executor = cuda::captured,
       .objection = not_captured}};
  return all;
}

std::vector<std::string> execution_mode_names() {
  std::vector<std::string> names;
  for (const ExecutionMode& mode : execution_modes()) names.emplace_back(mode.name);
  return names;
}

const ExecutionMode& find_execution_mode(std::string_view name) {
  const auto& all = execution_modes();
  const auto found = std::ranges::find(all, name, &ExecutionMode::name);
  user_check(found != all.end(), "unknown executor '{}'; expected one of: {}", name,
             fmt::join(execution_mode_names(), ", "));
  return *found;
}

const ExecutionMode& mode_of(const Session& session) {
  const auto& all = execution_modes();
  const auto found = std::ranges::find(all, session.executor, &ExecutionMode::executor);
  HONE_ASSERT(found != all.end(), "a session with an executor of its own");
  return *found;
}

std::vector<std::string> usable_modes(const Session& session) {
  std::vector<std::string> names;
  for (const ExecutionMode& mode : execution_modes())
    if (objection_of(mode, session).empty()) names.emplace_back(mode.name);
  return names;
}

void check_usable(const ExecutionMode& mode, const Session& session) {
  const std::string objection = objection_of(mode, session);
  user_check(objection.empty(), "the executor {} is not supported here: {}", mode.name, objection);
}

}  // namespace hone
