// Builds, trains, evaluates, quantizes, saves and reads back a classifier of points in the plane.
#include <cmath>

#include "hone/base/random.h"
#include "hone/frontends/huggingface/module_builder.h"
#include "hone/ir/initial_value.h"
#include "hone/ir/parse.h"
#include "hone/ir/print.h"
#include "hone/metrics/classification.h"
#include "hone/passes/keep_outputs.h"
#include "hone/runtime/run_passes.h"
#include "hone/tensor/safetensors.h"
#include "hone/train/calibration.h"
#include "hone/train/predictor.h"
#include "hone/train/trainer.h"

using namespace hone;

struct Points {
  std::vector<std::int32_t> labels;
  ExampleSource examples;  // x f32[n, 2], labels i64[n]
};

// Points around the origin; those at a distance of 0.7 to 1.5 from it are of class 1.
Points draw_points(std::int64_t count, std::string_view part) {
  RandomSequence random(/*seed=*/7, stream_of(part));
  std::vector<std::int32_t> labels;
  std::vector<float> x;
  for (std::int64_t i = 0; i < count; ++i) {
    const double a = random.normal(), b = random.normal(), distance = std::hypot(a, b);
    x.insert(x.end(), {static_cast<float>(a), static_cast<float>(b)});
    labels.push_back(distance > 0.7 && distance < 1.5 ? 1 : 0);
  }
  const Tensor classes = Tensor::of<std::int64_t>({count}, {labels.begin(), labels.end()});
  return {labels, vector_examples({{"x", Tensor::of<float>({count, 2}, x)}, {"labels", classes}})};
}

// Training needs the output `loss`; prediction needs a single output.
Graph two_layers(const OpTable& ops) {
  ModuleBuilder modules(ops);
  Graph& graph = modules.graph();
  const Dim batch = Dim::of_symbol('B');
  const Value x = graph.add_input("x", {DType::f32, {batch, 2}});
  const Value labels = graph.add_input("labels", {DType::i64, {batch}});
  const Value hidden = graph.add("relu", {modules.linear(x, "hidden", 32)});
  const Value logits = modules.linear(hidden, "classes", 2);
  graph.set_output("logits", logits);
  graph.set_output("loss", graph.add("cross_entropy", {logits, labels}));
  return graph;
}

int main() {
  const Library library = builtin_library();
  ThreadPool pool(available_processors());
  const Session session{library, pool};
  const Points training = draw_points(4000, "training"), test = draw_points(2000, "test");
  const auto report = [&](const char* what, Graph graph, const ParameterStore& parameters) {
    keep_outputs(graph, {"logits"});
    Predictor predictor(std::move(graph), parameters, session);
    const std::vector<float> logits = predictor.rows(test.examples, /*batch_size=*/256);
    const Evaluation e = evaluate({logits, predictor.width()}, test.labels);
    fmt::print("{}: {:.1f}% of {} points are right, 95% interval {:.1f} to {:.1f}\n", what,
               100 * e.accuracy, e.examples, 100 * e.accuracy_interval.low,
               100 * e.accuracy_interval.high);
  };
  Graph graph = two_layers(library.ops);
  ParameterStore parameters = initial_parameters(graph, /*seed=*/42);
  const TrainingOptions setup{.optimizer = {.learning_rate = 0.01}, .epochs = 20, .batch_size = 64};
  train(graph, parameters, training.examples, setup, session);
  report("trained", graph, parameters);

  run_passes(graph, parameters, session, {"quantize(format=int(bits=4))"});
  calibrate(graph, parameters, training.examples, /*run=*/{}, session);
  report("in 4 bits (simulated)", graph, parameters);
  write_safetensors("points.safetensors", parameters.tensors());
  write_file("points.hone", to_string(graph));
  const Graph read = parse_graph(read_file("points.hone"), library.ops, library.formats);
  const ParameterStore values(read_safetensors("points.safetensors").tensors);
  report("read back", read, values);
}
