#include <cmath>
#include <numeric>

#include "hone/autodiff/gradients.h"
#include "hone/cuda/captured.h"
#include "hone/frontends/huggingface/resnet.h"
#include "hone/jobs/compress.h"
#include "hone/jobs/native/native_copy.h"
#include "hone/models/transform.h"
#include "hone/passes/pack.h"
#include "hone/passes/use_batch_statistics.h"
#include "hone/runtime/run_passes.h"
#include "hone/study/measure.h"
#include "hone/train/memory_check.h"
#include "hone/train/remove_padding.h"
#include "hone/train/text_examples.h"
#include "hone/train/trainer.h"
#include "hone/train/training_graph.h"
#include "tests/cuda/gpu.h"
#include "tests/support/tiny_jobs.h"

// Compares whole models on a GPU with the CPU.
namespace hone::testing {
namespace {

// Both sides compute in fp32, with sums in different orders through a few layers.
constexpr double kLogits = 1e-4;
constexpr double kLoss = 1e-3;  // over 200 steps, in which differences grow

class CudaModels : public OnGpu {
 protected:
  static Session on_gpu(ThreadPool& pool) {
    return {.library = library(),
            .pool = pool,
            .device = gpu(),
            .executor = cuda::captured,
            .token_steps = cuda::kCapturedTokenSteps};
  }
  static Session on_host(ThreadPool& pool) { return {builtin(), pool}; }

  static Context& gpu_context() {
    static Context context(1, true, {}, {}, {}, [](Context& made) {
      made.library = library();
      made.device = &gpu();
      made.executor = cuda::captured;
      made.token_steps = cuda::kCapturedTokenSteps;
    });
    return context;
  }
};

std::vector<double> losses(const Graph& graph, const Model& model, const Session& session,
                           std::int64_t steps, const EncodedSet& examples = tiny_texts(96)) {
  std::vector<double> all;
  ParameterStore parameters = model.parameters;
  const TrainingOptions options{
      .optimizer = {.learning_rate = 1e-3}, .max_steps = steps, .batch_size = 12};
  train(graph, parameters, text_examples(examples), options, session,
        {.on_step = [&](const StepRecord& record) { all.push_back(record.loss); }});
  return all;
}

/// Two stages of `depth` layers each, with a shortcut of stride 2.
Model tiny_resnet(int depth = 1) {
  const Json config = {{"model_type", "resnet"},
                       {"image_size", 16},
                       {"embedding_size", 6},
                       {"hidden_sizes", {6, 10}},
                       {"depths", {depth, depth}},
                       {"layer_type", "basic"},
                       {"id2label", {{"0", "dark"}, {"1", "light"}}}};
  return new_model(facts_of(resnet(), config, "config.json"), builtin().ops, /*seed=*/5);
}

/// Noise, darker or lighter by its class.
EncodedSet tiny_images(std::int64_t count) {
  RandomSequence random(1, stream_of("tiny images"));
  ImageSet images{.size = {3, 16, 16}};
  EncodedSet set;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto label = static_cast<std::int32_t>(random.below(2));
    set.ids.push_back({static_cast<std::int32_t>(i)});
    set.labels.push_back(label);
    for (std::int64_t k = 0; k < images.size.values(); ++k)
      images.values.push_back(static_cast<float>(random.normal()) + (label == 0 ? -0.5f : 0.5f));
  }
  set.images = std::make_shared<const ImageSet>(std::move(images));
  return set;
}

NamedTensors first_examples(const EncodedSet& examples, std::int64_t count) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(count));
  std::iota(rows.begin(), rows.end(), 0);
  return text_examples(examples).batch(rows, 0);
}

/// Makes the gradients of all trainable parameters outputs.
void output_gradients(Graph& graph) {
  std::vector<Value> trainable;
  for (Node* parameter : graph.of_kind(NodeKind::parameter))
    if (parameter->trainable()) trainable.push_back({parameter, 0});
  const std::vector<Value> gradients = add_gradients(graph, graph.output("loss"), trainable);
  for (std::size_t i = 0; i < trainable.size(); ++i)
    if (gradients[i]) graph.set_output("d " + trainable[i].node->name(), gradients[i]);
}

// Returns the outputs, and the parameters after the run.
NamedTensors results(const Graph& graph, const NamedTensors& inputs, const ParameterStore& before,
                     const Session& session) {
  ParameterStore parameters = before.on(session.device);
  NamedTensors all = session.executable(graph)->run(inputs, parameters);
  for (const auto& [name, tensor] : parameters.tensors()) all.emplace(name, tensor);
  return all;
}

