#include "hone/cuda/captured.h"

#include <algorithm>
#include <set>

#include "hone/cuda/launch.h"
#include "hone/runtime/interpreter.h"

namespace hone::cuda {
namespace {

// The first run allocates memory, the second prepares the kernels' operands.
constexpr int kRunsBefore = 2;
// At most this many sets of shapes: each holds its outputs and the driver's record of some hundred kernels.
constexpr std::size_t kMaxGraphs = 64;

/// Properties of a parameter that a captured run depends on: its address, and the version of its contents, which
/// kernels may have prepared.
struct ParameterState {
  const std::byte* address = nullptr;
  std::uint64_t version = 0;  // 0: the graph writes it
  bool operator==(const ParameterState&) const = default;
};

/// Runs of one set of shapes.
struct ShapeRuns {
  std::vector<Sizes> sizes;  // of the inputs
  std::vector<ParameterState> parameter_states;
  int runs = 0;
  bool refuses = false;
  GraphRunHandle graph = nullptr;
  std::vector<Tensor> inputs;  // that the graph reads
  NamedTensors outputs;        // that it writes, dense
};

class CapturedExecutable final : public Executable {
 public:
  CapturedExecutable(const Graph& graph, const Session& session)
      : graph_(graph),
        device_(device_of(session.device)),
        interpreter_(graph, session.library, session.pool, session.device) {
    for (const Node* node : graph.of_kind(NodeKind::operation))
      if (node->op().trait == Trait::update)
        for (const Value& input : node->inputs())
          if (input.node->kind() == NodeKind::parameter) updated_.insert(input.node);
    for (const Node* node : graph.of_kind(NodeKind::input))
      if (!node->users().empty() || graph.is_output(*node)) inputs_.push_back(node);
  }
  ~CapturedExecutable() override {
    try {
      forget_graphs();
    } catch (
        ...) {  // NOLINT(bugprone-empty-catch): what a GPU that is lost says is nobody's to hear
    }
  }
  CapturedExecutable(const CapturedExecutable&) = delete;
  CapturedExecutable& operator=(const CapturedExecutable&) = delete;

  void record(std::vector<OperationSpan>* spans) override {
    recorded_ = spans != nullptr;
    interpreter_.record(spans);
  }

  NamedTensors run(const NamedTensors& inputs, ParameterStore& parameters) override {
    ShapeRuns* const shape = recorded_ ? nullptr : shape_of(inputs, parameters);
    if (shape == nullptr) return interpret(inputs, parameters);
    if (shape->graph == nullptr && shape->runs >= kRunsBefore) capture(*shape, inputs, parameters);
    if (shape->graph == nullptr) {
      NamedTensors outputs = interpret(inputs, parameters);
      if (++shape->runs == kRunsBefore) shape->outputs = copies_of(outputs);
      return outputs;
    }
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      fill(shape->inputs[i], inputs.at(inputs_[i]->name()));
    check(driver().graph_launch(shape->graph, device_.stream()), "starting a captured run");
    return copies_of(shape->outputs);
  }

  std::size_t count() const {
    return static_cast<std::size_t>(std::ranges::count_if(
        shapes_, [](const ShapeRuns& shape) { return shape.graph != nullptr; }));
  }

 private:
  // Returns the runs with these shapes. Null if inputs or parameters are missing or unsuitable, which the interpreter
  // reports, or if there are too many sets of shapes.
  ShapeRuns* shape_of(const NamedTensors& inputs, ParameterStore& parameters) {
    std::vector<Sizes> sizes;
    for (const Node* input : inputs_) {
      const auto found = inputs.find(input->name());
      if (found == inputs.end() || found->second.dtype() != input->types()[0].dtype ||
          !found->second.contiguous())
        return nullptr;
      sizes.push_back(found->second.sizes());
    }
    std::vector<ParameterState> parameter_states;
    for (const Node* node : graph_.of_kind(NodeKind::parameter)) {
      if (!parameters.contains(node->name())) return nullptr;
      const bool is_written = updated_.contains(node);
      const Tensor& tensor =
          is_written ? parameters.writable(node->name()) : parameters.at(node->name());
      parameter_states.push_back(
          {tensor.device_pointer(), is_written ? 0 : tensor.storage()->version});
    }
    auto shape = std::ranges::find(shapes_, sizes, &ShapeRuns::sizes);
    if (shape == shapes_.end()) {
      if (shapes_.size() == kMaxGraphs) return nullptr;
      shapes_.emplace_back().sizes = std::move(sizes);
      shape = shapes_.end() - 1;
    }
    if (shape->parameter_states != parameter_states) {
      forget(*shape);
      shape->parameter_states = std::move(parameter_states);
    }
    return &*shape;
  }

