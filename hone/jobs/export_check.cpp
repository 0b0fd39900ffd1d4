#include "hone/jobs/export_check.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "hone/base/interrupt.h"
#include "hone/base/text.h"
#include "hone/models/encoding.h"
#include "hone/onnx/onnx_runtime.h"
#include "hone/train/predictor.h"
#include "hone/train/text_examples.h"

namespace hone {
namespace {

constexpr std::size_t kMostChecked = 2000;
constexpr int kRepetitions = 2;

using Clock = std::chrono::steady_clock;

// Returns the predicted classes of a row: the one with the largest logit, or in multi-label tasks those with logits
// above 0.
std::vector<bool> named_classes(std::span<const float> row, Task task) {
  std::vector<bool> named(row.size());
  if (task == Task::multi_label) {
    for (std::size_t i = 0; i < row.size(); ++i) named[i] = row[i] > 0;
  } else {
    named[static_cast<std::size_t>(std::ranges::max_element(row) - row.begin())] = true;
  }
  return named;
}

// Returns batches of examples of similar lengths.
std::vector<std::vector<std::int64_t>> batches_of(const ExampleSource& examples,
                                                  std::int64_t batch_size) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(examples.size()));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::ranges::stable_sort(order, std::greater<>(), [&](std::int64_t row) {
    return examples.lengths[static_cast<std::size_t>(row)];
  });
  std::vector<std::vector<std::int64_t>> batches;
  for (std::size_t begin = 0; begin < order.size();) {
    const std::size_t end = std::min(order.size(), begin + static_cast<std::size_t>(batch_size));
    batches.emplace_back(order.begin() + static_cast<std::ptrdiff_t>(begin),
                         order.begin() + static_cast<std::ptrdiff_t>(end));
    begin = end;
  }
  return batches;
}

}  // namespace

const Fields& fields_of(const ExportCheckResult*) {
  using E = ExportCheckResult;
  static const Fields fields = describe<E>(
      "export_check", "Outputs of ONNX Runtime compared with those of hone, on the same batches.",
      field<&E::data>("data", "The data as it was named."),
      field<&E::split>("split", "The split of the data."),
      field<&E::examples>("examples", Unit::examples, "Compared; at most the first 2,000."),
      field<&E::split_examples>("split_examples", Unit::examples, "In the split."),
      field<&E::same_predictions>(
          "same_predictions", Unit::examples,
          "With the same predicted classes in both; null: the output has no classes."),
      field<&E::largest_difference>("largest_difference", "Between two numbers of the output."),
      field<&E::largest_value>("largest_value", "Largest magnitude in the output of hone."),
      field<&E::batch_size>("batch_size", Unit::examples, "Per batch."),
      field<&E::threads>("threads", "Threads used."),
      field<&E::onnx_runtime>("onnx_runtime", "Version of ONNX Runtime."),
      field<&E::hone_seconds>("hone_seconds", Unit::seconds, "Per example, in hone."),
      field<&E::onnx_runtime_seconds>("onnx_runtime_seconds", Unit::seconds,
                                      "Per example, in ONNX Runtime."));
  return fields;
}

ExportCheckResult check_export(const ExportCheck& check, const TextModel& source,
                               const Graph& graph, const TextLimit& limit, const fs::path& file,
                               const OnnxModel& onnx, const std::string& output,
                               const std::string& python, Context& context) {
  const ModelFacts& facts = source.model.facts;
  TextRows rows =
      read_text_rows(check.data, check.split, facts.scheme(), source.trained_on, context.pool);
  print_notes(context, rows.notes);
  print_warnings(context, rows.warnings);
  const auto in_split = static_cast<std::int64_t>(rows.rows.size());
  if (rows.rows.size() > kMostChecked) rows.rows.resize(kMostChecked);
  std::vector<Example> examples;
  for (const TextRow& row : rows.rows) examples.push_back(row.example());
  const EncodedSet set = encode_for(source, examples, limit, context);
  const ExampleSource encoded = text_examples(set);
  Predictor predictor(graph, source.model.parameters, context.session());
  std::vector<TensorMap> inputs;
  std::vector<std::vector<float>> expected;
  double hone_seconds = 0;
  for (const std::vector<std::int64_t>& batch : batches_of(encoded, check.batch_size)) {
    const NamedTensors all = encoded.batch(batch, 0);
    double fastest = std::numeric_limits<double>::infinity();
    for (int i = 0; i < kRepetitions; ++i) {
      const Clock::time_point start = Clock::now();
      std::vector<float> numbers = predictor.rows(all);
      fastest = std::min(fastest, std::chrono::duration<double>(Clock::now() - start).count());
      if (i == 0) expected.push_back(std::move(numbers));
    }
    hone_seconds += fastest;
    TensorMap& given = inputs.emplace_back();
    for (const OnnxValue& input : onnx.inputs) given.emplace(input.name, all.at(input.name));
    stop_if_interrupted();
  }
  const OnnxRuntimeRuns runs = run_in_onnx_runtime(
      python, file, inputs, {.threads = context.pool.threads(), .repetitions = kRepetitions});
  const auto width = static_cast<std::size_t>(predictor.width());
  const bool classes = output == "logits" && facts.task() != Task::regression;
  double largest = 0, apart = 0;
  std::int64_t same = 0;
  for (std::size_t run = 0; run < expected.size(); ++run) {
    const std::span<const float> got = runs.outputs[run].at(output).values<float>();
    const std::vector<float>& wanted = expected[run];
    HONE_ASSERT(got.size() == wanted.size(), "{} numbers instead of {}", got.size(), wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      largest = std::max(largest, std::fabs(static_cast<double>(wanted[i])));
      apart =
          std::max(apart, std::fabs(static_cast<double>(wanted[i]) - static_cast<double>(got[i])));
    }
    for (std::size_t begin = 0; classes && begin < wanted.size(); begin += width)
      same += named_classes(std::span(wanted).subspan(begin, width), facts.task()) ==
              named_classes(got.subspan(begin, width), facts.task());
  }
  const auto count = static_cast<double>(set.size());
  ExportCheckResult result{
      .data = check.data.source,
      .split = rows.split,
      .examples = set.size(),
      .split_examples = in_split,
      .largest_difference = apart,
      .largest_value = largest,
      .batch_size = check.batch_size,
      .threads = context.pool.threads(),
      .onnx_runtime = runs.version,
      .hone_seconds = hone_seconds / count,
      .onnx_runtime_seconds =
          std::accumulate(runs.seconds.begin(), runs.seconds.end(), 0.0) / count};
  if (classes) result.same_predictions = same;
  return result;
}

std::string ExportCheckResult::examples_text() const {
  return examples == split_examples ? fmt::format("{} examples", grouped(examples))
                                    : fmt::format("the first {} of {} examples", grouped(examples),
                                                  grouped(split_examples));
}

std::string ExportCheckResult::summary() const {
  std::string text =
      fmt::format("Checked on {} of {} in ONNX Runtime {}", examples_text(), data, onnx_runtime);
  if (same_predictions)
    text += fmt::format(": {} predictions are the same", grouped(*same_predictions));
  return text + fmt::format(
                    ". Largest difference: {:.3g} (largest value: {:.3g}). Time per example, batch "
                    "size {}, {} threads: {:.3g} ms in ONNX Runtime, {:.3g} ms in hone.",
                    largest_difference, largest_value, batch_size, threads,
                    1e3 * onnx_runtime_seconds, 1e3 * hone_seconds);
}

}  // namespace hone
