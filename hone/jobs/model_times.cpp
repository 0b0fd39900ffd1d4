#include "hone/jobs/model_times.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>
#include <ranges>
#include <span>

#include "hone/analysis/cost.h"
#include "hone/base/text.h"
#include "hone/jobs/device_time.h"
#include "hone/models/transform.h"
#include "hone/passes/pack.h"
#include "hone/train/memory_check.h"
#include "hone/train/predictor.h"
#include "hone/train/text_examples.h"

namespace hone {
namespace {

constexpr std::int64_t kMostBatches = 4, kMostAlone = 32;
constexpr double kMostRoundGflop = 30;   // tenths of a second on two cores
constexpr double kMostBatchGflop = 350;  // several seconds

/// The first examples, in batches.
struct FirstBatches {
  std::vector<NamedTensors> batches = {};
  std::int64_t examples = 0, tokens = 0, padded = 0;

  double mean(std::int64_t sum) const {
    return static_cast<double>(sum) / static_cast<double>(examples);
  }
};

FirstBatches first_batches(const EncodedSet& set, std::int64_t batch_size, std::int64_t examples) {
  const ExampleSource source = text_examples(set);
  FirstBatches first{.examples = examples};
  for (std::int64_t begin = 0; begin < examples; begin += batch_size) {
    std::vector<std::int64_t> rows(
        static_cast<std::size_t>(std::min(batch_size, examples - begin)));
    std::iota(rows.begin(), rows.end(), begin);
    std::int64_t longest = 0;
    for (const std::int64_t row : rows) {
      const std::int64_t length = source.lengths[static_cast<std::size_t>(row)];
      first.tokens += length;
      longest = std::max(longest, length);
    }
    first.padded += longest * std::ssize(rows);
    first.batches.push_back(source.batch(rows, 0));
  }
  return first;
}

/// Cost of running a model's graph on examples of these lengths.
struct BatchCost {
  Graph graph;
  std::vector<std::int64_t> lengths;