  // Allocating or freeing memory can invalidate the captured graphs. Outputs are copied because captured runs write to
  // the addresses that their values had, whoever owns that memory now.
  NamedTensors interpret(const NamedTensors& inputs, ParameterStore& parameters) {
    NamedTensors outputs = copies_of(interpreter_.run(inputs, parameters));
    if (const std::size_t now = interpreter_.reserved_bytes(); now != reserved_bytes_) {
      reserved_bytes_ = now;
      forget_graphs();
    }
    return outputs;
  }

  // The graph's inputs and outputs have memory of their own, which the interpreter does not manage.
  void capture(ShapeRuns& shape, const NamedTensors& inputs, ParameterStore& parameters) {
    if (shape.refuses) return;
    NamedTensors captured_inputs;
    shape.inputs.clear();
    for (const Node* input : inputs_) {
      shape.inputs.push_back(inputs.at(input->name()).copy_to(device_));
      captured_inputs.emplace(input->name(), shape.inputs.back());
    }
    device_.begin_capture();
    try {
      for (const auto& [name, tensor] : interpreter_.run(captured_inputs, parameters))
        fill(shape.outputs.at(name), tensor);
    } catch (const Error&) {
      shape.refuses = true;
    }
    shape.graph = device_.end_capture();
    if (shape.refuses) release(shape);
    shape.refuses = shape.graph == nullptr;
    if (!shape.refuses) return;
    shape.inputs.clear();
    shape.outputs.clear();
  }

  void fill(const Tensor& to, const Tensor& from) {
    if (!from.contiguous()) {
      device_.copy_strided(from, to);
    } else if (&from.device() == &device_) {
      device_.copy(to.device_pointer(), from.device_pointer(), to.size_bytes());
    } else {
      device_.upload(to.device_pointer(), {from.device_pointer(), from.size_bytes()});
    }
  }

  // The next run overwrites the outputs, so callers get copies.
  NamedTensors copies_of(const NamedTensors& outputs) {
    NamedTensors copies;
    for (const auto& [name, tensor] : outputs) copies.emplace(name, dense_copy(tensor));
    return copies;
  }
  Tensor dense_copy(const Tensor& tensor) {
    if (tensor.contiguous()) return tensor.copy_to(device_);
    Tensor dense = Tensor::empty(tensor.dtype(), tensor.sizes(), device_);
    device_.copy_strided(tensor, dense);
    return dense;
  }

  void release(ShapeRuns& shape) {
    if (shape.graph == nullptr) return;
    device_.wait();
    driver().graph_run_destroy(shape.graph);
    shape.graph = nullptr;
  }
  void forget(ShapeRuns& shape) {
    release(shape);
    shape.runs = 0;
    shape.inputs.clear();
    shape.outputs.clear();
  }
  void forget_graphs() {
    for (ShapeRuns& shape : shapes_)
      if (shape.graph != nullptr) forget(shape);
  }

  const Graph& graph_;
  CudaDevice& device_;
  Interpreter interpreter_;
  std::set<const Node*> updated_;
  std::vector<const Node*> inputs_;
  std::vector<ShapeRuns> shapes_;
  std::size_t reserved_bytes_ = 0;
  bool recorded_ = false;
};

}  // namespace

std::unique_ptr<Executable> captured(const Graph& graph, const Session& session) {
  return std::make_unique<CapturedExecutable>(graph, session);
}

std::size_t captured_count(const Executable& executable) {
  const auto* const own = dynamic_cast<const CapturedExecutable*>(&executable);
  return own == nullptr ? 0 : own->count();
}

}  // namespace hone::cuda
