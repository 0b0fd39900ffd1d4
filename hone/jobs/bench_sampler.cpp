#include "hone/jobs/bench_sampler.h"

#include <algorithm>
#include <deque>

#include "hone/base/error.h"
#include "hone/base/interrupt.h"
#include "hone/base/text.h"
#include "hone/jobs/times_in_turn.h"
#include "hone/search/test_function.h"

namespace hone {
namespace {

std::unique_ptr<Sampler> sampler_of(const SamplerBenchJob& job) {
  if (job.sampler == "random")
    return random_sampler({.seed = job.seed, .compatible = job.compatible});
  return tpe_sampler({.seed = job.seed, .compatible = job.compatible, .profile = job.profile});
}

// A study of one objective whose trials lie in memory.
class MemoryRun {
 public:
  explicit MemoryRun(const SamplerBenchJob& job) : sampler_(sampler_of(job)) {}

  Trial ask(const SearchSpace& space) {
    Trial trial;
    trial.number = static_cast<std::int64_t>(trials_.size());
    suggest(*sampler_, view_, space, trial);
    return trial;
  }
  void tell(Trial trial, double value) {
    trial.state = TrialState::complete;
    trial.values = {value};
    trials_.push_back(std::move(trial));
    view_.trials.push_back(&trials_.back());
  }

 private:
  std::unique_ptr<Sampler> sampler_;
  std::deque<Trial> trials_;
  StudyView view_;
};

// A recorded run of a test function.
struct Recording {
  std::vector<std::vector<TrialParameter>> params;
  std::vector<double> values;
};

Recording read_recording(const fs::path& path, const SearchSpace& space) {
  const Json json = read_json(path);
  const bool is_one = json.is_object() && json.contains("params") && json["params"].is_array() &&
                      json.contains("values") && json["values"].is_array() &&
                      json["params"].size() == json["values"].size();
  user_check(is_one, "{}: expected {{\"params\": […], \"values\": […]}}, as many of both",
             path.string());
  Recording recording;
  for (std::size_t i = 0; i < json["params"].size(); ++i)
    with_context(fmt::format("{}: trial {}", path.string(), i), [&] {
      const Json &params = json["params"][i], &value = json["values"][i];
      user_check(params.is_object(), "expected an object of values, got {}", to_line(params));
      user_check(value.is_number(), "expected a number for its value, got {}", to_line(value));
      Assignment assignment;
      for (const auto& [name, external] : params.items()) assignment[name] = external;
      recording.params.push_back(space.parameters_of(assignment));
      recording.values.push_back(value);
    });
  return recording;
}

// Σ (xᵢ − 0.3 i)²
double distant_sphere(const Trial& trial) {
  double sum = 0;
  for (std::size_t i = 0; i < trial.parameters.size(); ++i) {
    const double distance = trial.parameters[i].value - 0.3 * static_cast<double>(i);
    sum += distance * distance;
  }
  return sum;
}

}  // namespace

std::string SamplerTimes::text() const {
  return fmt::format(
      "{}: {:.3f} ms for the fastest trial, {:.3f} for the median of {}, {:.3f} for the first.\n",
      fields["what"].get<std::string>(), min_ms, median_ms,
      fields["timed_runs"].get<std::int64_t>(), first_ms);
}

SamplerTimes bench_sampler(const SamplerBenchJob& job) {
  SearchSpace space;
  for (std::int64_t i = 0; i < job.parameters; ++i)
    space.parameters.push_back({fmt::format("x{}", i), real_values(-5, 5)});
  MemoryRun run(job);
  const auto one_trial = [&] {
    Trial trial = run.ask(space);
    const double value = distant_sphere(trial);
    run.tell(std::move(trial), value);
  };
  for (std::int64_t i = 0; i < job.trials; ++i) {
    stop_if_interrupted();
    one_trial();
  }
  SamplerTimes times;
  times.first_ms = run_ms(one_trial);
  one_trial();
  const std::vector<double> ms = runs_ms(one_trial, job.runs);
  times.min_ms = ms.front();
  times.median_ms = ms[ms.size() / 2];
  const std::string name =
      job.sampler == "tpe" ? fmt::format("TPE as {}", to_string(job.profile)) : job.sampler;
  times.fields = {{"what", fmt::format("a trial of {} floats by {} at {} trials", job.parameters,
                                       name, job.trials)},
                  {"sampler", job.sampler}};
  if (job.sampler == "tpe") times.fields["profile"] = to_string(job.profile);
  times.fields["compatible"] = job.compatible;
  times.fields["seed"] = job.seed;
  times.fields["parameters"] = job.parameters;
  times.fields["trials"] = job.trials;
  times.fields["first_ms"] = times.first_ms;
  times.fields["min_ms"] = times.min_ms;
  times.fields["median_ms"] = times.median_ms;
  times.fields["timed_runs"] = job.runs;
  return times;
}

Json SampledTrial::fields() const {
  return {{"number", number}, {"params", params}, {"value", value}};
}

void sample_function(const SamplerBenchJob& job, const std::string& function,
                     const fs::path& replay, const std::function<void(const SampledTrial&)>& tell) {
  const TestFunction& f = find_test_function(function);
  Recording recording;
  if (!replay.empty()) recording = read_recording(replay, f.space);
  MemoryRun run(job);
  const auto recorded = static_cast<std::int64_t>(recording.values.size());
  const std::int64_t trials = replay.empty() ? job.trials : std::min(job.trials, recorded);
  for (std::int64_t i = 0; i < trials; ++i) {
    stop_if_interrupted();
    Trial trial = run.ask(f.space);
    const Assignment point = assignment_of(trial.parameters);
    SampledTrial sampled{i, Json::object(), f.value(point)};
    for (const TrialParameter& parameter : trial.parameters)
      sampled.params[parameter.name] = point.at(parameter.name);
    tell(sampled);
    double value = sampled.value;
    if (!replay.empty()) {
      trial.parameters = recording.params[static_cast<std::size_t>(i)];
      value = recording.values[static_cast<std::size_t>(i)];
    }
    run.tell(std::move(trial), value);
  }
}

}  // namespace hone