  double gflop(std::int64_t begin, std::int64_t count) const {
    const auto first = lengths.begin() + begin;
    return product_flops(graph, {{'B', count}, {'S', *std::max_element(first, first + count)}}) /
           1e9;
  }
};

/// A batch size, and the number of examples in a round.
struct RoundSize {
  std::int64_t batch = 1, examples = 1;
};

// Returns the number of examples for a round of limited duration, at least one batch.
RoundSize round_size(const BatchCost& cost, std::int64_t batch) {
  const std::int64_t most =
      std::min(std::ssize(cost.lengths), batch == 1 ? kMostAlone : kMostBatches * batch);
  RoundSize size{batch, 0};
  for (double gflop = 0; size.examples < most && gflop <= kMostRoundGflop;) {
    const std::int64_t count = std::min(batch, most - size.examples);
    gflop += cost.gflop(size.examples, count);
    size.examples += count;
  }
  return size;
}

// Limits batch sizes to the size of the set and removes duplicates.
std::vector<RoundSize> round_sizes(const BatchCost& cost,
                                   const std::vector<std::int64_t>& batch_sizes,
                                   LargeBatches large) {
  std::vector<RoundSize> sizes;
  for (const std::int64_t wanted : batch_sizes) {
    std::int64_t batch = std::min(wanted, std::ssize(cost.lengths));
    while (large == LargeBatches::halved && batch > 1 && cost.gflop(0, batch) > kMostBatchGflop)
      batch = (batch + 1) / 2;
    if (std::ranges::find(sizes, batch, &RoundSize::batch) == sizes.end())
      sizes.push_back(round_size(cost, batch));
  }
  return sizes;
}

// Reports the predicted memory of running all these models side by side, at the largest batch size, which is first in
// `sizes`.
void predict_rounds(std::span<const ModelOnExamples> timed, const std::vector<RoundSize>& sizes,
                    const Session& session) {
  std::vector<Predictor> predictors;
  std::vector<PlannedRuns> runs;
  const auto [batch, examples] = sizes.front();
  for (const ModelOnExamples& one : timed) {
    const Predictor& predictor =
        predictors.emplace_back(forward_graph(one.model), one.model.parameters, session);
    const std::vector<std::int64_t> lengths = lengths_of(one.examples);
    const std::int64_t longest = *std::max_element(lengths.begin(), lengths.begin() + examples);
    runs.push_back({predictor.graph(), {{'B', batch}, {'S', longest}}, predictor.parameters()});
  }
  predict_together(runs, session);
}

// Runs the last size first, since first runs are short at the smallest batch size.
ModelSetUp set_up_of(const ModelOnExamples& timed, const std::vector<FirstBatches>& work,
                     Context& context) {
  return [&timed, &work, &context] {
    const auto predictor = std::make_shared<Predictor>(forward_graph(timed.model),
                                                       timed.model.parameters, context.session());
    const NamedTensors one = text_examples(timed.examples).batch(std::vector<std::int64_t>{0}, 0);
    for (int i = 0; i < kPackingRuns; ++i) predictor->rows(one);
    std::vector<std::function<void()>> runs;
    for (const FirstBatches& first : std::views::reverse(work))
      runs.emplace_back([predictor, &first] {
        for (const NamedTensors& batch : first.batches) predictor->rows(batch);
      });
    for (int i = 0; i < preparation_runs(context.session().device); ++i)
      for (const auto& run : runs) run();
    return runs;
  };
}

void divide(RoundTimes& times, std::int64_t examples) {
  times.min_ms /= static_cast<double>(examples);
  times.median_ms /= static_cast<double>(examples);
}

// "128", "21.3"
std::string tokens_number(double tokens) {
  return std::abs(tokens - std::round(tokens)) < 0.05 ? grouped(std::llround(tokens))
                                                      : fmt::format("{:.1f}", tokens);
}

// "128 tokens", "11.4 tokens padded to 19.8"
std::string tokens_text(double tokens, double padded) {
  const std::string own = tokens_number(tokens), all = tokens_number(padded);
  return fmt::format("{} token{}{}", own, own == "1" ? "" : "s",
                     padded <= tokens || all == own ? "" : " padded to " + all);
}

// "cuda:0"; "" for the CPU.
std::string other_device_of(const ModelTimes& one) {
  const std::string device = one.device.substr(0, one.device.find(','));
  return device == to_string(cpu()) ? "" : device;
}

}  // namespace

const Fields& fields_of(const ModelTimes*) {
  using M = ModelTimes;
  static const Fields fields = describe<M>(
      "batch_latency", "The latency of one example at one batch size, before and after a change.",
      field<&M::device>("device",
                        "Device that ran both models, with settings that its results depend on."),
      field<&M::batch_size>("batch_size", Unit::examples,
                            "Examples of a batch, padded to the longest of them."),
      field<&M::texts>("examples", Unit::examples, "Examples that were timed."),
      omitted<&M::noun>(),
      field<&M::tokens>("tokens_before", "Tokens of an example on average, without padding."),
      field<&M::tokens_after>("tokens_after", "The same by the tokenizer of the changed model."),
      field<&M::padded>(
          "padded_tokens_before",
          "Tokens of an example with its padding on average: the value for `hone bench --tokens`."),
      field<&M::padded_after>("padded_tokens_after",
                              "The same by the tokenizer of the changed model."),
      field<&M::rounds>("rounds", "Paired rounds."), inlined<&M::times>());
  return fields;
}

std::vector<ModelTimes> time_models(const ModelOnExamples& before, const ModelOnExamples& after,
                                    const std::vector<std::int64_t>& batch_sizes, Context& context,
                                    LargeBatches large) {
  std::vector<ModelTimes> all;
  std::vector<FirstBatches> work_before, work_after;
  const std::vector<RoundSize> sizes =
      round_sizes({forward_graph(before.model), lengths_of(before.examples)}, batch_sizes, large);
  predict_rounds(std::vector{before, after}, sizes, context.session());
  for (const auto& [batch, examples] : sizes) {
    work_before.push_back(first_batches(before.examples, batch, examples));
    work_after.push_back(first_batches(after.examples, batch, examples));
    all.push_back({.device = device_text(context.session()),
                   .batch_size = batch,
                   .texts = examples,
                   .noun = before.examples.noun(),
                   .tokens = work_before.back().mean(work_before.back().tokens),
                   .tokens_after = work_after.back().mean(work_after.back().tokens),
                   .padded = work_before.back().mean(work_before.back().padded),
                   .padded_after = work_after.back().mean(work_after.back().padded)});
  }
  const ModelSetUp set_ups[] = {set_up_of(before, work_before, context),
                                set_up_of(after, work_after, context)};
  Progress progress("time models", kMostTimedRounds,
                    {.unit = "rounds", .end = ProgressEnd::vanishes, .output = context.progress});
  std::int64_t done = 0;
  auto ms = rounds_with_fresh_setup(set_ups, /*rounds=*/0, [&] { progress.update(++done); });
  std::ranges::reverse(ms);
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].rounds = done;
    all[i].times = compare_set_ups(ms[i][0], ms[i][1]);
    divide(all[i].times.before, all[i].texts);
    divide(all[i].times.after, all[i].texts);
  }
  return all;
}