void expect_near(const NamedTensors& got, const NamedTensors& expected, double allowed) {
  for (const auto& [name, tensor] : expected) {
    const std::vector<float> a = floats_of(got.at(name)), b = floats_of(tensor);
    double largest = 0;
    for (const float value : b) largest = std::max(largest, std::fabs(static_cast<double>(value)));
    for (std::size_t i = 0; i < a.size(); ++i)
      ASSERT_NEAR(a[i], b[i], allowed * std::max(largest, 1e-3)) << name << " element " << i;
  }
}

void expect_near(const std::vector<double>& got, const std::vector<double>& expected,
                 double allowed) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(got[i], expected[i], allowed * std::max(1.0, std::fabs(expected[i])))
        << "step " << i;
}

TEST_F(CudaModels, FollowTheProcessorsLossFor200Steps) {
  ThreadPool pool(1);
  const Model model = tiny_model();
  const std::vector<double> expected = losses(model.graph, model, on_host(pool), 200);
  ASSERT_LT(expected.back(), expected.front() / 2);
  expect_near(losses(model.graph, model, on_gpu(pool), 200), expected, kLoss);
}

TEST_F(CudaModels, TrainToTheSameBitsEveryTime) {
  ThreadPool pool(1);
  const Model model = tiny_model();
  EXPECT_EQ(losses(model.graph, model, on_gpu(pool), 20),
            losses(model.graph, model, on_gpu(pool), 20));
}

// With two or three values, the last bit of a sum can flip a sign, which changes results a lot. For these formats, the
// GPU's runs are compared with each other.
bool jumps(const std::string& format) {
  return format.starts_with("binary") || format.starts_with("ternary");
}

Model rounded(const std::string& format) {
  CompressOptions options;
  options.calibration = {.batch_size = 8, .batch_count = 2};
  options.plan = plan_with_format(tiny_model(), format_called(format));
  return compress(tiny_model(), tiny_splits(), options, quiet_context());
}

TEST_F(CudaModels, TrainThroughQuantizersAsTheProcessorDoes) {
  ThreadPool pool(1);
  for (const auto& [name, def] : builtin().formats) {
    const Model model = rounded(name);
    const auto steps = [&](const Session& session) {
      return losses(model.graph, model, session, 4);
    };
    const std::vector<double> got = steps(on_gpu(pool)),
                              expected = steps(jumps(name) ? on_gpu(pool) : on_host(pool));
    for (std::size_t i = 0; i < expected.size(); ++i)
      EXPECT_NEAR(got[i], expected[i], jumps(name) ? 0 : 2e-2) << name << " step " << i;
  }
}

TEST_F(CudaModels, GiveTheProcessorsLogits) {
  std::vector<std::string> formats = {""};
  for (const auto& [name, def] : builtin().formats) formats.push_back(name);
  for (const std::string& format : formats) {
    const Model model = format.empty() ? tiny_model() : rounded(format);
    const auto logits = [&](Context& context) {
      return measure(model, tiny_splits().test, 8, context, "measure").logits;
    };
    const std::vector<float> got = logits(gpu_context()),
                             expected = logits(jumps(format) ? gpu_context() : quiet_context());
    ASSERT_EQ(got.size(), expected.size());
    // A value near the midpoint of two values of a format may be rounded to either, since sums differ in the last bit.
    const double allowed = format.empty() ? kLogits : jumps(format) ? 0 : 0.05;
    for (std::size_t i = 0; i < got.size(); ++i)
      EXPECT_NEAR(got[i], expected[i], allowed) << format << " logit " << i;
  }
}

// The host decodes the codes that no GPU kernel decodes, such as those of more than 8 bits.
TEST_F(CudaModels, GiveTheProcessorsLogitsOfPackedModels) {
  for (const char* format : {"integer(width=16,frac=8)", "integer(width=8,frac=4)", "log", "nf4",
                             "minifloat_ieee", "block_fp", "binary_residual_sign"}) {
    Model model = rounded(format);
    transform(model, "pack", quiet_context().session());
    ASSERT_TRUE(has_packed_weights(model.graph)) << format;
    const auto logits = [&](Context& context) {
      return measure(model, tiny_splits().test, 8, context, "measure").logits;
    };
    const std::vector<float> got = logits(gpu_context()),
                             expected = logits(jumps(format) ? gpu_context() : quiet_context());
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); ++i)
      EXPECT_NEAR(got[i], expected[i], 0.05) << format << " logit " << i;
  }
}

