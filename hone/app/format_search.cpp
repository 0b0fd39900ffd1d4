#include "hone/app/format_search.h"

#include <algorithm>
#include <optional>
#include <set>

namespace hone {
namespace {

constexpr std::int64_t kReach = 8;  // how far a parameter goes in one step of the descent
constexpr int kRounds = 4;          // over all parameters
constexpr std::int64_t kSampleValues = 65536;

// What calibration decides stays with calibration.
std::set<std::int64_t> neighbours(const FormatParameterDef& parameter, std::int64_t value) {
  std::set<std::int64_t> values;
  if (value == kAuto) return values;
  for (std::int64_t step = -kReach; step <= kReach; ++step) values.insert(value + step);
  for (const std::int64_t factor : {2, 4}) {  // block sizes
    values.insert(value * factor);
    values.insert(value / factor);
  }
  std::erase_if(values, [&](std::int64_t v) {
    return v < parameter.minimum || v > parameter.maximum || v == value;
  });
  return values;
}

// The format with one parameter changed, and with defaults that follow from others found anew when
// `reset`; none when the format refuses that.
std::optional<Format> changed(const Format& format, std::size_t index, std::int64_t value,
                              bool reset) {
  Format candidate = format;
  if (reset) {
    for (std::size_t i = 0; i < candidate.values.size(); ++i)
      if (format.def->parameters[i].default_value == kAuto) candidate.values[i] = kAuto;
  }
  candidate.values[index] = value;
  try {
    if (candidate.def->complete != nullptr) candidate.def->complete(candidate);
  } catch (const UserError&) {
    return std::nullopt;
  }
  for (std::size_t i = 0; i < candidate.values.size(); ++i)
    if (candidate.values[i] == kAuto && format.values[i] != kAuto) return std::nullopt;
  return candidate;
}

struct Candidate {
  Format format;
  double excess;  // bits per element above those allowed
  double noise;

  bool better_than(const Candidate& other) const {
    return std::pair(excess, noise) < std::pair(other.excess, other.noise);
  }
};

class Descent {
 public:
  Descent(const Tensor& values, double most_bits, Context& context)
      : values_(values), most_bits_(most_bits), context_(context) {}

  Format run(const Format& start) {
    Candidate best = judged(start);
    for (int round = 0; round < kRounds; ++round) {
      const Format before = best.format;
      for (std::size_t i = 0; i < start.values.size(); ++i) improve(best, i);
      if (best.format == before) break;
    }
    return best.format;
  }

 private:
  void improve(Candidate& best, std::size_t index) {
    const FormatParameterDef& parameter = best.format.def->parameters[index];
    if (!parameter.words.empty() || !parameter.tunable) return;
    const Format from = best.format;
    for (const std::int64_t value : neighbours(parameter, from.values[index])) {
      for (const bool reset : {false, true}) {
        const std::optional<Format> candidate = changed(from, index, value, reset);
        if (candidate) consider(best, *candidate);
      }
    }
  }

  double excess_of(const Format& format) const {
    const double excess = average_bits(format, values_.sizes()) - most_bits_;
    return excess > 1e-9 ? excess : 0;
  }

  Candidate judged(const Format& format) const {
    return {format, excess_of(format), format_noise(format, values_, context_).noise};
  }

  void consider(Candidate& best, const Format& format) {
    if (format == best.format || excess_of(format) > best.excess) return;
    Candidate candidate = judged(format);
    if (candidate.better_than(best)) best = std::move(candidate);
  }

  const Tensor& values_;
  double most_bits_;
  Context& context_;
};

}  // namespace

Noise format_noise(const Format& format, const Tensor& values, Context& context) {
  const std::span<const float> x = values.values<float>();
  const std::vector<Tensor> state = calibrate_tensor(format, values.sizes(), x);
  std::vector<float> y(x.size());
  format.def->quantize({format, values.sizes(), x, state}, context.pool, y);
  Noise noise;
  noise.include(x, y);
  return noise;
}

Format best_parameters(const Format& start, const Tensor& values, double most_bits,
                       Context& context) {
  return Descent(values, most_bits, context).run(start);
}

std::vector<Suggestion> suggest(const Model& model, const QuantizationPlan& plan,
                                const EncodedSet& data, std::int32_t pad_id,
                                const CalibrationRun& run, double most_bits, Context& context) {
  const std::vector<OperandSample> samples =
      sample_operands(model, plan, data, pad_id, run, kSampleValues, context);
  Progress progress("suggest", static_cast<std::int64_t>(samples.size()),
                    {.unit = "tensors", .output = context.progress});
  std::vector<Suggestion> suggestions;
  for (const OperandSample& sample : samples) {
    const auto layer = std::ranges::find(plan, sample.layer, [](const auto& l) { return l.first; });
    const Format before = *layer->second[sample.operand];
    const double bits = most_bits > 0 ? most_bits : average_bits(before, sample.values.sizes());
    const Format after = best_parameters(before, sample.values, bits, context);
    suggestions.push_back({sample.layer, sample.operand, before, after,
                           format_noise(before, sample.values, context),
                           format_noise(after, sample.values, context)});
    progress.update(static_cast<std::int64_t>(suggestions.size()));
  }
  return suggestions;
}

QuantizationPlan with_suggestions(QuantizationPlan plan,
                                  const std::vector<Suggestion>& suggestions) {
  for (const Suggestion& suggestion : suggestions) {
    const auto layer =
        std::ranges::find(plan, suggestion.layer, [](const auto& l) { return l.first; });
    layer->second[suggestion.operand] = suggestion.after;
  }
  return plan;
}

std::string to_recipe(const QuantizationPlan& plan, const Graph& graph) {
  std::string text;
  for (const auto& [name, formats] : plan) {
    text += fmt::format("[[rule]]\nname = \"{}\"\n", name);
    const Node* layer = graph.find(name);
    user_check(layer != nullptr, "the graph has no operation '{}'", name);
    if (!layer->is("linear")) text += fmt::format("op = \"{}\"\n", layer->op().name);
    for (const Operand operand : kOperands)
      if (formats[operand])
        text += fmt::format("{} = \"{}\"\n", to_string(operand), to_string(*formats[operand]));
    text += "\n";
  }
  return text;
}

}  // namespace hone
