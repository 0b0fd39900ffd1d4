#pragma once

#include <thread>

#include "hone/base/hash.h"
#include "hone/base/random.h"
#include "hone/search/search.h"

/// Searches run by tests of the engine.
namespace hone::testing {

/// Draws depend on seed, number, name and everything visible to the sampler, so any difference in what it sees changes
/// the result.
class WatchfulSampler : public Sampler {
 public:
  double draw(const StudyView& study, const Trial& trial, const std::string& name,
              const Distribution& d) override {
    seen.push_back(study.trials.size());
    Fingerprint print;
    for (const Trial* other : study.trials)
      print.add(fmt::format("{} {} {} {} {};", other->number, static_cast<int>(other->state),
                            key_of(other->parameters), other->violation(),
                            other->values.empty() ? 0 : other->values[0]));
    RandomSequence random(7, stream_of(fmt::format("{} {} {}", trial.number, name, print.text())));
    if (const auto size = d.size())
      return d.low + static_cast<double>(random.below(*size)) * d.step.value_or(1);
    return d.low + (d.high - d.low) * random.uniform();
  }
  std::vector<std::size_t> seen = {};  ///< numbers of trials it has seen
};

/// Returns a space of 4 · 3 · 4 points.
inline SearchSpace small_space() {
  SearchSpace space;
  space.parameters.push_back({"layers", integer_values(2, 8, 2)});
  space.parameters.push_back({"kind", choice_of({"a", "b", "c"})});
  space.parameters.push_back({"rate", real_values(0, 0.3, 0.1)});
  return space;
}

inline SearchSpace real_space() {
  SearchSpace space;
  space.parameters.push_back({"x", real_values(-5, 5)});
  space.parameters.push_back({"y", real_values(0, 1)});
  return space;
}

/// Returns the sum of the squared internal values of all parameters.
inline double square_sum(const Trial& trial) {
  double sum = 0;
  for (const TrialParameter& parameter : trial.parameters) sum += parameter.value * parameter.value;
  return sum;
}

inline TrialOutcome value_of(TrialRun& run) { return {.values = {square_sum(run.trial())}}; }

/// Runs several workers on one storage, each with its own sampler. Returns their results.
inline std::vector<SearchEnd> run_workers(int workers, StudyStorage& storage, const Pruner& pruner,
                                          const Objective& objective, const SearchOptions& options,
                                          const SearchCallbacks& callbacks = {}) {
  std::vector<SearchEnd> ends(static_cast<std::size_t>(workers));
  std::vector<std::thread> threads;
  for (SearchEnd& end : ends)
    threads.emplace_back([&] {
      WatchfulSampler sampler;
      end = run_search(storage, sampler, pruner, objective, options, callbacks);
    });
  for (std::thread& thread : threads) thread.join();
  return ends;
}

inline SearchEnd run_one_worker(StudyStorage& storage, const Objective& objective,
                                const SearchOptions& options,
                                const SearchCallbacks& callbacks = {}) {
  return run_workers(1, storage, *no_pruner(), objective, options, callbacks)[0];
}

/// Prints a trial without its times and its worker, as one line.
inline std::string line_of(const Trial& trial) {
  Json attributes = Json::object();
  for (const auto& [key, value] : trial.user_attributes)
    if (key != "worker") attributes[key] = value;
  for (const auto& [key, value] : trial.system_attributes) attributes["system " + key] = value;
  std::string line = fmt::format("{} {} {} {}", trial.number, to_string(trial.state),
                                 key_of(trial.parameters), to_line(attributes));
  for (const double value : trial.values) line += fmt::format(" {}", value);
  for (const auto& [step, value] : trial.reports) line += fmt::format(" {}:{}", step, value);
  return line;
}

inline std::vector<std::string> lines_of(const std::vector<Trial>& trials) {
  std::vector<std::string> lines;
  for (const Trial& trial : trials) lines.push_back(line_of(trial));
  return lines;
}

}  // namespace hone::testing
