#include "hone/study/format_search.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <tuple>

#include "hone/passes/quantize.h"

namespace hone {
namespace {

constexpr std::int64_t kReach = 8;  // the largest change of a parameter in one step of the descent
constexpr int kRounds = 4;          // over all parameters
constexpr std::int64_t kSampleValues = 65536;
constexpr double kStateBits = 1e-3;  // the most that state of a whole tensor adds to its bits

// Returns the values to try. Parameters that calibration chooses are left to it.
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

// Returns the format with one parameter changed; with `reset`, recomputes the defaults that depend on other parameters.
// None if the format rejects the result.
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
  double bits;    // per element
  double excess;  // bits above the limit
  double noise;

  // Prefers more bits at equal noise: they give the next parameter room to improve.
  bool better_than(const Candidate& other) const {
    return std::tuple(excess, noise, -bits) < std::tuple(other.excess, other.noise, -other.bits);
  }
};

class Descent {
 public:
  Descent(const Tensor& values, double most_bits, Context& context)
      : values_(values), most_bits_(most_bits), context_(context) {}

  Format run(const Format& start) {
    const Candidate given = judged(start);
    Candidate best = given;
    for (int round = 0; round < kRounds; ++round) {
      const Format before = best.format;
      for (std::size_t i = 0; i < start.values.size(); ++i) improve(best, i);
      if (best.format == before) break;
    }
    const bool gained = best.excess < given.excess || best.noise < given.noise;
    return gained ? best.format : start;
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

  double excess_of(double bits) const {
    const double excess = bits - most_bits_;
    return excess > kStateBits ? excess : 0;
  }

  Candidate judged(const Format& format) const {
    const double bits = bits_of_format(format);
    return {format, bits, excess_of(bits), format_noise(format, values_, context_).noise};
  }

  void consider(Candidate& best, const Format& format) {
    if (format == best.format || excess_of(bits_of_format(format)) > best.excess) return;
    Candidate candidate = judged(format);
    if (candidate.better_than(best)) best = std::move(candidate);
  }

  const Tensor& values_;
  double most_bits_;
  Context& context_;
};

// Quantizes the values after calibration on them.
std::vector<float> rounded(const Format& format, const Tensor& values, Context& context) {
  const std::span<const float> x = values.values<float>();
  const std::vector<Tensor> state = calibrate_tensor(format, values.sizes(), x);
  std::vector<float> y(x.size());
  format.def->quantize({format, values.sizes(), x, state}, context.pool, y);
  return y;
}

}  // namespace

double bits_of_format(const Format& format) { return average_bits(format, {768, 768}); }

bool has_zero(const Format& format, Context& context) {
  // Every fourth value is 0, whatever blocks and rows the format forms.
  constexpr std::int64_t kSide = 64;
  constexpr float kPattern[] = {1.0F, -0.75F, 0.0F, 0.5F};
  std::vector<float> x(kSide * kSide);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = kPattern[i % 4];
  const std::vector<float> y = rounded(format, Tensor::of<float>({kSide, kSide}, x), context);
  for (std::size_t i = 0; i < x.size(); ++i)
    if (x[i] == 0 && y[i] != 0) return false;
  return true;
}

Noise format_noise(const Format& format, const Tensor& values, Context& context) {
  Noise noise;
  noise.include(values.values<float>(), rounded(format, values, context));
  return noise;
}

Format best_parameters(const Format& start, const Tensor& values, double most_bits,
                       Context& context) {
  return Descent(values, most_bits, context).run(start);
}

namespace {

// Several tensors may be one operand (both factors of a matmul). Among the best formats for each, returns the one that
// loses the smallest total share: the given one if it is allowed and no other is better.
Format best_for_all(std::span<const OperandSample> samples, const Format& before, double bits,
                    Context& context) {
  const auto lost_share = [&](const Format& format) {
    double share = 0;
    for (const OperandSample& sample : samples) {
      const Noise noise = format_noise(format, sample.values, context);
      if (noise.signal > 0) share += noise.noise / noise.signal;
    }
    return share;
  };
  Format best = before;
  double least = bits_of_format(before) - bits > kStateBits
                     ? std::numeric_limits<double>::infinity()
                     : lost_share(before);
  for (const OperandSample& own : samples) {
    const Format candidate = best_parameters(before, own.values, bits, context);
    if (const double share = lost_share(candidate); share < least) {
      least = share;
      best = candidate;
    }
  }
  return best;
}

}  // namespace

std::vector<Suggestion> suggest(const Model& model, const QuantizationPlan& plan,
                                const EncodedSet& data, const CalibrationRun& run, double most_bits,
                                Context& context) {
  const std::vector<OperandSample> samples =
      sample_operands(model, plan, data, run, kSampleValues, context);
  Progress progress("suggest", static_cast<std::int64_t>(samples.size()),
                    {.unit = "tensors", .output = context.progress});
  std::vector<Suggestion> suggestions;
  for (std::size_t first = 0, next = 0; first < samples.size(); first = next) {
    const OperandSample& head = samples[first];
    while (next < samples.size() && samples[next].layer == head.layer &&
           samples[next].operand == head.operand)
      ++next;
    const auto layer = std::ranges::find(plan, head.layer, [](const auto& l) { return l.first; });
    const Format before = *layer->second[head.operand];
    const double bits = most_bits > 0 ? most_bits : bits_of_format(before);
    const auto group = std::span(samples).subspan(first, next - first);
    const Format after = best_for_all(group, before, bits, context);
    for (const OperandSample& sample : group)
      suggestions.push_back({sample.layer, sample.operand, before, after,
                             format_noise(before, sample.values, context),
                             format_noise(after, sample.values, context)});
    progress.update(static_cast<std::int64_t>(suggestions.size()));
  }
  return suggestions;
}

namespace {

std::optional<Format>& format_of(QuantizationPlan& plan, const Suggestion& operand) {
  const auto layer = std::ranges::find(plan, operand.layer, [](const auto& l) { return l.first; });
  return layer->second[operand.operand];
}

}  // namespace

const Fields& fields_of(const OperandResult*) {
  using O = OperandResult;
  static const Fields fields = describe<O>(
      "operand", "One operand of a layer in its format.",
      field<&O::layer>("layer", "Name of the layer."),
      field<&O::operand>("operand", "Of the layer."), field<&O::format>("format", "Its format."),
      field<&O::snr_db>("snr_db", Unit::decibels,
                        "Signal-to-noise ratio; null: no error, or all values are zero.")
          .or_null(),
      field<&O::clipped>("clipped", Unit::share, "Values beyond the range; null: no values.")
          .or_null(),
      field<&O::flushed>("flushed", Unit::share, "Values that become zero; null: no values.")
          .or_null(),
      field<&O::smallest_step>("smallest_step",
                               "Smallest magnitude above zero; 0: all values are zero."),
      field<&O::standard_deviation>("standard_deviation", "Of the values; null: no values.")
          .or_null(),
      field<&O::better>("better", "The format with better parameters at no more bits; null: none."),
      field<&O::better_snr_db>("better_snr_db", Unit::decibels,
                               "Its signal-to-noise ratio; null: no error, or no better "
                               "format."));
  return fields;
}

OperandResult operand_result(const OperandNoise& one, const std::optional<Format>& better,
                             const Noise& noise_with_better) {
  OperandResult result{.layer = one.layer,
                       .operand = one.operand,
                       .format = to_string(one.format),
                       .snr_db = one.noise.snr_db(),
                       .clipped = one.noise.clipped_share(),
                       .flushed = one.noise.flushed_share(),
                       .smallest_step = one.noise.smallest_step,
                       .standard_deviation = one.noise.standard_deviation()};
  if (better) {
    result.better = to_string(*better);
    result.better_snr_db = noise_with_better.snr_db();
  }
  return result;
}

QuantizationPlan with_suggestions(QuantizationPlan plan,
                                  const std::vector<Suggestion>& suggestions) {
  for (const Suggestion& s : suggestions) format_of(plan, s) = s.after;
  return plan;
}

QuantizationPlan without_operands(QuantizationPlan plan, std::span<const Suggestion> operands) {
  for (const Suggestion& operand : operands) format_of(plan, operand).reset();
  std::erase_if(plan, [](const auto& layer) { return layer.second == LayerFormats{}; });
  return plan;
}

std::string to_recipe(const QuantizationPlan& plan, const Graph& graph) {
  std::string text;
  for (const auto& [name, formats] : plan) {
    text += fmt::format("[[rule]]\nname = \"{}\"\n", name);
    const Node* layer = graph.find(name);
    user_check(layer != nullptr, "the graph has no operation '{}'", name);
    if (!is_default_layer(*layer)) text += fmt::format("op = \"{}\"\n", layer->op().name);
    for (const Operand operand : kOperands)
      if (formats[operand])
        text += fmt::format("{} = \"{}\"\n", to_string(operand), to_string(*formats[operand]));
    text += "\n";
  }
  return text;
}

}  // namespace hone
