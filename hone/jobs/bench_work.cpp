#include "hone/jobs/bench_work.h"

#include <utility>

#include "hone/base/random.h"
#include "hone/jobs/compress.h"
#include "hone/jobs/native/native_copy.h"
#include "hone/models/adapter.h"
#include "hone/passes/lora.h"
#include "hone/passes/quantize.h"
#include "hone/train/calibration.h"
#include "hone/train/memory_check.h"
#include "hone/train/remove_padding.h"
#include "hone/train/text_examples.h"
#include "hone/train/training_graph.h"

namespace hone {

Model bench_model(const std::string& source, const std::string& adapter, std::uint64_t seed,
                  Context& context) {
  // Unlike `train tiny`, with BERT's vocabulary: the embeddings are most of a small model's training
  // step.
  user_check(!is_fresh(source) || adapter.empty(),
             "`adapter`: {} has fresh weights, on which nothing was trained", source);
  return is_fresh(source) ? new_model(fresh_facts(source), context.library.ops, seed, &context.pool)
                          : open_with_adapter(source, adapter, context, seed).model;
}

EncodedSet random_texts(const Model& model, std::int64_t count, std::int64_t tokens) {
  const Task task = model.facts.task();
  EncodedSet set{.ids = {},
                 .labels = {},
                 .task = task,
                 .target_width = task == Task::single_label ? 0 : model.facts.class_count()};
  RandomSequence random(0, stream_of("bench"));
  const auto choose = [&](std::int64_t below) {
    return static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(below)));
  };
  for (std::int64_t row = 0; row < count; ++row) {
    std::vector<std::int32_t> ids;
    for (std::int64_t token = 0; token < tokens; ++token)
      ids.push_back(choose(model.facts.limits.vocabulary));
    set.ids.push_back(std::move(ids));
    set.labels.push_back(choose(model.facts.class_count()));
    for (std::int64_t i = 0; i < set.target_width; ++i)
      set.targets.push_back(static_cast<float>(choose(2)));
  }
  return set;
}

BenchWork bench_work(Model model, const std::string& name, const BenchOptions& options,
                     Context& context) {
  user_check(options.tokens <= model.facts.limits.tokens,
             "`tokens`: the model has {} positions, got {}", model.facts.limits.tokens,
             options.tokens);
  if (options.native) {
    BenchOptions rest = options;
    rest.native.reset();
    return bench_work(native_copy(model, name, *options.native, context), name, rest, context);
  }
  if (options.lora) {
    Model adapted = model;
    const LoraOptions lora = with_context("`lora`", [&] {
      return adapter_options(*options.lora, LoraOptions().seed, model, context.library);
    });
    insert_adapters(adapted, lora, context.session());
    BenchOptions rest = options;
    rest.lora.reset();
    rest.train = true;
    return bench_work(std::move(adapted), name, rest, context);
  }
  if (options.format) check_unquantized(model, name);
  const Session session = context.session();
  Graph graph = options.train ? model.graph : forward_graph(model);
  if (options.format) {
    run_as_pass(graph, session, kQuantizer, [&] {
      return quantize(graph, uniform_plan(graph, LayerFormats::reads(*options.format)));
    });
  }
  // Not kept twice: what is trained would be copied.
  ParameterStore parameters = std::exchange(model.parameters, {}).on(session.device);
  const Graph calibrated = graph;
  std::optional<TextLayout> layout;
  if (options.train) {
    layout = prepare_for_gradients(graph, session.values);
    add_training_step(graph, {});
  } else {
    fuse_for_inference(graph, parameters, session);
  }
  const Bindings bindings = {
      {'B', options.batch}, {'S', options.tokens}, {'T', options.batch * options.tokens}};
  check_memory(graph, bindings, session, parameters,
               fmt::format("a {} of {} texts of {} tokens", options.train ? "training step" : "run",
                           options.batch, options.tokens));
  const EncodedSet texts = random_texts(model, options.batch, options.tokens);
  if (options.format)
    calibrate(calibrated, parameters, text_examples(texts), {options.batch, 1}, session);
  if (options.train) {
    add_optimizer_state(graph, parameters);
  } else {
    compute_once(graph, parameters, session);
  }
  std::vector<std::int64_t> rows(static_cast<std::size_t>(options.batch));
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<std::int64_t>(i);
  NamedTensors inputs = text_examples(texts).batch(rows, 0);
  if (layout) inputs = without_padding(std::move(inputs), *layout);
  inputs["learning_rate"] = Tensor::scalar(5e-5f);
  for (auto& [input, tensor] : inputs) tensor = tensor.on(session.device);
  return {.model = std::move(model),
          .options = options,
          .graph = std::move(graph),
          .parameters = std::move(parameters),
          .inputs = std::move(inputs),
          .bindings = bindings};
}

void BenchWork::run(Executable& executable) {
  ++step;
  inputs["step"] = Tensor::scalar(step);
  inputs["random_key"] = Tensor::scalar(step);
  executable.run(inputs, parameters);
}

}  // namespace hone
