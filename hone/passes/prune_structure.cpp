#include "hone/passes/prune_structure.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "hone/base/options.h"
#include "hone/base/text.h"
#include "hone/passes/lora.h"
#include "hone/passes/quantize.h"

namespace hone {
namespace {

UnitKind unit_kind(std::string_view name) {
  for (const UnitKind kind : kUnitKinds)
    if (to_string(kind) == name) return kind;
  fail("structure: expected heads or neurons, separated by commas, got '{}'", name);
}

// Rejects quantized models and adapters, which depend on the shapes to change.
void check_no_quantizers(const Graph& graph) {
  user_check(!has_quantizers(graph),
             "the model is quantized, and its formats depend on the shapes that pruning "
             "changes; prune the original model, then quantize it");
  const std::vector<Adapter> found = adapters(graph);
  user_check(found.empty(),
             "%{} has a low-rank adapter, which depends on the shapes that pruning changes; "
             "run `hone lora merge` first",
             found.empty() ? "" : found[0].linear->name());
}

UnitScores magnitudes(const ParameterStore& parameters, const std::string& method) {
  user_check(method != "first_order",
             "method: first_order needs the loss on examples, which a pass does not read; "
             "use `hone prune`");
  user_check(method == "l1" || method == "l2", "method: expected l1 or l2, got '{}'", method);
  return [&parameters, power = method == "l1" ? 1 : 2](const UnitGroup& group) {
    return unit_magnitudes(group, parameters, power);
  };
}

}  // namespace

bool is_named(const UnitGroup& group, const std::vector<std::string>& globs) {
  return matches_any(globs, group.reader->name()) ||
         std::ranges::any_of(group.makers,
                             [&](const Node* maker) { return matches_any(globs, maker->name()); });
}

bool prune_structure(Graph& graph, ParameterStore& parameters, const StructureOptions& options,
                     const UnitScores& scores) {
  check_no_quantizers(graph);
  std::vector<UnitGroup> groups;
  KeptUnits kept;
  for (const UnitKind kind : options.kinds) {
    std::vector<UnitGroup> found = unit_groups(graph, kind);
    user_check(!found.empty(), "the graph has no {} that can be removed", to_string(kind));
    std::erase_if(found, [&](const UnitGroup& group) { return is_named(group, options.freeze); });
    std::vector<std::vector<double>> of_kind;
    for (const UnitGroup& group : found) of_kind.push_back(scores(group));
    for (std::vector<std::int64_t>& units : choose_units(of_kind, options.sparsity, options.scope))
      kept.push_back(std::move(units));
    groups.insert(groups.end(), found.begin(), found.end());
  }
  return keep_units(graph, parameters, groups, kept);
}

StructureOptions structure_options(const Attributes& options) {
  StructureOptions read;
  read.kinds.clear();
  for (const std::string& name : split(options.get<std::string>("structure"), ',')) {
    const UnitKind kind = unit_kind(trim(name));
    user_check(std::ranges::find(read.kinds, kind) == read.kinds.end(),
               "structure: {} is given twice", to_string(kind));
    read.kinds.push_back(kind);
  }
  read.sparsity = options.get<double>("sparsity");
  read.method = options.get<std::string>("method");
  read.scope = with_context("scope", [&] {
    return static_cast<UnitScope>(
        detail::enum_value(options.get<std::string>("scope"), enum_names(UnitScope())));
  });
  if (const auto& freeze = options.get<std::string>("freeze"); !freeze.empty())
    read.freeze = split(freeze, ',');
  return read;
}

std::string prune_structure_text(const StructureOptions& options) {
  std::vector<std::string_view> kinds;
  for (const UnitKind kind : options.kinds) kinds.push_back(to_string(kind));
  const PassDef def = prune_structure_pass();
  return to_string(Pass{&def,
                        {{"structure", fmt::format("{}", fmt::join(kinds, ","))},
                         {"sparsity", options.sparsity},
                         {"method", options.method},
                         {"scope", std::string(enum_name(options.scope))},
                         {"freeze", fmt::format("{}", fmt::join(options.freeze, ","))}}});
}

PassDef prune_structure_pass() {
  return {
      .name = "prune_structure",
      .summary = "remove whole heads and neurons, which shrinks shapes",
      .options = {{"structure", "heads, neurons, or both separated by a comma",
                   std::string("heads,neurons")},
                  {"sparsity", "fraction of heads and neurons to remove", 0.5},
                  {"method", "criterion: l1 or l2 norm of their weights", std::string("l1")},
                  {"scope",
                   "remove the same fraction everywhere (local) or the smallest of all (global)",
                   std::string("local")},
                  {"freeze",
                   "globs over linear layers whose heads and neurons to keep, separated by commas",
                   std::string()}},
      .run = [](Graph& graph, ParameterStore& parameters, const Attributes& options,
                const Session&) {
        const StructureOptions read = structure_options(options);
        return prune_structure(graph, parameters, read, magnitudes(parameters, read.method));
      }};
}

}  // namespace hone
