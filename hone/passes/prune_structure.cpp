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
void check_plain(const Graph& graph) {
  user_check(
      !has_quantizers(graph),
      "the model is quantized, and formats know the shapes that would go; prune the model it "
      "was made from, then quantize");
  const std::vector<Adapter> found = adapters(graph);
  user_check(found.empty(),
             "%{} has an adapter of low rank, which knows the shapes that would go; `hone lora "
             "merge` first",
             found.empty() ? "" : found[0].linear->name());
}

UnitScores magnitudes(const ParameterStore& parameters, const std::string& method) {
  user_check(method != "first_order",
             "method: first_order asks the loss on texts, which a pass does not read; `hone prune` "
             "does");
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
  check_plain(graph);
  std::vector<UnitGroup> groups;
  KeptUnits kept;
  for (const UnitKind kind : options.kinds) {
    std::vector<UnitGroup> found = unit_groups(graph, kind);
    user_check(!found.empty(), "there are no {} in the graph that could go", to_string(kind));
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
               "structure: {} stands there twice", to_string(kind));
    read.kinds.push_back(kind);
  }
  read.sparsity = options.get<double>("sparsity");
  read.method = options.get<std::string>("method");
  read.scope = with_context("scope", [&] {
    return static_cast<UnitScope>(
        detail::value_of_word(options.get<std::string>("scope"), enum_words(UnitScope())));
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
                         {"scope", std::string(word_of(options.scope))},
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
