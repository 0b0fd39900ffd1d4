#include "hone/train/predictor.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "hone/base/interrupt.h"
#include "hone/data/row_order.h"
#include "hone/runtime/run_passes.h"
#include "hone/tensor/dense.h"

namespace hone {
namespace {

Graph inference_graph(Graph graph, ParameterStore& parameters, const Session& session) {
  HONE_ASSERT(graph.outputs().size() == 1, "a graph with {} outputs", graph.outputs().size());
  prepare_for_inference(graph, parameters, session);
  return graph;
}

// The only inference operation that depends on extra padding is a format that rounds a tensor by all its values.
bool treats_texts_independently(const Graph& graph) {
  return std::ranges::none_of(graph.operations("quantize"), [](const Node* node) {
    return node->inputs()[0].node->kind() == NodeKind::operation && node->trait() == Trait::other;
  });
}

}  // namespace

struct Predictor::State {
  ParameterStore parameters;
  Graph graph;
  std::unique_ptr<Executable> executable;
  std::int64_t token_step;  // lengths of batches are multiples of this

  State(Graph source, const ParameterStore& store, const Session& session)
      : parameters(store.on(session.device)),
        graph(inference_graph(std::move(source), parameters, session)),
        executable(session.executable(graph)),
        token_step(treats_texts_independently(graph) ? session.token_steps.text : 1) {}

  // Waits for the device.
  std::vector<float> rows_of(const NamedTensors& outputs) const {
    const Tensor rows = dense_on(outputs.at(graph.outputs()[0].first), cpu());
    const std::span<const float> values = rows.values<float>();
    return {values.begin(), values.end()};
  }
};

Predictor::Predictor(Graph graph, const ParameterStore& parameters, const Session& session)
    : state_(std::make_unique<State>(std::move(graph), parameters, session)) {}
Predictor::~Predictor() = default;
Predictor::Predictor(Predictor&&) noexcept = default;

const Graph& Predictor::graph() const { return state_->graph; }

const ParameterStore& Predictor::parameters() const { return state_->parameters; }

std::int64_t Predictor::width() const { return graph().outputs()[0].second.type().dim(-1).size; }

std::vector<float> Predictor::rows(const NamedTensors& batch) {
  return state_->rows_of(state_->executable->run(batch, state_->parameters));
}

std::vector<float> Predictor::rows(const ExampleSource& data, std::int64_t batch_size,
                                   const std::function<void(std::int64_t)>& on_progress) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(data.size()));
  std::iota(order.begin(), order.end(), 0);
  const auto length = [&](std::int64_t row) { return data.lengths[static_cast<std::size_t>(row)]; };
  // The longest come first, so that the others reuse their memory.
  std::ranges::stable_sort(order,
                           [&](std::int64_t a, std::int64_t b) { return length(a) > length(b); });
  const auto width = static_cast<std::size_t>(this->width());
  std::vector<float> all(order.size() * width);
  const auto inputs_of = [&](std::span<const std::int64_t> batch) {
    // Never exceed the longest text, whose positions are known to exist.
    return data.batch(
        batch, std::min(length(order[0]), whole_steps(length(batch[0]), state_->token_step)));
  };
  const std::vector<std::span<const std::int64_t>> all_batches = batches(order, batch_size);
  NamedTensors next = all_batches.empty() ? NamedTensors{} : inputs_of(all_batches[0]);
  std::int64_t done = 0;
  for (std::size_t number = 0; number < all_batches.size(); ++number) {
    const std::span<const std::int64_t> batch = all_batches[number];
    const NamedTensors outputs =
        state_->executable->run(std::exchange(next, {}), state_->parameters);
    // While a GPU still computes, the host prepares the next batch.
    if (number + 1 < all_batches.size()) next = inputs_of(all_batches[number + 1]);
    const std::vector<float> some = state_->rows_of(outputs);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      std::copy_n(
          some.begin() + static_cast<std::ptrdiff_t>(i * width), width,
          all.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(batch[i]) * width));
    }
    done += static_cast<std::int64_t>(batch.size());
    if (on_progress) on_progress(done);
    stop_if_interrupted();
  }
  return all;
}

}  // namespace hone
