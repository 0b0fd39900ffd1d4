#include "hone/labs/speed_lab.h"

#include <algorithm>
#include <set>

#include "hone/analysis/cost.h"
#include "hone/jobs/linear_variants.h"
#include "hone/labs/speed_report.h"
#include "hone/runtime/run_passes.h"
#include "hone/train/training_graph.h"

namespace hone {
namespace {

constexpr const char* kWhyNot = "why_not";  // key in the result of a stage that could not run

/// A default model, and the lowest fidelity that includes it.
struct UsualModel {
  Fidelity from;
  TimedModel model;
};

// The image size of "resnet18" (models/model_source.h).
constexpr ImageSize kImage = {.channels = 3, .height = 224, .width = 224};

const std::vector<UsualModel>& usual_models() {
  static const std::vector<UsualModel> table = {
      {Fidelity::quick, {.name = "tiny", .what = "BERT-tiny", .batches = {8, 1}}},
      {Fidelity::paper,
       {.name = "base", .what = "BERT-base", .batches = {1}, .processes = 1, .naive_rounds = 20}},
      {Fidelity::quick,
       {.name = "resnet18",
        .what = "ResNet-18",
        .batches = {1},
        .tokens = 0,
        .image = kImage,
        .iterations = 20,
        .processes = 1,
        .naive_rounds = 20}},
      {Fidelity::paper,
       {.name = "resnet18",
        .what = "ResNet-18",
        .batches = {128},
        .tokens = 0,
        .image = kImage,
        .iterations = 10,
        .processes = 1,
        .inference_alone = true}}};
  return table;
}

std::vector<TimedModel> models_of(Fidelity fidelity) {
  std::vector<TimedModel> models;
  for (const UsualModel& usual : usual_models())
    if (usual.from <= fidelity) models.push_back(usual.model);
  return models;
}

/// A workload that is timed call by call.
struct SpeedWorkload {
  TimedModel model;
  std::int64_t batch = 1;
  bool train = false;

