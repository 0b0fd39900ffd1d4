#include "hone/jobs/bench.h"

#include <algorithm>
#include <chrono>

#include "hone/analysis/cost.h"
#include "hone/base/interrupt.h"
#include "hone/base/random.h"
#include "hone/jobs/compress.h"
#include "hone/kernels/peak.h"
#include "hone/passes/quantize.h"
#include "hone/train/calibration.h"
#include "hone/train/memory_check.h"
#include "hone/train/text_examples.h"
#include "hone/train/training_graph.h"

namespace hone {
namespace {

EncodedSet random_texts(const Model& model, const BenchOptions& options) {
  EncodedSet set;
  RandomSequence random(0, stream_of("bench"));
  const auto choose = [&](std::int64_t below) {
    return static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(below)));
  };
  for (std::int64_t row = 0; row < options.batch; ++row) {
    std::vector<std::int32_t> ids;
    for (std::int64_t token = 0; token < options.tokens; ++token)
      ids.push_back(choose(model.facts.limits.vocabulary));
    set.ids.push_back(std::move(ids));
    set.labels.push_back(choose(model.facts.class_count()));
  }
  return set;
}

double run_ms(Executable& executable, Device& device, NamedTensors& inputs,
              ParameterStore& parameters, std::int64_t number) {
  inputs["step"] = Tensor::scalar(number);
  inputs["random_key"] = Tensor::scalar(number);
  const auto start = std::chrono::steady_clock::now();
  executable.run(inputs, parameters);
  device.wait();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

std::string format_of(const Model& model, const BenchOptions& options) {
  if (options.format) return to_string(*options.format);
  return model.quantization ? summary(model.quantization->plan) : "";
}

// "hone interpreter inference, simulated mxint(bits=8), my-model 8x128"
std::string describe(const BenchResult& result, const std::string& name,
                     const BenchOptions& options) {
  return fmt::format("hone interpreter {}, {}{}{}, {} {}x{}",
                     options.train ? "training step" : "inference", result.arithmetic(),
                     result.format.empty() ? "" : " ", result.format, name, options.batch,
                     options.tokens);
}

}  // namespace

BenchResult bench(const Model& model, const std::string& name, const BenchOptions& options,
                  Context& context) {
  user_check(options.tokens <= model.facts.limits.tokens,
             "`tokens`: the model has {} positions, got {}", model.facts.limits.tokens,
             options.tokens);
  if (options.format) check_unquantized(model);
  Graph graph = options.train ? model.graph : forward_graph(model);
  const Session session = context.session();
  check_memory(graph, {{'B', options.batch}, {'S', options.tokens}}, session,
               fmt::format("a run of {} texts of {} tokens", options.batch, options.tokens));
  ParameterStore parameters = model.parameters.on(session.device);
  const EncodedSet texts = random_texts(model, options);
  if (options.format) {
    run_as_pass(graph, session, "quantize", [&] {
      return quantize(graph, uniform_plan(graph, LayerFormats::reads(*options.format)));
    });
    calibrate(graph, parameters, text_examples(texts), {options.batch, 1}, session);
  }
  if (options.train) {
    add_training_step(graph, {});
    add_optimizer_state(graph, parameters);
  } else {
    run_passes(graph, parameters, session,
               {"remove_dropout", "remove_dead_code", "fold_parameters"});
  }
  std::vector<std::int64_t> rows(static_cast<std::size_t>(options.batch));
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<std::int64_t>(i);
  NamedTensors inputs = text_examples(texts).batch(rows, 0);
  inputs["learning_rate"] = Tensor::scalar(5e-5f);

  BenchResult result;
  result.format = format_of(model, options);
  result.what = describe(result, name, options);
  result.gflop = cost(graph, {{'B', options.batch}, {'S', options.tokens}}).flops / 1e9;
  const double peak_before = kernels::measure_fma_gflops(context.pool);
  const std::unique_ptr<Executable> executable = session.executable(graph);
  result.first_ms = run_ms(*executable, session.device, inputs, parameters, 1);
  const double warm_ms = run_ms(*executable, session.device, inputs, parameters, 2);
  result.runs = options.runs > 0 ? options.runs : (warm_ms > 200 ? 12 : 60);
  executable->start_profile();
  std::vector<double> times;
  for (std::int64_t i = 0; i < result.runs; ++i) {
    times.push_back(run_ms(*executable, session.device, inputs, parameters, i + 3));
    stop_if_interrupted();
  }
  std::ranges::sort(times);
  result.min_ms = times.front();
  const std::size_t half = times.size() / 2;
  result.median_ms = times.size() % 2 == 1 ? times[half] : (times[half - 1] + times[half]) / 2;
  result.kernels = executable->profile();
  result.threads = context.pool.threads();
  result.peak = keep_highest(PeakKind::fp32_gflops, result.threads,
                             std::max(peak_before, kernels::measure_fma_gflops(context.pool)),
                             peaks_file(), result.notes);
  return result;
}

}  // namespace hone
