#include "hone/jobs/bench_work.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "hone/analysis/cost.h"
#include "hone/base/random.h"
#include "hone/jobs/compress.h"
#include "hone/jobs/job_options.h"
#include "hone/jobs/native/native_copy.h"
#include "hone/jobs/paired_times.h"
#include "hone/models/adapter.h"
#include "hone/models/text_limit.h"
#include "hone/passes/lora.h"
#include "hone/runtime/run_passes.h"
#include "hone/tensor/safetensors.h"
#include "hone/train/calibration.h"
#include "hone/train/memory_check.h"
#include "hone/train/remove_padding.h"
#include "hone/train/text_examples.h"

namespace hone {
namespace {

// Makes the graph a training step; returns the layout of its inputs if they have no padding.
std::optional<TextLayout> prepare_training(Graph& graph, const ExecutionMode& mode,
                                           const Session& session, std::vector<StageTime>& stages) {
  std::optional<TextLayout> layout;
  stages.push_back({"passes", run_ms([&] {
                      if (mode.fusing == Fusing::all)
                        layout = prepare_for_gradients(graph, session);
                    })});
  stages.push_back({"gradients", run_ms([&] {
                      if (mode.fusing == Fusing::all)
                        add_training_step(graph, {}, session);
                      else
                        add_training_step(graph, {}, mode.fusing);
                    })});
  return layout;
}

void prepare_passes(Graph& graph, ParameterStore& parameters, const ExecutionMode& mode,
                    const Session& session) {
  if (mode.fusing == Fusing::all) {
    fuse_for_inference(graph, parameters, session);
  } else {
    run_passes(graph, parameters, session, {"remove_dropout", "remove_dead_code"});
  }
}

// Returns the first `count` texts as inputs on the device.
NamedTensors inputs_of(const EncodedSet& texts, std::int64_t count,
                       const std::optional<TextLayout>& layout, Device& device) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(count));
  std::iota(rows.begin(), rows.end(), 0);
  NamedTensors inputs = text_examples(texts).batch(rows, 0);
  if (layout) inputs = without_padding(std::move(inputs), *layout);
  inputs["learning_rate"] = Tensor::scalar(5e-5f);
  // Timed runs do not copy inputs to another device.
  for (auto& [name, tensor] : inputs) tensor = tensor.on(device);
  return inputs;
}

void run_on(NamedTensors& inputs, BenchWork& work, Executable& executable, Device& device) {
  ++work.step;
  inputs["step"] = Tensor::scalar(work.step);
  inputs["random_key"] = Tensor::scalar(work.step);
  executable.run(inputs, work.parameters);
  device.wait();
}

}  // namespace

std::int64_t bench_batch(const BenchOptions& options) {
  if (options.batch > 0) return options.batch;
  // Profiles set `records`.
  return options.train || options.lora || options.records ? kRunBatch : kLatencyBatch;
}

EncodedSet random_examples(const Model& model, std::int64_t count, std::int64_t tokens) {
  const Task task = model.facts.task();
  EncodedSet set{.ids = {},
                 .labels = {},
                 .task = task,
                 .target_width = task == Task::single_label ? 0 : model.facts.class_count()};
  RandomSequence random(0, stream_of("bench"));
  const auto choose = [&](std::int64_t below) {
    return static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(below)));
  };
  const InputLimits& limits = model.facts.limits;
  if (limits.image) {
    auto images = std::make_shared<ImageSet>(ImageSet{.size = *limits.image});
    images->values.resize(static_cast<std::size_t>(count * limits.image->values()));
    for (float& value : images->values) value = static_cast<float>(random.normal());
    set.images = std::move(images);
  }
  for (std::int64_t row = 0; row < count; ++row) {
    std::vector<std::int32_t> ids;
    for (std::int64_t token = 0; token < tokens; ++token)
      ids.push_back(limits.image ? static_cast<std::int32_t>(row) : choose(limits.vocabulary));
    set.ids.push_back(std::move(ids));
    set.labels.push_back(choose(model.facts.class_count()));
    for (std::int64_t i = 0; i < set.target_width; ++i)
      set.targets.push_back(static_cast<float>(choose(2)));
  }
  return set;
}

