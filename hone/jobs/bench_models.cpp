#include "hone/jobs/bench_models.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "hone/base/text.h"
#include "hone/jobs/device_time.h"
#include "hone/kernels/peak.h"
#include "hone/models/model_size.h"
#include "hone/models/text_limit.h"
#include "hone/report/table.h"

namespace hone {
namespace {

constexpr std::int64_t kShortRounds = 40;
constexpr double kLongRoundMs = 400, kWarmingMs = 100;

/// A model at its work. What an executable refers to must not move.
struct ModelRunner {
  BenchWork work;
  std::unique_ptr<Executable> executable;

  void run(Device& device) { work.run(*executable, device); }
};

std::vector<Model> models_of(const ModelsJob& job, Context& context) {
  std::vector<Model> models;
  for (const std::string& name : job.models) {
    models.push_back(bench_model({.model = name, .seed = job.seed}, context));
    user_check(models.back().facts.limits.image == models.front().facts.limits.image,
               "{} and {} do not read the same: times of texts, or of images of one size, can be "
               "compared",
               job.models.front(), name);
  }
  return models;
}

// As many as all of them take.
std::int64_t tokens_of_all(std::int64_t wanted, const std::vector<Model>& models) {
  std::optional<std::int64_t> fewest;
  for (const Model& model : models) {
    const std::int64_t tokens = tokens_of_run(wanted, model.facts.limits);
    fewest = std::min(fewest.value_or(tokens), tokens);
  }
  return fewest.value();
}

std::unique_ptr<ModelRunner> runner_of(Model model, const BenchOptions& options,
                                       const Session& session) {
  const ExecutionWay& way = find_execution_way("interpreter");
  // Not kept twice: what is trained would be copied.
  ParameterStore parameters = std::exchange(model.parameters, {});
  auto runner = std::make_unique<ModelRunner>(
      ModelRunner{bench_work(model, std::move(parameters), options, way, session), nullptr});
  runner->executable = runner->work.executable(way, session);
  return runner;
}

void time_rounds(std::vector<ModelRounds>& all,
                 const std::vector<std::unique_ptr<ModelRunner>>& runners, std::int64_t wanted,
                 const Session& session, const ProgressOutput& output) {
  std::vector<std::function<void()>> works;
  for (const auto& runner : runners)
    works.emplace_back([one = runner.get(), &session] { one->run(session.device); });
  double round_ms = 0;
  for (std::size_t i = 0; i < works.size(); ++i) {
    all[i].first_ms = run_ms(works[i]);
    // The second run packs weights, a device may make itself ready behind that (cuda/captured.h), and processors raise their pace.
    double warming_ms = 0, last_ms = 0;
    for (int run = 0; run < 3 || warming_ms < kWarmingMs; ++run)
      warming_ms += last_ms = run_ms(works[i]);
    round_ms += last_ms;
  }
  const std::int64_t rounds =
      wanted > 0 ? wanted : (round_ms > kLongRoundMs ? kTimedRounds : kShortRounds);
  Progress progress("rounds", rounds,
                    {.unit = "rounds", .end = ProgressEnd::vanishes, .output = output});
  std::int64_t done = 0;
  const auto ms = rounds_in_turn(
      works, rounds, [&] { progress.update(++done); }, clock_of(session.device));
  progress.finish();
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].rounds_ms = ms[i];
    std::vector<double> sorted = ms[i];
    std::ranges::sort(sorted);
    all[i].min_ms = sorted.front();
    all[i].median_ms = median_of_sorted(sorted);
    if (i > 0) all[i].speedup = speedup_of(ms.front(), ms[i]);
  }
}

Json to_json(const ModelRounds& one) {
  Json fields = {{"model", one.model},
                 {"arithmetic", one.arithmetic},
                 {"format", one.format.empty() ? Json() : Json(one.format)},
                 {"weight_bytes", one.weight_bytes},
                 {"first_ms", one.first_ms},
                 {"min_ms", one.min_ms},
                 {"median_ms", one.median_ms},
                 {"timed_runs", one.rounds_ms.size()},
                 {"rounds_ms", one.rounds_ms}};
  add_speedup(fields, one.speedup);
  return fields;
}

