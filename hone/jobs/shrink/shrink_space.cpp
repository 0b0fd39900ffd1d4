#include "hone/jobs/shrink/shrink_space.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "hone/base/error.h"
#include "hone/base/text.h"
#include "hone/jobs/native/native_copy.h"
#include "hone/jobs/prune/shapes.h"
#include "hone/metrics/metric.h"
#include "hone/passes/drop_layers.h"
#include "hone/passes/prune.h"
#include "hone/runtime/native_formats.h"

namespace hone {
namespace {

constexpr std::string_view kEightBits = "int(bits=8,per=row)", kFourBits = "int(bits=4,per=row)";
constexpr std::string_view kMeans[] = {"trim",     "prune",    "sparsify",
                                       "quantize", "allocate", "train"};

// Returns the distinct shares near a quarter, a half and three quarters: "0, 0.3333, 0.6667" for three units.
std::string shares_of(std::int64_t count) {
  std::string shares = "0";
  std::int64_t gone = 0;
  for (const double share : {0.25, 0.5, 0.75}) {
    const auto goes = std::llround(share * static_cast<double>(count));
    if (goes > gone && goes < count)
      shares += fmt::format(", {:.4g}", static_cast<double>(goes) / static_cast<double>(count));
    gone = std::max<std::int64_t>(gone, goes);
  }
  return gone == 0 ? "" : shares;
}

// Returns the size of the smallest group that is not frozen; 0 if there is none.
std::int64_t fewest_units(const Graph& graph, UnitKind kind,
                          const std::vector<std::string>& freeze) {
  std::int64_t fewest = 0;
  for (const UnitGroup& group : unit_groups(graph, kind))
    if (!is_named(group, freeze))
      fewest = fewest == 0 ? group.count : std::min(fewest, group.count);
  return fewest;
}

// Returns whether a config.json of transformers can express the remaining units. It has one number of neurons for all
// layers; its number of heads would change their size.
bool config_has(UnitKind kind, const Graph& graph, const std::vector<std::string>& freeze) {
  return kind == UnitKind::neurons &&
         std::ranges::none_of(unit_groups(graph, kind),
                              [&](const UnitGroup& group) { return is_named(group, freeze); });
}

// Returns numbers of training steps at batch size 32, up to 8 passes over the training texts.
std::vector<std::int64_t> steps_for(std::int64_t texts) {
  constexpr std::int64_t kBatch = 32, kMostPasses = 8;
  std::vector<std::int64_t> steps = {0};
  for (const std::int64_t count : {128, 512, 2048})
    if (steps.size() == 1 || count * kBatch <= kMostPasses * texts) steps.push_back(count);
  return steps;
}

double hidden_size(const Model& model) {
  const Json& config = model.facts.config;
  for (const char* key : {"hidden_size", "dim"})
    if (config.contains(key) && config[key].is_number()) return config[key].get<double>();
  return 128;
}

// Rates that recover pruned models from BERT-tiny to BERT-base: 1.5e-4 at a hidden size of 128, 2.5e-5 at 768.
double learning_rate_for(const Model& model) {
  return std::clamp(0.0192 / hidden_size(model), 2e-5, 5e-4);
}

// 5e-3 at a hidden size of 128, 8.3e-4 at 768.
double adapter_rate_for(const Model& model) {
  return std::clamp(0.64 / hidden_size(model), 5e-4, 1e-2);
}

// Returns a plan of all linears, with a format for their inputs, and all embedding tables, without one.
QuantizationPlan all_native(const Model& model) {
  static const FormatTable formats = builtin_formats();
  const Format format = parse_format(std::string(kEightBits), formats);
  return native_plan(unquantized_graph(model), format, native_input(format, formats));
}

// Returns a [pruning] section for the linears that are not frozen; "" if there are none to prune.
std::string pruning_section(const Graph& graph, std::string_view structure,
                            const std::vector<std::string>& freeze) {
  if (graph.operations(kDefaultLayer).size() < 2) return "";  // the classifier is not pruned
  std::vector<std::string> target;
  const std::vector<Node*> prunable = prunable_products(graph, {});
  for (const Node* node : prunable)
    if (node->is(kDefaultLayer) && !matches_any(freeze, node->name()))
      target.push_back(node->name());
  if (target.empty()) return "";
  std::string text =
      fmt::format("\n[pruning]\nsparsity = [0, 0.6, 0.8]\nstructure = \"{}\"\n", structure);
  if (target.size() < prunable.size())
    text += fmt::format("target = \"{}\"\n", fmt::join(target, ","));
  return text;
}

void check_names(const Model& model, const std::vector<std::string>& freeze) {
  for (const std::string& glob : freeze)
    user_check(
        std::ranges::any_of(all_native(model),
                            [&](const auto& entry) { return glob_match(glob, entry.first); }),
        "`freeze`: '{}' matches no linear layer and no table; see the names in `hone inspect "
        "MODEL`",
        glob);
}

}  // namespace

std::vector<std::string> shrink_methods() { return {std::begin(kMeans), std::end(kMeans)}; }

bool freezes_tables(const Model& model, const std::vector<std::string>& freeze) {
  return std::ranges::any_of(all_native(model), [&](const auto& entry) {
    return !entry.second.input && matches_any(freeze, entry.first);
  });
}

std::string shrink_space(const TrialSubject& subject, const std::vector<std::string>& only,
                         const std::vector<std::string>& freeze) {
  const auto may = [&](std::string_view means) {
    return only.empty() || std::ranges::find(only, means) != only.end();
  };
  const Model& model = subject.baseline.model;
  check_names(model, freeze);
  const std::string frozen =
      freeze.empty() ? "" : fmt::format("freeze = \"{}\"\n", fmt::join(freeze, ","));
  std::vector<std::string> of_parameters;
  for (const std::string& glob : freeze) of_parameters.push_back(glob + "*");
  const Task task = model.facts.task();
  std::string text = fmt::format(
      "# What was tried, from gentle to strong. `hone search --recipe` takes it too.\n"
      "maximize = \"{}\"\nminimize = [\"packed_bytes\", \"latency_ms\"]\n",
      metrics(task).front().name);
  if (may("prune")) {
    text += "\n[structure]\n";
    for (const UnitKind kind : kUnitKinds)
      if (const std::string shares = shares_of(fewest_units(model.graph, kind, freeze));
          !shares.empty() && (!subject.loadable || config_has(kind, model.graph, freeze)))
        text += fmt::format("{} = [{}]\n", to_string(kind), shares);
    // Layers are removed by position, so frozen names cannot be respected.
    if (const std::string shares = shares_of(layer_stack(model.graph).count);
        !shares.empty() && freeze.empty())
      text += fmt::format("layers = [{}]\n", shares);
    text += frozen;
  }
  // Native products skip blocks of 1x4, float products blocks of 4x1.
  std::string sparse;
  if (may("sparsify"))
    sparse = pruning_section(model.graph, may("quantize") ? "1x4" : "4x1", freeze);
  text += sparse;
  const bool compresses = may("quantize") || !sparse.empty();
  if (may("train")) {
    const std::vector<std::int64_t> steps = steps_for(subject.data.train.size());
    std::string rate = fmt::format("batch_size = 32\nlearning_rate = {:.2g}\nwarmup_ratio = 0.1\n",
                                   learning_rate_for(model));
    if (!freeze.empty()) rate += fmt::format("freeze = \"{}\"\n", fmt::join(of_parameters, ","));
    if (may("prune"))
      text += fmt::format("\n[training]\nmax_steps = [{}]\n{}", fmt::join(steps, ", "), rate);
    // Adapters recover more in few steps, at less cost per step; training all weights recovers more in many steps.
    if (may("prune") && freeze.empty())
      text +=
          fmt::format("\n[lora]\nr = 16\nalpha = 32\nlearning_rate = {:.2g}\nmost_steps = 512\n",
                      adapter_rate_for(model));
    if (compresses)
      text += fmt::format(
          "\n[train_on]\nmax_steps = [{}]\n{}",
          fmt::join(steps.begin(), steps.begin() + std::min<std::ptrdiff_t>(3, std::ssize(steps)),
                    ", "),
          rate);
    if (task == Task::single_label && (may("prune") || compresses))
      text += "\n[distillation]\nalpha = 0\ntemperature = 2\n";
  }
  if (may("quantize")) {
    text += fmt::format("\n[native]\nlinears = [\"none\", \"{}\"]\n", kEightBits);
    if (may("allocate"))
      text += fmt::format("narrow = \"{}\"\nnarrow_share = [0, 0.25, 0.5, 0.75, 1]\n", kFourBits);
    text += fmt::format("tables = [\"none\", \"{}\", \"{}\"]\n{}", kEightBits, kFourBits, frozen);
  }
  return text;
}

}  // namespace hone