// Inputs are rounded to bytes, and their sums of 32 bits are exact. Other sums differ, which may change an input's
// code.
TEST_F(CudaModels, GiveTheProcessorsLogitsOfNativeModels) {
  for (const char* format : {"int(bits=8,per=row)", "int(bits=4,per=row)", "ternary",
                             "mxint(bits=8)", "int(bits=4,group=32)"}) {
    const Model model =
        native_copy(tiny_model(), "tiny", parse_format(format, builtin().formats), quiet_context());
    EXPECT_EQ(arithmetic_of_run(forward_graph(model), gpu_context().session()), kNative);
    const auto logits = [&](Context& context) {
      return measure(model, tiny_splits().test, 8, context, "measure").logits;
    };
    const std::vector<float> got = logits(gpu_context()), expected = logits(quiet_context());
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); ++i)
      EXPECT_NEAR(got[i], expected[i], 0.02) << format << " logit " << i;
  }
}

// Between native products, values are rounded to bfloat16 on the GPU only. Layer norms compute the codes that products
// read.
TEST_F(CudaModels, GiveTheProcessorsLogitsOfNativeModelsInBfloat16) {
  ThreadPool pool(1);
  const Model model =
      native_copy(tiny_model(), "tiny", parse_format("int(bits=8,per=row)", builtin().formats),
                  quiet_context());
  std::vector<std::int64_t> rows(9);
  std::iota(rows.begin(), rows.end(), 0);
  const NamedTensors batch = text_examples(tiny_texts(9)).batch(rows, 0);
  const auto logits = [&](Session session, DType values) {
    session.values = values;
    Graph graph = forward_graph(model);
    ParameterStore parameters = model.parameters.on(session.device);
    prepare_for_inference(graph, parameters, session);
    const bool on_gpu = !session.device.host_accessible();
    EXPECT_NE(graph.operations("layer_norm_codes").empty(), on_gpu);
    for (const Node* product : graph.operations("native_linear"))
      EXPECT_EQ(product->types()[0].dtype, on_gpu ? values : DType::f32);
    return floats_of(session.executable(graph)->run(batch, parameters).at("logits"));
  };
  const std::vector<float> expected = logits(on_host(pool), DType::f32);
  const std::vector<float> got = logits(on_gpu(pool), DType::f32),
                           halves = logits(on_gpu(pool), DType::bf16);
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_NEAR(got[i], expected[i], 0.02) << i;
    EXPECT_NEAR(halves[i], expected[i], 0.05) << i;
  }
}

// Loss, logits and the gradients of all parameters: of the plain graph, and of the graph prepared for gradients, with
// fused attention and texts stored back to back, without or with tokens of no text at the end.
TEST_F(CudaModels, GiveTheProcessorsGradients) {
  ThreadPool pool(1);
  const Model model = tiny_model();
  NamedTensors batch = first_examples(tiny_texts(9), 9);
  batch["random_key"] = Tensor::scalar<std::int64_t>(77);
  for (const std::int64_t token_step : {0, 1, 64}) {
    Graph graph = model.graph;
    NamedTensors inputs = batch;
    if (token_step > 0)
      if (const auto layout = prepare_for_gradients(graph, token_step))
        inputs = without_padding(std::move(inputs), *layout);
    output_gradients(graph);
    expect_near(results(graph, inputs, model.parameters, on_gpu(pool)),
                results(graph, inputs, model.parameters, on_host(pool)), kLogits);
  }
}

// The same graph in mixed precision, which the CPU runs with the references. Both round values at the same places, to 8
// bits, but their sums differ in the last bit.
TEST_F(CudaModels, GiveTheProcessorsLogitsInBfloat16) {
  ThreadPool pool(1);
  const Model model = tiny_model();
  const NamedTensors batch = first_examples(tiny_texts(9), 9);
  const auto logits = [&](Session session) {
    session.values = DType::bf16;
    Graph graph = forward_graph(model);
    ParameterStore parameters = model.parameters.on(session.device);
    prepare_for_inference(graph, parameters, session);
    EXPECT_FALSE(graph.operations("cast").empty());
    return floats_of(session.executable(graph)->run(batch, parameters).at("logits"));
  };
  const std::vector<float> got = logits(on_gpu(pool)), expected = logits(on_host(pool));
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], 0.03) << i;
}

TEST_F(CudaModels, LearnInBfloat16) {
  ThreadPool pool(1);
  const Model model = tiny_model();
  Session session = on_gpu(pool);
  session.values = DType::bf16;
  const std::vector<double> in_halves = losses(model.graph, model, session, 200);
  EXPECT_LT(in_halves.back(), in_halves.front() / 2);
  EXPECT_EQ(losses(model.graph, model, session, 200), in_halves);
}

