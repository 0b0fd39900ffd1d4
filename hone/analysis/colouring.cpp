#include "hone/analysis/colouring.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "hone/base/text.h"
#include "hone/passes/pack.h"
#include "hone/passes/prune.h"
#include "hone/passes/quantize.h"

namespace hone {
namespace {

constexpr const char* kPale = "#f8f9fa";

/// Kinds with the same colour in every drawing.
struct NamedColour {
  std::string_view name, colour;
};
constexpr NamedColour kTraitColours[] = {{"products", "#cfe2f3"},
                                         {"along rows", "#d9ead3"},
                                         {"element by element", "#fff2cc"},
                                         {"views", "#f3f3f3"},
                                         {"rows of tables, others", "#ead1dc"},
                                         {"updates", "#f4cccc"},
                                         {"fp32", "#f1f3f5"},
                                         {"several", "#ced4da"}};

// For all other kinds, in order of appearance; the colours repeat.
constexpr std::string_view kKindColours[] = {"#ffc078", "#8ce99a", "#74c0fc", "#e599f7",
                                             "#ffe066", "#ffa8a8", "#63e6be", "#b197fc"};
// From the lowest numbers to the highest; black text is readable on all of them.
constexpr std::string_view kSteps[] = {"#fef0d9", "#fdd49e", "#fdbb84", "#fc8d59", "#ef6548"};

constexpr double kMinShare = 1e-4;  // smaller shares of the FLOP count as this one

std::string_view name_of(Trait trait) {
  switch (trait) {
    case Trait::contraction:
      return kTraitColours[0].name;
    case Trait::row_reduction:
      return kTraitColours[1].name;
    case Trait::element_wise:
      return kTraitColours[2].name;
    case Trait::view:
      return kTraitColours[3].name;
    case Trait::gather:
    case Trait::other:
      return kTraitColours[4].name;
    case Trait::update:
      break;
  }
  return kTraitColours[5].name;
}

bool has_format(const Node& node) { return is_quantizer(node) || is_unpacked(node); }

std::string format_text(const Node& node) {
  return to_string(node.attributes().get<Format>("format"));
}

std::string colour_of_kind(const std::string& kind, std::size_t others_before) {
  const auto* const named = std::ranges::find(kTraitColours, kind, &NamedColour::name);
  return std::string(named != std::end(kTraitColours)
                         ? named->colour
                         : kKindColours[others_before % std::size(kKindColours)]);
}

bool is_named(const std::string& kind) {
  return std::ranges::find(kTraitColours, kind, &NamedColour::name) != std::end(kTraitColours);
}

// Returns the name of the parameter that is read, which may be masked, quantized or packed; empty for computed values.
std::string source_parameter(Value value) {
  const Node* node = value.node;
  while (node->kind() == NodeKind::operation) {
    if (is_unpacked(*node)) return packed_parameter(*node);
    if (!is_quantizer(*node) && !is_mask(*node)) return "";
    node = node->inputs()[0].node;
  }
  return node->kind() == NodeKind::parameter ? node->name() : "";
}

}  // namespace

Colouring coloured_by_kind() {
  return {.legend = "operations", .kind = [](Boxed box) -> std::optional<std::string> {
            if (box.size() != 1) return std::nullopt;
            return has_format(*box[0]) ? format_text(*box[0])
                                       : std::string(name_of(box[0]->op().trait));
          }};
}

Colouring coloured_by_format() {
  return {.legend = "formats", .kind = [](Boxed box) -> std::optional<std::string> {
            std::set<std::string> formats;
            for (const Node* node : box) {
              if (has_format(*node)) formats.insert(format_text(*node));
              for (const Value& input : node->inputs())
                if (input.node->kind() == NodeKind::operation && has_format(*input.node))
                  formats.insert(format_text(*input.node));
            }
            if (formats.empty()) return "fp32";
            return formats.size() == 1 || box.size() == 1
                       ? fmt::format("{}", fmt::join(formats, " and "))
                       : "several";
          }};
}

Colouring coloured_by_sparsity(const std::vector<Zeros>& zeros) {
  std::map<std::string, Zeros> by_name;
  for (const Zeros& one : zeros) by_name.emplace(one.name, one);
  return {.legend = "zeros among the parameters",
          .number = [by_name](Boxed box) -> std::optional<double> {
            std::set<std::string> read;
            for (const Node* node : box)
              for (const Value& input : node->inputs()) read.insert(source_parameter(input));
            Zeros sum;
            for (const std::string& name : read) {
              const auto found = by_name.find(name);
              if (found == by_name.end()) continue;
              sum.elements += found->second.elements;
              sum.zeros += found->second.zeros;
            }
            return sum.elements == 0 ? std::nullopt : std::optional(sum.share());
          },
          .text = [](double share) { return fmt::format("{:.1f}%", 100 * share); },
          .unit = "zero"};
}

Colouring coloured_by_cost(const Graph& graph, const Bindings& bindings) {
  std::map<const Node*, double> shares;
  double all = 0;
  for (const Node* node : graph.of_kind(NodeKind::operation)) {
    if (node->op().flops == nullptr) continue;
    const std::vector<Type> types = node->input_types();
    all += shares[node] = node->op().flops({types, node->attributes()}, bindings);
  }
  for (auto& [node, flops] : shares) flops /= all;
  return {.legend = "share of a run's FLOP",
          .number = [shares](Boxed box) -> std::optional<double> {
            double sum = 0;
            for (const Node* node : box)
              if (const auto found = shares.find(node); found != shares.end()) sum += found->second;
            return sum > 0 ? std::optional(std::max(sum, kMinShare)) : std::nullopt;
          },
          .text =
              [](double share) {
                return share <= kMinShare
                           ? fmt::format("at most {:g}%", 100 * kMinShare)
                           : fmt::format("{:.{}f}%", 100 * share, share < 0.1 ? 2 : 0);
              },
          .unit = "of FLOP",
          .logarithmic = true};
}

Colouring coloured_by_number(const std::map<std::string, double>& figures, std::string legend) {
  return {.legend = std::move(legend),
          .number = [figures](Boxed box) -> std::optional<double> {
            std::optional<double> most;
            for (const Node* node : box)
              if (const auto found = figures.find(node->name()); found != figures.end())
                most = std::max(most.value_or(found->second), found->second);
            return most;
          },
          .text = [](double figure) { return fmt::format("{:.3g}", figure); },
          .logarithmic = true};
}

Colours::Colours(const Colouring& colouring, const std::vector<std::vector<const Node*>>& boxes)
    : colouring_(colouring) {
  std::size_t others = 0;
  std::vector<double> numbers;
  for (const std::vector<const Node*>& box : boxes) {
    if (colouring_.kind) {
      const std::optional<std::string> kind = colouring_.kind(box);
      if (!kind || std::ranges::find(legend_, *kind, &Entry::label) != legend_.end()) continue;
      legend_.push_back({*kind, colour_of_kind(*kind, others)});
      others += is_named(*kind) ? 0 : 1;
    } else if (const std::optional<double> number = colouring_.number(box)) {
      if (std::isfinite(*number) && (!colouring_.logarithmic || *number > 0))
        numbers.push_back(*number);
    }
  }
  if (numbers.empty()) return;
  low_ = *std::ranges::min_element(numbers);
  high_ = *std::ranges::max_element(numbers);
  for (std::size_t step = 0; step < std::size(kSteps); ++step) {
    std::optional<double> from, to;
    for (const double number : numbers) {
      if (step_of(number) != step) continue;
      from = std::min(from.value_or(number), number);
      to = std::max(to.value_or(number), number);
    }
    if (!from) continue;
    const std::string first = colouring_.text(*from), last = colouring_.text(*to);
    legend_.push_back({first == last ? first : first + " to " + last, std::string(kSteps[step])});
  }
}

std::size_t Colours::step_of(double number) const {
  const auto place = [&](double value) { return colouring_.logarithmic ? std::log(value) : value; };
  if (high_ <= low_ || number <= low_) return 0;
  const double share = (place(number) - place(low_)) / (place(high_) - place(low_));
  constexpr auto kCount = static_cast<double>(std::size(kSteps));
  return static_cast<std::size_t>(std::clamp(share * kCount, 0.0, kCount - 1));
}

Colours::Fill Colours::of(Boxed box) const {
  if (colouring_.kind) {
    const std::optional<std::string> kind = colouring_.kind(box);
    if (!kind) return {kPale, ""};
    const auto found = std::ranges::find(legend_, *kind, &Entry::label);
    return {found == legend_.end() ? kPale : found->colour, ""};
  }
  const std::optional<double> number = colouring_.number(box);
  if (!number) return {kPale, ""};
  return {std::string(kSteps[std::isfinite(*number) ? step_of(*number) : std::size(kSteps) - 1]),
          colouring_.text(*number) + (colouring_.unit.empty() ? "" : " " + colouring_.unit)};
}

}  // namespace hone
