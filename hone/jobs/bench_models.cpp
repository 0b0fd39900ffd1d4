#include "hone/jobs/bench_models.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "hone/base/text.h"
#include "hone/jobs/device_time.h"
#include "hone/jobs/model_times.h"
#include "hone/kernels/peak.h"
#include "hone/models/model_size.h"
#include "hone/models/text_limit.h"
#include "hone/report/field_table.h"
#include "hone/report/table.h"
#include "hone/study/result.h"

namespace hone {
namespace {

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

// Returns the number of tokens that all models support.
std::int64_t tokens_of_all(std::int64_t wanted, const std::vector<Model>& models) {
  std::optional<std::int64_t> fewest;
  for (const Model& model : models) {
    const std::int64_t tokens = tokens_of_run(wanted, model.facts.limits);
    fewest = std::min(fewest.value_or(tokens), tokens);
  }
  return fewest.value();
}

// Every executable has its own buffers and packed weights. The very first run is timed too.
ModelSetUp set_up_of(BenchWork& work, ModelRounds& result, const Session& session) {
  return [&work, &result, &session]() -> std::vector<std::function<void()>> {
    const std::shared_ptr<Executable> executable = work.executable(mode_of(session), session);
    const auto run = [&work, &session, executable] { work.run(*executable, session.device); };
    if (result.first_ms == 0) result.first_ms = run_ms(run);
    work.pack_weights(*executable, session.device);
    for (int i = 0; i < preparation_runs(session.device); ++i) run();
    return {run};
  };
}

void time_rounds(std::vector<ModelRounds>& all, std::vector<BenchWork>& works, std::int64_t wanted,
                 const Session& session, const ProgressOutput& output) {
  std::vector<ModelSetUp> set_ups;
  for (std::size_t i = 0; i < all.size(); ++i)
    set_ups.push_back(set_up_of(works[i], all[i], session));
  Progress progress("rounds", wanted > 0 ? wanted : kMostTimedRounds,
                    {.unit = "rounds", .end = ProgressEnd::vanishes, .output = output});
  std::int64_t done = 0;
  const auto ms = rounds_with_fresh_setup(
                      set_ups, wanted, [&] { progress.update(++done); }, clock_of(session.device))
                      .front();
  progress.finish();
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].rounds_ms = ms[i];
    std::vector<double> sorted = ms[i];
    std::ranges::sort(sorted);
    all[i].min_ms = sorted.front();
    all[i].median_ms = median_of_sorted(sorted);
    if (i > 0) all[i].speedup = repeated_speedup(ms.front(), ms[i]);
  }
}

const ModelRounds& fastest_of(const std::vector<ModelRounds>& all) {
  return *std::ranges::min_element(all, {}, &ModelRounds::median_ms);
}

// The input size of the timed runs.
struct TimedSize {
  std::int64_t batch = 1;
  double tokens = 0;  ///< 0: images

  double per_example(double ms) const { return ms / static_cast<double>(batch); }
};

// "small: 1.84× faster than my-model (batch size 32, 128 tokens)". The ratio of the medians, which are key figures, can
// differ from this median ratio.
std::string models_headline(const std::vector<ModelRounds>& all, const TimedSize& size) {
  const ModelRounds &first = all.front(), &fastest = fastest_of(all);
  const ModelRounds& shown = all.size() == 2 ? all.back() : fastest;
  const std::string of = batch_text(size.batch, size.tokens);
  if (&shown == &first)
    return fmt::format("{}: {} ms per example ({}){}", first.model,
                       three_digits(size.per_example(first.median_ms)), of,
                       all.size() > 1 ? ", the fastest" : "");
  return fmt::format("{}: {} ({})", shown.model, speedup_headline(shown.speedup, first.model), of);
}

void describe_models(const std::vector<ModelRounds>& all, const TimedSize& size,
                     const std::string& what, const std::string& on, Document& document) {
  const ModelRounds& first = all.front();
  document.title = what;
  document.headline = models_headline(all, size);
  const std::string title = latency_title(size.batch, size.tokens);
  for (const ModelRounds& one : all)
    document.key_figures.push_back(
        {fmt::format("{}: {}", one.model, title),
         fmt::format("{} ms{}", three_digits(size.per_example(one.median_ms)),
                     &one == &first ? std::string(", baseline")
                                    : ", " + paired_speedup_text(one.speedup))});
  document.evidence = fmt::format(
      "Medians of {} paired rounds of {}, {}. All models get new buffers in each round.",
      first.rounds_ms.size(), what, on);
  document.sections = {
      {"",
       {PageTable{headed_table(all),
                  fmt::format("Milliseconds are of a batch of {}.", size.batch)}}},
      {"How to read this",
       {Paragraph{"A speedup is the median ratio of paired rounds, which saw the same load. It "
                  "can point another way than the two medians."},
        Paragraph{fmt::format(
            "The confidence interval contains the speedup that a repeat on this machine shows, as "
            "rounds differ in the layout of memory like processes do. It needs {} rounds. Another "
            "load of the machine can change the speedup by more.",
            kFewestForRepeatInterval)},
        Paragraph{"Inputs are random, without padding. Texts of other lengths have other latencies "
                  "and speedups: give --tokens the padded tokens of a report to repeat it. `hone "
                  "compare` shows how predictions changed."}},
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
      field<&M::first_ms>("first_ms", Unit::milliseconds, kFirstRunMeaning,
                          "First call (ms per batch)"),
      field<&M::min_ms>("min_ms", Unit::milliseconds, "Fastest run.", "Minimum (ms per batch)"),
      field<&M::median_ms>("median_ms", Unit::milliseconds, "Median run.", "Median (ms per batch)"),
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
  options.batch = bench_batch(options);
  options.tokens = tokens_of_all(options.tokens, models);
  const InputLimits limits = models.front().facts.limits;
  const std::string size = run_size_text(options.batch, options.tokens, limits);
  ModelsResult result;
  std::vector<BenchWork> works;
  for (std::size_t i = 0; i < models.size(); ++i) {
    BenchOptions own = options;
    Model model = model_to_time(std::move(models[i]), job.models[i], own, context);
    result.models.push_back({.model = job.models[i],
                             .arithmetic = bench_arithmetic(model, own, session),
                             .format = bench_format(model, own),
                             .weight_bytes = model_size(model, {}).memory_bytes});
    // Moved out of the model: training would copy parameters that are held twice.
    ParameterStore parameters = std::exchange(model.parameters, {});
    works.push_back(bench_work(model, std::move(parameters), own, mode_of(session), session));
  }
  if (session.device.host_accessible()) {
    std::vector<std::string> notes;
    keep_highest(PeakKind::fp32_gflops, context.pool.threads(),
                 kernels::measure_fma_gflops(context.pool), peaks_file(), notes);
    print_notes(context, notes);
  }
  time_rounds(result.models, works, options.runs, session, context.progress);
  const std::string what = fmt::format(
      "{} of {} on {}", options.train ? "training step" : "inference", size, device_text(session));
  const BenchModelsFields fields{.what = what,
                                 .device = device_text(session),
                                 .threads = context.pool.threads(),
                                 .batch = options.batch,
                                 .tokens = options.tokens,
                                 .models = result.models};
  result.fields = to_json(fields);
  describe_models(result.models,
                  {options.batch, limits.image ? 0 : static_cast<double>(options.tokens)}, what,
                  processor_text(fields.device, fields.threads), result.document);
  return result;
}

}  // namespace hone