// The estimate that commands check against free memory before they load the model.
TEST_F(CudaModels, TakeTheEstimatedMemory) {
  ThreadPool pool(1);
  Session session = on_gpu(pool);
  session.executor = interpreted;
  // The inputs and the peak of a training step or of inference beyond what the GPU held before.
  const auto expect_estimate = [&](const Model& model, const EncodedSet& examples, bool trains) {
    NamedTensors inputs = first_examples(examples, examples.size());
    Bindings bindings{{'B', examples.size()}, {'S', longest_text(examples)}};
    Graph graph = trains ? model.graph : forward_graph(model);
    const std::size_t before = gpu().held_bytes();
    ParameterStore parameters = model.parameters;
    if (trains) {
      if (const auto layout = prepare_for_gradients(graph, session, 1)) {
        inputs = without_padding(std::move(inputs), *layout);
        bindings['T'] = inputs.at("places").size(1);
      }
      add_training_step(graph, {}, session);
      add_optimizer_state(graph, parameters);
      inputs["learning_rate"] = Tensor::scalar(1e-3f);
      inputs["step"] = inputs["random_key"] = Tensor::scalar<std::int64_t>(1);
      parameters = parameters.on(gpu());
    } else {
      parameters = parameters.on(gpu());
      prepare_for_inference(graph, parameters, session);
    }
    const double estimate = needed_bytes(graph, bindings, session);
    gpu().reset_peak_held();
    session.executable(graph)->run(inputs, parameters);
    double taken = static_cast<double>(gpu().peak_held_bytes() - before);
    for (const auto& [name, tensor] : inputs) taken -= static_cast<double>(tensor.size_bytes());
    EXPECT_LT(taken, 1.1 * estimate) << trains;
    EXPECT_GT(taken, 0.9 * estimate) << trains;
  };
  // The first product allocates the workspace of cuBLASLt, once.
  measure(tiny_model(), tiny_texts(4), 4, gpu_context(), "warm-up");
  for (const bool trains : {true, false}) {
    expect_estimate(tiny_model(), tiny_texts(96), trains);
    // Deep enough that a dense copy of a strided operand, which is not in the estimate, is small beside it.
    expect_estimate(tiny_resnet(4), tiny_images(96), trains);
  }
}

// ---- images

TEST_F(CudaModels, GiveTheProcessorsLogitsOfImages) {
  const auto logits = [&](Context& context) {
    return measure(tiny_resnet(), tiny_images(12), 4, context, "measure").logits;
  };
  const std::vector<float> got = logits(gpu_context()), expected = logits(quiet_context());
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], kLogits) << i;
}

// With the statistics of the batch, which also update the running ones.
TEST_F(CudaModels, GiveTheProcessorsGradientsOfImages) {
  ThreadPool pool(1);
  const Model model = tiny_resnet();
  Graph graph = model.graph;
  use_batch_statistics(graph);
  output_gradients(graph);
  const NamedTensors batch = first_examples(tiny_images(5), 5);
  expect_near(results(graph, batch, model.parameters, on_gpu(pool)),
              results(graph, batch, model.parameters, on_host(pool)), kLogits);
}

TEST_F(CudaModels, GiveTheProcessorsLossesOfImages) {
  ThreadPool pool(1);
  const Model model = tiny_resnet();
  const auto steps = [&](const Session& session) {
    return losses(model.graph, model, session, 6, tiny_images(24));
  };
  expect_near(steps(on_gpu(pool)), steps(on_host(pool)), kLoss);
}

// The same graph in mixed precision on both. On the CPU, the references compute its convolutions.
TEST_F(CudaModels, GiveTheProcessorsLogitsOfImagesInBfloat16) {
  ThreadPool pool(1);
  const Model model = tiny_resnet();
  Session session = on_gpu(pool);
  session.values = DType::bf16;
  Graph graph = forward_graph(model);
  ParameterStore parameters = model.parameters.on(gpu());
  prepare_for_inference(graph, parameters, session);
  for (const Node* convolution : graph.operations("fused_conv2d"))
    EXPECT_EQ(convolution->types()[0].dtype, DType::bf16);
  const NamedTensors batch = first_examples(tiny_images(5), 5);
  const auto logits = [&](const Session& one) {
    return floats_of(results(graph, batch, parameters, one).at("logits"));
  };
  const std::vector<float> got = logits(session), expected = logits(on_host(pool));
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], 0.03) << i;
}

TEST_F(CudaModels, LearnImagesInBfloat16) {
  ThreadPool pool(1);
  const Model model = tiny_resnet();
  Session session = on_gpu(pool);
  session.values = DType::bf16;
  const auto steps = [&] { return losses(model.graph, model, session, 60, tiny_images(96)); };
  const std::vector<double> in_halves = steps();
  EXPECT_LT(in_halves.back(), in_halves.front() / 2);
  EXPECT_EQ(steps(), in_halves);
}

}  // namespace
}  // namespace hone::testing
