#include "hone/jobs/execution_way.h"

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
  return session.values == DType::f32 ? ""
                                      : "it runs graphs as models have them, in fp32; leave "
                                        "`precision` out";
}

std::string not_compiled(const Session& session) {
  if (!session.device.host_accessible()) return "code is generated for the CPU only";
  return compiler::code_generation_missing();
}

std::string not_captured(const Session& session) {
  return gpu_of(session.device) == nullptr ? "only NVIDIA GPUs have CUDA graphs" : "";
}

}  // namespace

std::string objection_of(const ExecutionWay& way, const Session& session) {
  return way.objection == nullptr ? "" : way.objection(session);
}

Graph executed_graph(const ExecutionWay& way, const Graph& graph, const Session& session) {
  return way.executed == nullptr ? graph : way.executed(graph, session);
}

std::unique_ptr<Executable> run_eagerly(const Graph& graph, const Session& session) {
  return std::make_unique<EagerExecutable>(graph, session);
}

const std::vector<ExecutionWay>& execution_ways() {
  static const std::vector<ExecutionWay> all = {
      {.name = "eager",
       .summary = "operation by operation as the model has them: nothing is fused, and nothing is "
                  "kept between two calls",
       .executor = run_eagerly,
       .fusing = Fusing::none,
       .objection = not_eager},
      {.name = "interpreter",
       .summary = "fused operations, one after the other, in memory and with packed weights that "
                  "are kept",
       .executor = interpreted},
      {.name = "compiled",
       .summary = "as interpreter, with element-wise operations fused further, into code that is "
                  "generated for the processor",
       .executor = compiler::compiled,
       .objection = not_compiled,
       .executed = compiler::compiled_graph},
      {.name = "graph",
       .summary = "as interpreter, but the third call is recorded as a CUDA graph, which later "
                  "calls start as a whole",
       .executor = cuda::captured,
       .objection = not_captured}};
  return all;
}

std::vector<std::string> execution_way_names() {
  std::vector<std::string> names;
  for (const ExecutionWay& way : execution_ways()) names.emplace_back(way.name);
  return names;
}

const ExecutionWay& find_execution_way(std::string_view name) {
  const auto& all = execution_ways();
  const auto found = std::ranges::find(all, name, &ExecutionWay::name);
  user_check(found != all.end(), "no executor is called '{}'; those there are: {}", name,
             fmt::join(execution_way_names(), ", "));
  return *found;
}

const ExecutionWay& way_of(const Session& session) {
  const auto& all = execution_ways();
  const auto found = std::ranges::find(all, session.executor, &ExecutionWay::executor);
  HONE_ASSERT(found != all.end(), "a session with an executor of its own");
  return *found;
}

std::vector<std::string> usable_ways(const Session& session) {
  std::vector<std::string> names;
  for (const ExecutionWay& way : execution_ways())
    if (objection_of(way, session).empty()) names.emplace_back(way.name);
  return names;
}

void check_usable(const ExecutionWay& way, const Session& session) {
  const std::string objection = objection_of(way, session);
  user_check(objection.empty(), "the executor {} cannot be had here: {}", way.name, objection);
}

}  // namespace hone
