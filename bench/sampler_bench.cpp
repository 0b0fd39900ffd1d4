// Times the trials of a sampler of hone/search, or prints its suggestions on a test function.
//
//     sampler_bench [--sampler tpe|random] [--optuna VERSION] [--compatible] [--seed N] [--trials N] [--parameters N] [--runs N]
//     sampler_bench --function cont|mixed [--replay FILE] …
//
// Timed trials are in memory, from their creation to the report of the value, after --trials untimed ones of the same
// kind. With --function, trials minimize a test function (hone/search/test_function.h) and are printed, one JSON object
// per line. With --replay, a recorded run, {"params": [{…}], "values": […]}, becomes the history in place of the
// suggestions. Prints JSON.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <deque>
#include <memory>

#include "hone/base/error.h"
#include "hone/base/file.h"
#include "hone/base/interrupt.h"
#include "hone/base/text.h"
#include "hone/jobs/paired_times.h"
#include "hone/search/sampler.h"
#include "hone/search/test_function.h"
#include "hone/study/result.h"

namespace hone {
namespace {

struct SamplerBenchJob {
  std::string sampler = "tpe";  ///< or random
  TpeProfile profile = TpeProfile::optuna_5;
  std::uint64_t seed = 42;
  bool compatible = false;  ///< uses Optuna's random numbers
  std::int64_t trials = 1000;
  std::int64_t parameters = 10;  ///< floats from -5 to 5, of timed trials
  std::int64_t runs = 20;        ///< timed trials, after the others
};

void print_line(const Json& fields) { fmt::print("{}\n", to_line(result_of("bench", fields))); }

std::unique_ptr<Sampler> sampler_of(const SamplerBenchJob& job) {
  if (job.sampler == "random")
    return random_sampler({.seed = job.seed, .compatible = job.compatible});
  return tpe_sampler({.seed = job.seed, .compatible = job.compatible, .profile = job.profile});
}

// A study of one objective whose trials are in memory.
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

Json bench_sampler(const SamplerBenchJob& job) {
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
  const double first_ms = run_ms(one_trial);
  one_trial();
  const std::vector<double> ms = runs_ms(one_trial, job.runs);
  const std::string name =
      job.sampler == "tpe" ? fmt::format("TPE as {}", to_string(job.profile)) : job.sampler;
  Json fields = {{"what", fmt::format("a trial of {} floats by {} at {} trials", job.parameters,
                                      name, job.trials)},
                 {"sampler", job.sampler}};
  if (job.sampler == "tpe") fields["profile"] = to_string(job.profile);
  fields["compatible"] = job.compatible;
  fields["seed"] = job.seed;
  fields["parameters"] = job.parameters;
  fields["trials"] = job.trials;
  fields["first_ms"] = first_ms;
  fields["min_ms"] = ms.front();
  fields["median_ms"] = ms[ms.size() / 2];
  fields["timed_runs"] = job.runs;
  return fields;
}

void sample_function(const SamplerBenchJob& job, const std::string& function,
                     const fs::path& replay) {
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
    double value = f.value(point);
    Json params = Json::object();
    for (const TrialParameter& parameter : trial.parameters)
      params[parameter.name] = point.at(parameter.name);
    print_line({{"number", i}, {"params", params}, {"value", value}});
    if (!replay.empty()) {
      trial.parameters = recording.params[static_cast<std::size_t>(i)];
      value = recording.values[static_cast<std::size_t>(i)];
    }
    run.tell(std::move(trial), value);
  }
}

int run(int argc, char** argv) {
  SamplerBenchJob job;
  std::string optuna, function, replay;
  CLI::App app("Time the trials of a sampler, or print its suggestions on a test function");
  app.add_option("--sampler", job.sampler, "sampler")->check(CLI::IsMember({"tpe", "random"}));
  app.add_option("--optuna", optuna, "version of Optuna whose TPE to follow")
      ->check(CLI::IsMember(tpe_profile_names()));
  app.add_flag("--compatible", job.compatible, "draw the random numbers that Optuna draws");
  app.add_option("--seed", job.seed, "random seed");
  app.add_option("--trials", job.trials, "number of trials")->check(CLI::PositiveNumber);
  CLI::Option* const parameters =
      app.add_option("--parameters", job.parameters, "parameters per trial")
          ->check(CLI::PositiveNumber);
  app.add_option("--runs", job.runs, "timed trials")->check(CLI::PositiveNumber);
  CLI::Option* const of_function =
      app.add_option("--function", function, "print trials on a test function instead of times")
          ->check(CLI::IsMember({"cont", "mixed"}))
          ->excludes(parameters);
  app.add_option("--replay", replay, "JSON file with a recorded run to use as history")
      ->needs(of_function);
  CLI11_PARSE(app, argc, argv);
  try {
    if (!optuna.empty()) job.profile = find_tpe_profile(optuna);
    user_check(job.sampler == "tpe" || optuna.empty(), "--optuna needs --sampler tpe");
    if (function.empty())
      print_line(bench_sampler(job));
    else
      sample_function(job, function, replay);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return 1;
  }
}

}  // namespace
}  // namespace hone

int main(int argc, char** argv) {
  hone::catch_interrupts();
  return hone::run(argc, argv);
}
