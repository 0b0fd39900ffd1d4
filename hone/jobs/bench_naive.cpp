#include "hone/jobs/bench_naive.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "hone/autodiff/gradients.h"
#include "hone/base/interrupt.h"
#include "hone/base/text.h"
#include "hone/base/usage_check.h"
#include "hone/jobs/call_series.h"
#include "hone/jobs/device_time.h"
#include "hone/models/text_limit.h"
#include "hone/passes/fuse_attention.h"
#include "hone/passes/hoist_slices.h"
#include "hone/passes/remove_dropout.h"
#include "hone/runtime/interpreter.h"
#include "hone/runtime/run_passes.h"
#include "hone/tensor/dense.h"
#include "hone/train/memory_check.h"
#include "hone/train/text_examples.h"

namespace hone {
namespace {

constexpr std::size_t kNaiveCalls = 5;
constexpr std::int64_t kStartups = 7;  // loops of five calls, each including preparation

struct NaiveRunner {
  BenchWork work;
  std::unique_ptr<Executable> executable = nullptr;

  void run(Device& device) { work.run(*executable, device); }
};

std::unique_ptr<NaiveRunner> runner_of(BenchWork work, const Session& session) {
  auto runner = std::make_unique<NaiveRunner>(NaiveRunner{std::move(work)});
  runner->executable = session.executable(runner->work.graph);
  return runner;
}

// Keeps dropout, as without `model.eval()`.
BenchWork in_training_mode(const Model& model, const BenchOptions& options,
                           const Session& session) {
  PassWatch watch = session.watch != nullptr ? *session.watch : PassWatch{};
  watch.skipped.insert("remove_dropout");
  Session skipping = session;
  skipping.watch = &watch;
  return bench_work(model, model.parameters, options, mode_of(session), skipping);
}

// Returns the results of operations, by name and index, that the gradients of the trainable parameters read.
std::vector<std::pair<std::string, int>> kept_for_gradients(Graph graph) {
  std::set<const Node*> forward;
  for (const Node* node : graph.of_kind(NodeKind::operation)) forward.insert(node);
  std::vector<Value> trainable;
  for (Node* parameter : graph.of_kind(NodeKind::parameter))
    if (parameter->trainable()) trainable.push_back({parameter, 0});
  add_gradients(graph, graph.output("loss"), trainable);
  std::set<std::pair<std::string, int>> kept;
  for (const Node* node : graph.of_kind(NodeKind::operation)) {
    if (forward.contains(node)) continue;
    for (const Value& input : node->inputs())
      if (forward.contains(input.node)) kept.emplace(input.node->name(), input.index);
  }
  return {kept.begin(), kept.end()};
}

// Returns why runs of this model record no gradients; "" if they do.
std::string no_gradients_of(const Model& model, const BenchOptions& options) {
  if (options.format || model.quantization) return "a quantized model records no gradients";
  for (const Node* node : model.graph.of_kind(NodeKind::operation))
    if (node->is("batch_norm")) return "batch norms that use running statistics have no gradients";
  return "";
}

// Keeps every value that gradients read until the run ends, as without `torch.no_grad()`.
BenchWork with_gradients_recorded(const Model& model, const BenchOptions& options,
                                  const BenchWork& correct, const Session& session) {
  BenchWork work{.graph = model.graph,
                 .parameters = model.parameters.on(session.device),
                 .inputs = correct.inputs,
                 .bindings = correct.bindings};
  remove_dropout(work.graph);
  hoist_slices_before_gradients(work.graph);
  fuse_attention(work.graph);
  const auto kept = kept_for_gradients(work.graph);
  const Value logits = work.graph.output("logits");
  work.graph.clear_outputs();
  work.graph.set_output("logits", logits);
  for (const auto& [name, index] : kept)
    work.graph.set_output(fmt::format("kept.{}.{}", name, index), {work.graph.find(name), index});
  run_passes(work.graph, work.parameters, session, {"remove_dead_code", "fuse_linear"});
  compute_once(work.graph, work.parameters, session);
  check_memory(work.graph, work.bindings, session, work.parameters,
               fmt::format("a run of {} with gradients recorded",
                           run_size_text(options.batch, options.tokens, model.facts.limits)));
  return work;
}

// Makes the batch, copies it to the device, and copies the predictions back.
void run_with_copies(NaiveRunner& runner, const EncodedSet& texts,
                     const std::vector<std::int64_t>& rows, Device& device) {
  NamedTensors inputs = text_examples(texts).batch(rows, 0);
  for (auto& [name, tensor] : inputs) runner.work.inputs[name] = tensor.on(device);
  const NamedTensors outputs = runner.executable->run(runner.work.inputs, runner.work.parameters);
  for (const auto& [name, tensor] : outputs) dense_on(tensor, cpu());
}

Interval middle_share(std::vector<double> sorted, double share) {
  const auto last = static_cast<double>(sorted.size() - 1);
  const auto at = [&](double q) { return sorted[static_cast<std::size_t>(std::lround(q * last))]; };
  return {at((1 - share) / 2), at((1 + share) / 2)};
}

/// `ms`: times measured with the mistake, in any order.
NaiveMistake compared_tries(std::string name, std::string what, std::vector<double> ms,
                            double correct_ms) {
  std::ranges::sort(ms);
  NaiveMistake mistake{.name = std::move(name), .what = std::move(what)};
  mistake.ms = median_of_sorted(ms);
  mistake.ratio = *mistake.ms / correct_ms;
  mistake.tries = std::ssize(ms);
  const Interval interval = median_interval(ms);
  mistake.ratio_interval = Interval{interval.low / correct_ms, interval.high / correct_ms};
  return mistake;
}

// Compares runs with the mistake and correct runs that took turns.
NaiveMistake compared_in_turn(std::string name, std::string what, std::span<const double> correct,
                              std::span<const double> naive) {
  const TimesInTurn turns = compare_rounds(naive, correct);
  return {.name = std::move(name),
          .what = std::move(what),
          .ms = turns.before.median_ms,
          .ratio = turns.speedup,
          .ratio_interval = turns.speedup_interval,
          .tries = std::ssize(naive)};
}

// Evaluates the means of any five consecutive calls.
NaiveMistake mean_of_five(std::span<const double> correct, double correct_ms) {
  std::vector<double> means;
  for (std::size_t i = 0; i + kNaiveCalls <= correct.size(); ++i)
    means.push_back(std::accumulate(correct.begin() + static_cast<std::ptrdiff_t>(i),
                                    correct.begin() + static_cast<std::ptrdiff_t>(i + kNaiveCalls),
                                    0.0) /
                    static_cast<double>(kNaiveCalls));
  std::ranges::sort(means);
  const Interval spread = middle_share(means, 0.95);
  return {.name = "n = 5",
          .what = "mean of five warm runs; the interval holds 95% of such means",
          .ms = median_of_sorted(means),
          .ratio = median_of_sorted(means) / correct_ms,
          .ratio_interval = Interval{spread.low / correct_ms, spread.high / correct_ms},
          .tries = std::ssize(means)};
}

/// Mean times of loops of five calls, with and without preparation.
struct StartupTimes {
  std::vector<double> with_preparation_ms, first_calls_ms;
};

StartupTimes time_startups(const Model& model, const BenchOptions& options,
                           const Session& session) {
  StartupTimes all;
  const ExecutionMode& mode = mode_of(session);
  for (std::int64_t i = 0; i < kStartups; ++i) {
    stop_if_interrupted();
    BenchWork work = bench_work(model, model.parameters, options, mode, session);
    CallSeries series{.stages = work.stages};
    std::unique_ptr<Executable> executable;
    series.stages.push_back(
        {"planning", run_ms([&] { executable = work.executable(mode, session); })});
    for (std::size_t call = 0; call < kNaiveCalls; ++call)
      series.calls_ms.push_back(run_ms([&] { work.run(*executable, session.device); }));
    all.with_preparation_ms.push_back(series.mean_with_preparation_ms(kNaiveCalls));
    all.first_calls_ms.push_back(series.mean_ms(kNaiveCalls, 0));
  }
  return all;
}

}  // namespace

const Fields& fields_of(const NaiveMistake*) {
  using N = NaiveMistake;
  static const Fields fields = describe<N>(
      "naive_mistake", "A benchmarking mistake.", field<&N::name>("mistake", "Its name."),
      field<&N::what>("what", "What is done differently."),
      field<&N::why_not>("why_not", "Why it was not made; null: it was."),
      field<&N::ms>("ms", Unit::milliseconds,
                    "Latency measured with it, median of all tries; null: not made."),
      field<&N::ratio>("ratio", Unit::ratio,
                       "Ratio of that to the correct latency; null: not made."),
      field<&N::ratio_interval>("ratio_interval",
                                "Its interval of at least 95%; of n = 5 that of 95% of such means. "
                                "Null: not made."),
      field<&N::tries>("tries", "How often it was made."));
  return fields;
}

const Fields& fields_of(const NaiveTimes*) {
  using N = NaiveTimes;
  static const Fields fields = describe<N>(
      "naive_times", "How far benchmarking mistakes change the measured latency.",
      inlined<&N::work>(), field<&N::rounds>("rounds", "Rounds in which runs took turns."),
      field<&N::correct_ms>("correct_ms", Unit::milliseconds,
                            "Correct latency: the median of warm runs, nothing else timed."),
      field<&N::correct_interval>("correct_interval", Unit::milliseconds,
                                  "Its interval of at least 95%."),
      field<&N::mistakes>("mistakes", "Each mistake alone."));
  return fields;
}

Table naive_table(const NaiveTimes& times) {
  Table table({{"mistake", "Mistake"},
               {"ms", "Measured (ms)"},
               {"ratio", "Ratio to correct"},
               {"tries", "Tries"},
               {"what", "Description"}});
  table.add_row({"none", real(times.correct_ms, 3),
                 number_within(1, times.correct_interval.low / times.correct_ms,
                               times.correct_interval.high / times.correct_ms),
                 times.rounds, "median of warm runs, nothing else timed"});
  for (const NaiveMistake& one : times.mistakes) {
    if (one.ms) {
      table.add_row({one.name, real(*one.ms, 3),
                     number_within(one.ratio.value(), one.ratio_interval.value().low,
                                   one.ratio_interval->high),
                     one.tries, one.what});
    } else {
      table.add_row({one.name, absent, absent, absent, "not run: " + one.why_not.value()});
    }
  }
  return table;
}

namespace {

void describe_mistakes(const NaiveTimes& times, Document& document) {
  const auto error_of = [](const NaiveMistake& one) {
    return one.ratio ? std::abs(std::log(*one.ratio)) : -1;
  };
  const NaiveMistake& worst = *std::ranges::max_element(times.mistakes, {}, error_of);
  const std::string correct = fmt::format("{} ms", three_digits(times.correct_ms));
  document.title = fmt::format("{}: benchmarking mistakes", times.work.what);
  document.headline = fmt::format(
      "Costliest mistake: {}, {}× the correct latency ({} ms instead of {})", worst.name,
      three_digits(worst.ratio.value()), three_digits(worst.ms.value()), correct);
  document.key_figures = {
      {"Correct latency",
       fmt::format("{} (95% CI {} to {})", correct, three_digits(times.correct_interval.low),
                   three_digits(times.correct_interval.high))},
      {"Costliest mistake",
       fmt::format("{}: {}× (95% CI {} to {})", worst.name, three_digits(*worst.ratio),
                   three_digits(worst.ratio_interval.value().low),
                   three_digits(worst.ratio_interval->high))}};
  document.evidence =
      fmt::format("Medians of {} rounds in turn of {}; 95% CIs cover this process only.",
                  times.rounds, times.work.what);
  document.sections = {
      {"", {PageTable{naive_table(times), "Each mistake alone."}}},
      {"How to read this",
       {Paragraph{"Runs in turn empty each other's caches, so all latencies may be up to 10% above "
                  "those of `hone bench` without --pitfalls."}},
       /*folded=*/true}};
}

}  // namespace

NaiveResult bench_naive(const NaiveJob& job, Context& context) {
  BenchOptions options = job.work.options;
  usage_check(!options.train && !options.lora,
              "`pitfalls` supports inference only: a training step needs dropout and gradients");
  usage_check(
      job.rounds >= static_cast<std::int64_t>(kFewestForMedianInterval),
      "`iterations`: expected at least {} with `pitfalls`: fewer have no confidence interval",
      kFewestForMedianInterval);
  const Session session = context.session();
  Device& device = session.device;
  const Model model =
      model_to_time(bench_model(job.work, context), job.work.model, options, context);
  const ExecutionMode& mode = mode_of(session);
  const auto correct =
      runner_of(bench_work(model, model.parameters, options, mode, session), session);
  const auto training = runner_of(in_training_mode(model, options, session), session);
  const auto copying =
      runner_of(bench_work(model, model.parameters, options, mode, session), session);
  const std::string no_gradients = no_gradients_of(model, options);
  const auto recording =
      no_gradients.empty()
          ? runner_of(with_gradients_recorded(model, options, correct->work, session), session)
          : nullptr;
  const EncodedSet texts = random_examples(model, options.batch, options.tokens);
  std::vector<std::int64_t> rows(static_cast<std::size_t>(options.batch));
  std::iota(rows.begin(), rows.end(), 0);
  BenchWork forgetting = bench_work(model, model.parameters, options, mode, session);
  std::optional<Interpreter> forgetful;
  if (device.host_accessible()) forgetful.emplace(forgetting.graph, session.library, session.pool);

  std::vector<std::function<void()>> works = {
      [&] { correct->run(device); },
      [&] { training->run(device); },
      [&] { run_with_copies(*copying, texts, rows, device); },
  };
  if (recording) works.emplace_back([&] { recording->run(device); });
  if (forgetful)
    works.emplace_back([&] {
      forgetting.run(*forgetful, device);
      forgetful->release_memory();
    });
  Progress progress("rounds", job.rounds,
                    {.unit = "rounds", .end = ProgressEnd::vanishes, .output = context.progress});
  std::int64_t done = 0;
  const auto ms = rounds_in_turn(works, job.rounds, [&] { progress.update(++done); });
  progress.finish();
  const StartupTimes startups = time_startups(model, options, session);

  std::vector<double> sorted = ms[0];
  std::ranges::sort(sorted);
  const std::string what = bench_text(model, job.work.model, options,
                                      device.host_accessible() ? "interpreter" : to_string(device),
                                      bench_arithmetic(model, options, session));
  NaiveTimes times{.work = timed_work(job.work, options, what, context),
                   .rounds = job.rounds,
                   .correct_ms = median_of_sorted(sorted),
                   .correct_interval = median_interval(sorted)};
  times.mistakes = {
      compared_tries("preparation timed",
                     "five calls with passes, planning and packing in the timed region",
                     startups.with_preparation_ms, times.correct_ms),
      compared_tries("no warm-up", "the first five calls of a prepared graph",
                     startups.first_calls_ms, times.correct_ms),
      mean_of_five(ms[0], times.correct_ms),
      compared_in_turn("training mode",
                       "the model runs in training mode, with dropout where it has some", ms[0],
                       ms[1]),
      compared_in_turn("copies timed",
                       "the batch is assembled and copied in, predictions are copied out", ms[0],
                       ms[2])};
  const NaiveMistake recorded{
      .name = "gradients recorded",
      .what = "all activations that gradients need are kept until the run ends",
      .why_not = no_gradients};
  const NaiveMistake anew{.name = "new buffers",
                          .what = "memory of all activations is allocated and freed in every call",
                          .why_not = "a GPU runs the whole graph at once, with its memory"};
  times.mistakes.push_back(recording ? compared_in_turn(recorded.name, recorded.what, ms[0], ms[3])
                                     : recorded);
  times.mistakes.push_back(forgetful ? compared_in_turn(anew.name, anew.what, ms[0], ms.back())
                                     : anew);
  NaiveResult result;
  result.fields = to_json(times);
  describe_mistakes(times, result.document);
  result.times = std::move(times);
  return result;
}

}  // namespace hone