Table models_table(const std::vector<ModelRounds>& all) {
  Table table({{"model", "Model"},
               {"arithmetic", "Arithmetic"},
               {"weight_bytes", "Weights in memory"},
               {"first_ms", "First (ms)"},
               {"min_ms", "Minimum (ms)"},
               {"median_ms", "Median (ms)"},
               {"speedup", "Times as fast"}});
  for (const ModelRounds& one : all)
    table.add_row({one.model, std::string(one.arithmetic), bytes(one.weight_bytes),
                   real(one.first_ms, 2), real(one.min_ms, 3), real(one.median_ms, 3),
                   speedup_cell(one.speedup)});
  return table;
}

// That of a model against the first, in words.
std::string model_sentence(const ModelRounds& first, const ModelRounds& one) {
  const std::string beside = fmt::format("{} against {}: ", one.model, first.model);
  if (!one.speedup.interval)
    return beside + fmt::format(
                        "{} times as fast, of too few rounds for an interval; {} have "
                        "one.\n",
                        three_digits(one.speedup.value), kFewestForMedianInterval);
  return beside + speedup_text(compare_rounds(first.rounds_ms, one.rounds_ms)) + ".\n";
}

}  // namespace

ModelsResult bench_models(const ModelsJob& job, Context& context) {
  HONE_ASSERT(!job.models.empty(), "there is a first model");
  const Session session = context.session();
  std::vector<Model> models = models_of(job, context);
  BenchOptions options = job.options;
  options.tokens = tokens_of_all(options.tokens, models);
  const std::string size =
      run_size_text(options.batch, options.tokens, models.front().facts.limits);
  ModelsResult result;
  std::vector<std::unique_ptr<ModelRunner>> runners;
  for (std::size_t i = 0; i < models.size(); ++i) {
    BenchOptions own = options;
    Model model = bench_subject(std::move(models[i]), job.models[i], own, context);
    result.models.push_back({.model = job.models[i],
                             .arithmetic = bench_arithmetic(model, own, session),
                             .format = bench_format(model, own),
                             .weight_bytes = model_size(model, {}).memory_bytes});
    runners.push_back(runner_of(std::move(model), own, session));
  }
  if (session.device.host_accessible()) {
    std::vector<std::string> notes;
    keep_highest(PeakKind::fp32_gflops, context.pool.threads(),
                 kernels::measure_fma_gflops(context.pool), peaks_file(), notes);
    tell_notes(context, notes);
  }
  time_rounds(result.models, runners, options.runs, session, context.progress);
  const std::string what = fmt::format(
      "{} of {} on {}", options.train ? "training step" : "inference", size, device_text(session));
  const int threads = context.pool.threads();
  Json rows = Json::array();
  for (const ModelRounds& one : result.models) rows.push_back(to_json(one));
  result.fields = {{"what", what},           {"device", device_text(session)}, {"threads", threads},
                   {"batch", options.batch}, {"tokens", options.tokens},       {"models", rows}};
  result.text = [what, all = result.models, on = ran_on(result.fields)](const TextStyle& style) {
    const ModelRounds& first = all.front();
    std::string text = fmt::format("{}, {}, {} rounds in turn\n\n{}\n", what, on,
                                   first.rounds_ms.size(), to_text(models_table(all), style));
    for (std::size_t i = 1; i < all.size(); ++i) text += model_sentence(first, all[i]);
    text +=
        "Intervals are of the rounds of this process. In another one memory lies elsewhere, and "
        "others may share the processors: times of small models move by tens of percent with that, "
        "so run it again before you rely on it. Ids are random, so nothing is said of answers: "
        "`hone compare` tells what changed of these.\n";
    return text;
  };
  return result;
}

}  // namespace hone
