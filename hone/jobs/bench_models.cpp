#include "hone/jobs/bench_models.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "hone/base/text.h"
#include "hone/jobs/device_time.h"
#include "hone/kernels/peak.h"
#include "hone/models/model_size.h"
#include "hone/models/text_limit.h"
#include "hone/report/field_table.h"
#include "hone/report/table.h"
#include "hone/study/result.h"

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
    user_check(
        models.back().facts.limits.image == models.front().facts.limits.image,
        "{} and {} have different inputs; compare models that read texts, or models that read "
        "images of one size",
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

const ModelRounds& fastest_of(const std::vector<ModelRounds>& all) {
  return *std::ranges::min_element(all, {}, &ModelRounds::median_ms);
}

// "small: 1.84× faster than my-model (12.3 → 6.7 ms)"
std::string models_headline(const std::vector<ModelRounds>& all) {
  const ModelRounds &first = all.front(), &fastest = fastest_of(all);
  const ModelRounds& shown = all.size() == 2 ? all.back() : fastest;
  if (&shown == &first)
    return fmt::format("{}: {} ms per run{}", first.model, three_digits(first.median_ms),
                       all.size() > 1 ? ", the fastest" : "");
  const bool contradicted = shown.speedup.contradicts(first.median_ms, shown.median_ms);
  return fmt::format("{}: {}{} ({}{} → {} ms)", shown.model,
                     speedup_headline(shown.speedup, first.model),
                     contradicted ? " in paired rounds" : "", contradicted ? "medians " : "",
                     three_digits(first.median_ms), three_digits(shown.median_ms));
}

void describe_models(const std::vector<ModelRounds>& all, const std::string& what,
                     const std::string& on, Document& document) {
  const ModelRounds& first = all.front();
  document.title = what;
  document.headline = models_headline(all);
  for (const ModelRounds& one : all)
    document.key_figures.push_back(
        {one.model, fmt::format("{} ms{}", three_digits(one.median_ms),
                                &one == &first ? std::string(", baseline")
                                               : ", " + speedup_text(one.speedup))});
  document.evidence = fmt::format(
      "Medians of {} paired rounds of {}, {}. Confidence intervals cover this process only.",
      first.rounds_ms.size(), what, on);
  document.sections = {
      {"", {PageTable{headed_table(all)}}},
      {"How to read this",
       {Paragraph{
            "Confidence intervals cover the rounds of this process. In another process memory "
            "is laid out differently and other programs may run: latencies of small models "
            "then change by tens of percent. Repeat the benchmark before you rely on it."},
        Paragraph{"A speedup is the median ratio of paired rounds, which saw the same load. It "
                  "can point another way than the two medians."},
        Paragraph{"Inputs are random, so the benchmark says nothing about predictions. `hone "
                  "compare` shows how they changed."}},
       /*folded=*/true}};
}

}  // namespace

const Fields& fields_of(const ModelRounds*) {
  using M = ModelRounds;
  static const Fields fields = describe<M>(
      "model_rounds", "A model timed in turn with others, at the same work.",
      field<&M::model>("model", kModelMeaning, "Model"),
      field<&M::arithmetic>("arithmetic", kArithmeticMeaning, "Arithmetic"),
      field<&M::format>("format", "Of its quantizers; null: it has none."),
      field<&M::weight_bytes>("weight_bytes", Unit::bytes, "Bytes of its weights in memory.",
                              "Weights in memory"),
      field<&M::first_ms>("first_ms", Unit::milliseconds, kFirstRunMeaning, "First (ms)"),
      field<&M::min_ms>("min_ms", Unit::milliseconds, "Fastest run.", "Minimum (ms)"),
      field<&M::median_ms>("median_ms", Unit::milliseconds, "Median run.", "Median (ms)"),
      field<&M::timed_runs>("timed_runs", kTimedRunsMeaning),
      field<&M::rounds_ms>("rounds_ms", Unit::milliseconds, kRoundsMeaning),
      inlined<&M::speedup>());
  return fields;
}

const Fields& fields_of(const BenchModelsFields*) {
  using B = BenchModelsFields;
  static const Fields fields = describe<B>(
      "bench", "How long models take in turn.", field<&B::what>("what", kTimedMeaning),
      field<&B::device>("device", kDeviceMeaning), field<&B::threads>("threads", kThreadsMeaning),
      field<&B::batch>("batch", Unit::examples, kBatchMeaning),
      field<&B::tokens>("tokens", Unit::tokens, kTokensMeaning),
      field<&B::models>("models", "Each model; the first is the baseline."));
  return fields;
}

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
  const BenchModelsFields fields{.what = what,
                                 .device = device_text(session),
                                 .threads = context.pool.threads(),
                                 .batch = options.batch,
                                 .tokens = options.tokens,
                                 .models = result.models};
  result.fields = to_json(fields);
  describe_models(result.models, what, ran_on(fields.device, fields.threads), result.document);
  return result;
}

}  // namespace hone
