#include "hone/train/input_thresholds.h"

#include <bit>
#include <cmath>
#include <functional>

#include "hone/passes/prune_inputs.h"
#include "hone/runtime/run_passes.h"
#include "hone/train/observed_inputs.h"

namespace hone {
namespace {

/// A histogram of magnitudes by the leading bits of their fp32 representation, which is monotonic.
class MagnitudeHistogram {
  static constexpr int kDropped = 13;  // of the 23 bits of the fraction
  static constexpr std::uint32_t kBins = 1u << (31 - kDropped);

 public:
  static constexpr std::int64_t kBytes = kBins * sizeof(std::int64_t);
  void include(std::span<const float> values) {
    for (const float value : values) ++counts_[bin_of(value)];
    seen_ += std::ssize(values);
  }
  /// Returns the bin edge below which the share of magnitudes is nearest to `share`; the lower one on a tie.
  float quantile(double share) const {
    const double wanted = share * static_cast<double>(seen_);
    std::int64_t below = 0;
    for (std::uint32_t bin = 0; bin < kBins; ++bin) {
      const std::int64_t with = below + counts_[bin];
      if (wanted - static_cast<double>(below) <= static_cast<double>(with) - wanted)
        return edge(bin);
      below = with;
    }
    return edge(kBins - 1);
  }

 private:
  static std::uint32_t bin_of(float value) {
    return (std::bit_cast<std::uint32_t>(value) & 0x7fffffffu) >> kDropped;
  }
  static float edge(std::uint32_t bin) { return std::bit_cast<float>(bin << kDropped); }

  std::vector<std::int64_t> counts_ = std::vector<std::int64_t>(kBins);
  std::int64_t seen_ = 0;
};

// Calls body(name of the threshold, its input) for every example; the body will hold `beside` bytes.
void observe(Graph graph, bool cut, ParameterStore& parameters, const ExampleSource& data,
             const CalibrationRun& run, const Session& session, double beside,
             const std::function<void(const std::string&, std::span<const float>)>& body) {
  graph.clear_outputs();
  for (const Node* threshold : input_thresholds(graph))
    graph.set_output(threshold->name(), threshold->inputs()[0]);
  if (!cut)
    run_as_pass(graph, session, "remove_thresholds", [&] { return remove_thresholds(graph); });
  observe_outputs(std::move(graph), parameters, data, run, session, beside,
                  [&](const std::string& name, const Tensor& x) { body(name, x.values<float>()); });
}

}  // namespace

std::vector<InputZeros> calibrate_thresholds(const Graph& graph, ParameterStore& parameters,
                                             const ExampleSource& data, double share,
                                             const CalibrationRun& run, const Session& session) {
  std::map<std::string, MagnitudeHistogram> seen;
  const double histograms =
      static_cast<double>(MagnitudeHistogram::kBytes * std::ssize(input_thresholds(graph)));
  observe(graph, /*cut=*/false, parameters, data, run, session, histograms,
          [&](const std::string& name, std::span<const float> x) { seen[name].include(x); });
  for (const Node* threshold : input_thresholds(graph))
    parameters.set(threshold_parameter(*threshold).name(),
                   Tensor::scalar(seen.at(threshold->name()).quantile(share)).on(session.device));
  return count_input_zeros(graph, parameters, data, run, session);
}

std::vector<InputZeros> count_input_zeros(const Graph& graph, ParameterStore& parameters,
                                          const ExampleSource& data, const CalibrationRun& run,
                                          const Session& session) {
  std::vector<InputZeros> all;
  std::map<std::string, float> least;
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> counts;  // cut, seen
  for (const Node* threshold : input_thresholds(graph))
    least[threshold->name()] =
        *parameters.at(threshold_parameter(*threshold).name()).on(cpu()).data<float>();
  observe(graph, /*cut=*/true, parameters, data, run, session, /*beside=*/0,
          [&](const std::string& name, std::span<const float> x) {
            auto& [cut, of] = counts[name];
            const float bound = least.at(name);
            cut += std::ranges::count_if(x, [&](float v) { return std::fabs(v) < bound; });
            of += std::ssize(x);
          });
  for (const Node* threshold : input_thresholds(graph)) {
    const auto& [cut, of] = counts.at(threshold->name());
    all.push_back({threshold->name(), least.at(threshold->name()),
                   static_cast<double>(cut) / static_cast<double>(of)});
  }
  return all;
}

}  // namespace hone