BatchSize timed_batch(const ModelOnExamples& timed) {
  const RoundSize size = round_sizes({forward_graph(timed.model), lengths_of(timed.examples)},
                                     kLatencyBatches, LargeBatches::halved)
                             .front();
  const FirstBatches first = first_batches(timed.examples, size.batch, size.examples);
  return {size.batch, std::max<std::int64_t>(1, std::llround(first.mean(first.padded)))};
}

std::int64_t examples_of_round(const ModelOnExamples& timed, const Device& device) {
  std::int64_t set_up = kPackingRuns;
  const std::vector<RoundSize> sizes =
      round_sizes({forward_graph(timed.model), lengths_of(timed.examples)}, kLatencyBatches,
                  LargeBatches::halved);
  for (const RoundSize& size : sizes) set_up += (preparation_runs(device) + 1) * size.examples;
  return 2 * set_up;
}

double latency_ms(const ModelOnExamples& timed, const Model& baseline, Context& context) {
  constexpr std::int64_t kSetUps = 3;
  const std::vector<RoundSize> sizes =
      round_sizes({forward_graph(baseline), lengths_of(timed.examples)}, {1}, LargeBatches::halved);
  predict_rounds(std::span(&timed, 1), sizes, context.session());
  const auto [batch, examples] = sizes.front();
  const std::vector<FirstBatches> work = {first_batches(timed.examples, batch, examples)};
  std::vector<double> ms =
      rounds_with_fresh_setup(std::vector{set_up_of(timed, work, context)}, kSetUps)
          .front()
          .front();
  std::ranges::sort(ms);
  return median_of_sorted(ms) / static_cast<double>(examples);
}

Model packed_to_run(Model model, Context& context) {
  if (model.quantization && !has_packed_weights(model.graph))
    transform(model, "pack", context.session());
  return model;
}

std::string batch_text(std::int64_t batch_size, double tokens, double padded) {
  return fmt::format("batch size {}{}", batch_size,
                     tokens == 0 ? "" : ", " + tokens_text(tokens, padded));
}

std::string latency_title(std::int64_t batch_size, double tokens, double padded) {
  return fmt::format("Latency per example ({})", batch_text(batch_size, tokens, padded));
}

std::string latency_title(const ModelTimes& one) {
  const std::string device = other_device_of(one);
  return fmt::format("Latency per example{} ({})", device.empty() ? "" : " on " + device,
                     batch_text(one.batch_size, one.noun == "texts" ? one.tokens : 0, one.padded));
}

std::vector<Fact> latency_facts(const std::vector<ModelTimes>& times) {
  std::vector<Fact> figures;
  for (const ModelTimes& one : times)
    figures.push_back({latency_title(one), latency_change_text(one.times)});
  return figures;
}

std::string times_line(const ModelTimes& one, int threads) {
  const TimesInTurn& times = one.times;
  const std::string tokens =
      one.noun != "texts" ? ""
      : one.tokens == one.tokens_after
          ? fmt::format(" of {} on average", tokens_text(one.tokens, one.padded))
          : fmt::format(" of {} on average (baseline {})",
                        tokens_text(one.tokens_after, one.padded_after),
                        tokens_text(one.tokens, one.padded));
  return fmt::format(
      "Latency per example at batch size {}: {}. Medians of {} paired rounds of {} {}{} with {}; "
      "both models are set up anew in each round, and the fastest rounds took {} → {} ms "
      "per example.",
      one.batch_size, latency_change_text(times), one.rounds, grouped(one.texts), one.noun, tokens,
      processor_text(one.device, threads), three_digits(times.before.min_ms),
      three_digits(times.after.min_ms));
}

std::string bench_options(const ModelTimes& one) {
  const std::string device = other_device_of(one);
  return fmt::format(
      " --batch_size {}{}{}", one.batch_size,
      one.noun == "texts" ? fmt::format(" --tokens {}", std::llround(one.padded)) : "",
      device.empty() ? "" : " --device " + device);
}

std::string noise_warning(const std::vector<ModelTimes>& times, const std::string& models) {
  std::vector<std::string> sizes, commands;
  for (const ModelTimes& one : times)
    if (one.times.ratio().noisy()) {
      sizes.push_back(std::to_string(one.batch_size));
      commands.push_back(fmt::format("`hone bench {}{}`", models, bench_options(one)));
    }
  if (sizes.empty()) return "";
  return fmt::format(
      "Latencies at batch size {} are noisy, as they varied between rounds: other programs were "
      "running, or there are more threads than cores. Repeat them on an idle machine{}.",
      fmt::join(sizes, " and "),
      models.empty() ? "" : fmt::format(" with {}", fmt::join(commands, " and ")));
}

}  // namespace hone