  std::string stage() const {
    return fmt::format("{}-{}-{}", model.what, train ? "training" : "inference", batch);
  }
  std::string name() const {
    return fmt::format("{}, {}, batch size {}{}{}", model.what,
                       train ? "training step" : "inference", batch,
                       model.tokens > 0 ? fmt::format(", {} tokens", model.tokens) : "",
                       model.image ? fmt::format(", images of {} × {} × {}", model.image->channels,
                                                 model.image->height, model.image->width)
                                   : "");
  }
  BenchJob job(std::uint64_t seed) const {
    return {.model = model.name,
            .options = {.batch = batch, .tokens = model.tokens, .train = train},
            .seed = seed};
  }
};

std::string naive_stage(const TimedModel& model) { return model.what + "-naive"; }

// The user's model replaces the default ones.
std::vector<TimedModel> models_of(const LabRun& run, const std::vector<TimedModel>& usual) {
  if (run.job.model.empty()) return usual;
  TimedModel own = usual.front();
  own.name = run.job.model;
  own.what = "model";
  const Model model = bench_model({.model = own.name, .seed = run.job.seed}, run.context);
  const InputLimits& limits = model.facts.limits;
  own.tokens = limits.image ? 0 : std::min(own.tokens, limits.tokens);
  own.image = limits.image;
  return {own};
}

// Returns the models without those timed for inference only.
std::vector<TimedModel> timed_wholly(std::vector<TimedModel> models) {
  std::erase_if(models, [](const TimedModel& model) { return model.inference_alone; });
  return models;
}

std::vector<SpeedWorkload> works_of(const std::vector<TimedModel>& models) {
  std::vector<SpeedWorkload> works;
  for (const TimedModel& model : models) {
    for (const std::int64_t batch : model.batches) works.push_back({model, batch, false});
    if (!model.inference_alone) works.push_back({model, model.batches.front(), true});
  }
  return works;
}

// Returns the command of a fresh process of one executor.
std::vector<std::string> fresh_words(const SpeedWorkload& work, const LabJob& job) {
  std::vector<std::string> words = {"bench", work.model.name,
                                    fmt::format("--batch_size={}", work.batch),
                                    fmt::format("--seed={}", job.seed)};
  if (work.model.tokens > 0) words.push_back(fmt::format("--tokens={}", work.model.tokens));
  if (work.train) words.emplace_back("--train");
  words.insert(words.end(), job.words.begin(), job.words.end());
  return words;
}

LabCost cost_of(const SpeedWorkload& work, const LabRun& run, const LabRates& rates) {
  const Model model = bench_model(work.job(run.job.seed), run.context);
  const Cost one = cost(forward_graph(model),
                        {{'B', work.batch}, {'S', std::max<std::int64_t>(1, work.model.tokens)}});
  const double call = (work.train ? kStepsOfTraining : 1) * one.flops / rates.flops;
  const auto ways = static_cast<double>(usable_modes(run.context.session()).size()),
             calls = static_cast<double>(work.model.iterations),
             processes = static_cast<double>(work.model.processes);
  return {.seconds = ways * (1 + processes) * calls * call,
          .memory_bytes = 2 * (work.train ? 4.0 : 1.0) * static_cast<double>(one.parameter_bytes) +
                          4 * static_cast<double>(one.peak_value_bytes)};
}

// Returns a remark about the kernels that the device lacks for a workload; "" if none.
std::string why_not_run(const SpeedWorkload& work, const LabRun& run) {
  const Session session = run.context.session();
  if (session.device.host_accessible()) return "";
  Model model = bench_model(work.job(run.job.seed), run.context);
  Graph graph = work.train ? std::move(model.graph) : forward_graph(model);
  if (work.train) {
    add_training_step(graph, {}, Fusing::none);
  } else {
    run_passes(graph, model.parameters, session, {"remove_dropout", "remove_dead_code"});
  }
  const std::string missing = missing_kernel(graph, session);
  return missing.empty() ? "" : "not run: " + missing;
}

// Returns the result of `measure`, or why the device cannot run the workload.
Json found_of(const SpeedWorkload& work, LabRun& run, const std::function<Json()>& measure) {
  const std::string why_not = why_not_run(work, run);
  return why_not.empty() ? measure() : Json{{kWhyNot, why_not}};
}

LabStage iterations_stage(const SpeedWorkload& work, const LabRun& run, const LabRates& rates) {
  return {.name = work.stage(),
          .what = fmt::format("times {}: {} calls of each executor, in {} of each and a warm one",
                              work.name(), work.model.iterations,
                              work.model.processes == 1
                                  ? "a fresh process"
                                  : fmt::format("{} fresh processes", work.model.processes)),
          .cost = cost_of(work, run, rates),
          .run = [work](LabRun& r) {
            return found_of(work, r, [&] {
              return bench_iterations({.work = work.job(r.job.seed),
                                       .iterations = work.model.iterations,
                                       .processes = work.model.processes,
                                       .arguments = fresh_words(work, r.job)},
                                      r.context)
                  .fields;
            });
          }};
}

// Describes the mistakes in the terms of the page, without those that change nothing in this model.
NaiveTimes in_words(NaiveTimes times, const Model& model) {
  for (NaiveMistake& one : times.mistakes) {
    if (one.name == "training mode") {
      one.what = "as without eval(): dropout is computed";
      if (!model.graph.operations("dropout").empty()) continue;
      one = {.name = one.name,
             .what = one.what,
             .why_not =
                 "the model has no dropout, and hone's inference always uses the running "
                 "statistics of batch norms"};
    } else if (one.name == "gradients recorded") {
      one.what = "as without no_grad(): all results that gradients need are kept until the end";
      if (one.why_not && !model.graph.operations("batch_norm").empty())
        one.why_not = "hone has no gradient of batch norms with running statistics";
    } else if (one.name == "new buffers") {
      one.name = "memory allocated in every call";
      one.what = "memory of all intermediate results is allocated and freed in every call";
    }
  }
  return times;
}

LabStage mistakes_stage(const SpeedWorkload& work, const LabRun& run, const LabRates& rates) {
  LabCost cost = cost_of(work, run, rates);
  // Six runs in turn, compared with those of two executors in their processes.
  cost.seconds *= 6.0 * static_cast<double>(work.model.naive_rounds) /
                  (2.0 * static_cast<double>(work.model.iterations) *
                   static_cast<double>(1 + work.model.processes));
  return {.name = naive_stage(work.model),
          .what = fmt::format("measures the effect of benchmarking mistakes, with {}", work.name()),
          .cost = cost,
          .run = [work](LabRun& r) {
            return found_of(work, r, [&] {
              const BenchJob job = work.job(r.job.seed);
              return to_json(in_words(
                  bench_naive({.work = job, .rounds = work.model.naive_rounds}, r.context).times,
                  bench_model(job, r.context)));
            });
          }};
}

// ---- results of the stages

template <typename Found>
void read_timings(const Json& kept, Found& found) {
  if (kept.contains(kWhyNot))
    found.why_not = kept.at(kWhyNot);
  else
    found.times = from_json<typename decltype(found.times)::value_type>(kept);
}

// Returns the workloads of higher fidelities.
std::vector<SkippedWorkload> left_out_of(
    const LabRun& run, const std::function<std::vector<TimedModel>(Fidelity)>& models) {
  std::vector<SkippedWorkload> left_out;
  if (!run.job.model.empty()) return left_out;
  std::set<std::string> known;
  for (const SpeedWorkload& work : works_of(models(run.job.fidelity))) known.insert(work.stage());
  for (const Fidelity fidelity : {Fidelity::quick, Fidelity::paper, Fidelity::full}) {
    if (fidelity <= run.job.fidelity) continue;
    for (const SpeedWorkload& work : works_of(models(fidelity)))
      if (known.insert(work.stage()).second)
        left_out.push_back(
            {work.name(), fmt::format("not run: --fidelity {} times it", to_string(fidelity))});
  }
  return left_out;
}

LabReport report_speeds(const LabRun& run,
                        const std::function<std::vector<TimedModel>(Fidelity)>& usual) {
  const std::vector<TimedModel> models = models_of(run, usual(run.job.fidelity));
  std::vector<WorkloadCalls> calls;
  for (const SpeedWorkload& work : works_of(models)) {
    calls.push_back({work.model.what, work.name(), work.stage(), work.train});
    read_timings(run.results.at(work.stage()), calls.back());
  }
  std::vector<WorkloadMistakes> mistakes;
  for (const TimedModel& model : timed_wholly(models)) {
    mistakes.push_back({SpeedWorkload{model, model.batches.front(), false}.name()});
    read_timings(run.results.at(naive_stage(model)), mistakes.back());
  }
  return speed_report(calls, mistakes, left_out_of(run, usual), run);
}

}  // namespace

const Fields& fields_of(const LabExecutorResult*) {
  using L = LabExecutorResult;
  static const Fields fields = describe<L>(
      "lab_executor", "An executor on one workload, or an executor or device that did not run it.",
      field<&L::work>("work", "Model, kind of run, examples and tokens."),
      field<&L::device>("device", "The device that ran it, or was not there."),
      field<&L::executor>("executor", "Its name; null: none was run."),
      field<&L::start_ms>("start_ms", Unit::milliseconds,
                          "Time to the first output of a fresh process; null: not run."),
      field<&L::median_ms>("median_ms", Unit::milliseconds,
                           "Median call of a warm process; null: not run."),
      inlined<&L::speedup>(),
      field<&L::break_even_fresh>(
          "break_even_fresh",
          "The call from which on it is ahead in a fresh process; null: never, or no gain per "
          "call is shown."),
      field<&L::break_even_warm>("break_even_warm", "The same in a warm process."),
      field<&L::break_even_fresh_low>("break_even_fresh_low",
                                      "The earliest such call in a fresh process; null: no call."),
      field<&L::break_even_fresh_high>("break_even_fresh_high",
                                       "The latest such call; null: perhaps never."),
      field<&L::break_even_warm_low>("break_even_warm_low", "The earliest in a warm process."),
      field<&L::break_even_warm_high>("break_even_warm_high", "The latest in a warm process."),
      field<&L::calls>("calls",
                       "Calls of each process; a later break-even call is extrapolated. Null: not "
                       "run."),
      field<&L::ratio_5>("ratio_5", Unit::ratio,
                         "Speedup by the mean of 5 calls in a fresh process, preparation included; "
                         "null: the baseline, or not run."),
      field<&L::ratio_20>("ratio_20", Unit::ratio, "The same of 20 calls."),
      field<&L::ratio_100>("ratio_100", Unit::ratio,
                           "The same of 100 calls; null: there were fewer."),
      field<&L::ratio_100_later>(
          "ratio_100_later", Unit::ratio,
          "Speedup by the mean of 100 calls in a warm process, without the first calls."),
      field<&L::why_not>("why_not", "Reason why it was not run; null: it was."));
  return fields;
}

const Fields& fields_of(const LabWorkloadResult*) {
  using L = LabWorkloadResult;
  static const Fields fields =
      describe<L>("lab_work", "A workload of a lab, call by call.",
                  field<&L::work>("work", "Its name."), inlined<&L::times>());
  return fields;
}

const Fields& fields_of(const SpeedLabFields*) {
  using S = SpeedLabFields;
  static const Fields fields = describe<S>(
      "lab", "Executors compared, call by call.", inlined<&S::lab>(),
      field<&S::overview>("overview", "Every executor on every workload."),
      field<&S::works>("works", "Each workload that was run, call by call."),
      field<&S::naive>("naive",
                       "How far mistakes of measuring change the latency of each model that was "
                       "run."),
      field<&S::published>("published", "Numbers that others have published."));
  return fields;
}

Lab speed_lab(std::function<std::vector<TimedModel>(Fidelity)> models) {
  return {
      .name = "4.1",
      .title = "executors compared, call by call",
      .costs =
          "quick: several minutes; paper and full: about 30 minutes, because they also time "
          "BERT-base",
      .question = "Why is a compiled model slower at first, and from which call on is it faster?",
      .stages =
          [models](const LabRun& run, const LabRates& rates) {
            const std::vector<TimedModel> own = models_of(run, models(run.job.fidelity));
            std::vector<LabStage> stages;
            for (const SpeedWorkload& work : works_of(own))
              stages.push_back(iterations_stage(work, run, rates));
            for (const TimedModel& model : timed_wholly(own))
              stages.push_back(mistakes_stage({model, model.batches.front(), false}, run, rates));
            return stages;
          },
      .report = [models](const LabRun& run) { return report_speeds(run, models); },
      .input = LabInput::model};
}

Lab speed_lab() {
  return speed_lab([](Fidelity fidelity) { return models_of(fidelity); });
}

}  // namespace hone
