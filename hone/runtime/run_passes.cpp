#include "hone/runtime/run_passes.h"

#include <algorithm>
#include <chrono>

#include "hone/ir/verify.h"
#include "hone/passes/quantize.h"
#include "hone/runtime/fuse_unpack.h"
#include "hone/runtime/kernel_choice.h"

namespace hone {
namespace {

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// --skip_pass matches `name`; messages show `text`.
bool run_one(Graph& graph, const Session& session, std::string_view name, const std::string& text,
             const std::function<bool()>& change) {
  PassRun run{.pass = text, .nodes_before = graph.nodes().size()};
  run.skipped = session.watch != nullptr && session.watch->skipped.contains(std::string(name));
  if (!run.skipped) {
    with_context(fmt::format("in the pass {}", text), [&] {
      run.seconds = seconds_of([&] { run.changed = change(); });
      if (run.changed) run.verify_seconds = seconds_of([&] { verify(graph); });
    });
  }
  run.nodes_after = graph.nodes().size();
  if (session.watch != nullptr && session.watch->on_pass) session.watch->on_pass(run, graph);
  return run.changed;
}

}  // namespace

bool run_passes(Graph& graph, ParameterStore& parameters, const Session& session,
                std::span<const Pass> passes) {
  bool changed = false;
  for (const Pass& pass : passes)
    changed |= run_one(graph, session, pass.def->name, to_string(pass),
                       [&] { return run_pass(pass, graph, parameters, session); });
  return changed;
}

bool run_passes(Graph& graph, ParameterStore& parameters, const Session& session,
                std::initializer_list<std::string_view> passes) {
  std::vector<Pass> parsed;
  for (const std::string_view text : passes)
    parsed.push_back(parse_pass(text, session.library.passes, session.library.formats));
  return run_passes(graph, parameters, session, parsed);
}

bool fuse_for_inference(Graph& graph, ParameterStore& parameters, const Session& session) {
  const bool fused = run_passes(
      graph, parameters, session,
      {"remove_dropout", "remove_dead_code", "hoist_slices", "fuse_attention", "fold_batch_norm",
       "fuse_linear", "fuse_conv2d", "fuse_unpack", "merge_equal", "fuse_codes"});
  if (session.values == DType::f32) return fused;
  const auto takes_part = [&](std::string_view op) {
    return computes_halves(op, session.library.kernels, session.device);
  };
  const std::string cast =
      fmt::format("autocast(values={}, convolutions={}, codes={})", info(session.values).name,
                  takes_part("conv2d"), takes_part("native_linear"));
  return run_passes(graph, parameters, session, {cast}) || fused;
}

bool compute_once(Graph& graph, ParameterStore& parameters, const Session& session) {
  return run_passes(graph, parameters, session, {"fold_parameters", "merge_equal_states"});
}

bool prepare_for_inference(Graph& graph, ParameterStore& parameters, const Session& session) {
  const bool fused = fuse_for_inference(graph, parameters, session);
  return compute_once(graph, parameters, session) || fused;
}

std::string_view arithmetic_of_run(const Graph& graph, const Session& session) {
  // For a quantized graph, kSimulated says more than the type of its values.
  const std::string_view own = arithmetic_of(graph);
  if (own == kFloat && session.values != DType::f32)
    return session.values == DType::bf16 ? kBfloat16 : kFloat16;
  Graph fused = graph;
  if (!fuse_unpack(fused, session)) return own;
  const auto is_native = [&](const Node* node) {
    const Kernel* kernel = find_kernel(session.library.kernels, *node, session.device);
    return kernel != nullptr && kernel->native.has_value();
  };
  return std::ranges::any_of(fused.of_kind(NodeKind::operation), is_native) ? kNative : own;
}

bool run_as_pass(Graph& graph, const Session& session, std::string_view name,
                 const std::function<bool()>& change) {
  user_check(session.watch == nullptr || !session.watch->skipped.contains(std::string(name)),
             "the pass {} is requested and cannot be skipped", name);
  return run_one(graph, session, name, std::string(name), change);
}

}  // namespace hone