Model model_to_time(Model model, const std::string& name, BenchOptions& options, Context& context) {
  if (options.batch == 0) options.batch = kRunBatch;
  options.tokens = tokens_of_run(options.tokens, model.facts.limits);
  if (options.native) model = native_copy(model, name, *std::exchange(options.native, {}), context);
  if (const auto lora = std::exchange(options.lora, {})) {
    const LoraOptions asked = with_context("`lora`", [&] {
      return adapter_options(*lora, LoraOptions().seed, model, context.library);
    });
    insert_adapters(model, asked, context.session());
    options.train = true;
  }
  if (options.train && adapters(model.graph).empty()) check_not_packed(model, name);
  if (options.format) check_unquantized(model, name);
  if (is_new_model(name) && !options.train && context.session().device.host_accessible())
    with_context(
        fmt::format("fresh weights are timed from a file in {} (TMPDIR)",
                    fs::temp_directory_path().string()),
        [&] { model.parameters = ParameterStore(in_unlinked_file(model.parameters.tensors())); });
  return model;
}

void BenchWork::run(Executable& executable, Device& device) {
  run_on(inputs, *this, executable, device);
}

void BenchWork::pack_weights(Executable& executable, Device& device) {
  for (int i = 0; i < kPackingRuns; ++i) run_on(first_examples, *this, executable, device);
}

std::unique_ptr<Executable> BenchWork::executable(const ExecutionMode& mode,
                                                  const Session& session) const {
  return mode.executor(graph, session);
}

double training_flops(const Graph& graph, const Bindings& bindings) {
  Graph step = graph;
  const bool trains = std::ranges::any_of(step.of_kind(NodeKind::parameter),
                                          [](const Node* node) { return node->trainable(); });
  if (trains) add_training_step(step, {}, Fusing::none);
  return product_flops(step, bindings);
}

BenchWork bench_work(const Model& model, ParameterStore parameters, const BenchOptions& options,
                     const ExecutionMode& mode, const Session& session) {
  BenchWork work{.graph = options.train ? model.graph : forward_graph(model),
                 .parameters = std::move(parameters)};
  if (options.format) {
    run_as_pass(work.graph, session, kQuantizer, [&] {
      return quantize(work.graph, uniform_plan(work.graph, LayerFormats::reads(*options.format)));
    });
  }
  work.parameters = std::move(work.parameters).on(session.device);
  work.bindings = {
      {'B', options.batch}, {'S', options.tokens}, {'T', options.batch * options.tokens}};
  work.flops = options.train ? training_flops(work.graph, work.bindings)
                             : product_flops(work.graph, work.bindings);
  const Graph calibrated = work.graph;
  std::optional<TextLayout> layout;
  if (options.train) {
    layout = prepare_training(work.graph, mode, session, work.stages);
  } else {
    work.stages.push_back(
        {"passes", run_ms([&] { prepare_passes(work.graph, work.parameters, mode, session); })});
  }
  check_memory(work.graph, work.bindings, session, work.parameters,
               fmt::format("a {} of {}", options.train ? "training step" : "run",
                           run_size_text(options.batch, options.tokens, model.facts.limits)));
  const EncodedSet texts = random_examples(model, options.batch, options.tokens);
  if (options.format)
    calibrate(calibrated, work.parameters, text_examples(texts), {options.batch, 1}, session);
  if (options.train) {
    work.stages.push_back(
        {"optimizer", run_ms([&] { add_optimizer_state(work.graph, work.parameters); })});
  } else if (mode.fusing == Fusing::all) {
    work.stages.push_back(
        {"constants", run_ms([&] { compute_once(work.graph, work.parameters, session); })});
  }
  work.inputs = inputs_of(texts, options.batch, layout, session.device);
  const std::int64_t first = options.train ? std::min<std::int64_t>(2, options.batch) : 1;
  work.first_examples = inputs_of(texts, first, layout, session.device);
  return work;
}

Options options_of(const BenchOptions*) {
  return {option<&BenchOptions::batch>(
              "batch_size", fmt::format("batch size; by default {}, or {} if bench times inference",
                                        kRunBatch, kLatencyBatch))
              .from(1),
          run_tokens_option<&BenchOptions::tokens>(),
          option<&BenchOptions::train>("train", "time a training step (dropout, AdamW)")};
}

}  // namespace hone
