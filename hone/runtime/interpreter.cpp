#include "hone/runtime/interpreter.h"

#include <algorithm>
#include <chrono>
#include <set>

namespace hone {

Interpreter::Interpreter(const Graph& graph, const Library& library, ThreadPool& pool,
                         Device& device)
    : graph_(graph), pool_(pool), device_(device), buffers_(device) {
  std::map<std::size_t, std::pair<std::size_t, std::size_t>> last_use;  // slot -> step, input
  std::set<const Node*> updated;
  std::size_t slots = 0;
  for (const auto& node : graph.nodes()) {
    slot_of_.emplace(node.get(), slots);
    if (node->kind() == NodeKind::operation) {
      Step step{node.get(), {}, {}, std::vector<char>(node->inputs().size(), 0), slots};
      for (const Kernel& kernel : library.kernels) {
        if (kernel.op == node->op().name && kernel.device == device.name())
          step.kernels.push_back(&kernel);
      }
      for (const Value& input : node->inputs()) {
        step.input_slots.push_back(slot_of_.at(input.node) + static_cast<std::size_t>(input.index));
        last_use[step.input_slots.back()] = {steps_.size(), step.input_slots.size() - 1};
        if (node->op().trait == Trait::update && input.node->kind() == NodeKind::parameter)
          updated.insert(input.node);
      }
      steps_.push_back(std::move(step));
    }
    slots += node->types().size();
  }
  updated_parameters_.assign(updated.begin(), updated.end());
  for (const auto& [name, value] : graph.outputs())
    last_use.erase(slot_of_.at(value.node) + static_cast<std::size_t>(value.index));
  for (const auto& [slot, use] : last_use) steps_[use.first].input_dies[use.second] = 1;
  slots_.resize(slots);
}

std::unique_ptr<Executable> interpreted(const Graph& graph, const Session& session) {
  return std::make_unique<Interpreter>(graph, session.library, session.pool, session.device);
}

void Interpreter::load_inputs(const NamedTensors& inputs, Bindings& bindings) {
  for (const Node* node : graph_.of_kind(NodeKind::input)) {
    if (node->users().empty() && !graph_.is_output(*node)) continue;
    const auto found = inputs.find(node->name());
    user_check(found != inputs.end(), "the graph needs the input '{}': {}", node->name(),
               to_string(node->types()[0]));
    user_check(found->second.dtype() == node->types()[0].dtype, "input '{}': expected {}, got {}",
               node->name(), to_string(node->types()[0]), info(found->second.dtype()).name);
    bind_symbols(node->types()[0].shape, found->second.sizes(), "input '" + node->name() + "'",
                 bindings);
    slots_[slot_of_.at(node)] = found->second.on(device_);
  }
}

void Interpreter::load_parameters(ParameterStore& parameters, Bindings& bindings) {
  for (const Node* node : updated_parameters_) parameters.writable(node->name());
  for (const Node* node : graph_.of_kind(NodeKind::parameter)) {
    const Tensor& tensor = parameters.at(node->name());
    HONE_ASSERT(&tensor.device() == &device_, "parameter {} lives on {}, the graph runs on {}",
                node->name(), tensor.device().name(), device_.name());
    user_check(tensor.dtype() == node->types()[0].dtype, "parameter '{}': expected {}, got {}",
               node->name(), to_string(node->types()[0]), info(tensor.dtype()).name);
    bind_symbols(node->types()[0].shape, tensor.sizes(), "parameter '" + node->name() + "'",
                 bindings);
    slots_[slot_of_.at(node)] = tensor;
  }
}

const Kernel* Interpreter::choose(const Step& step, const Call& call) const {
  std::string refusals;
  for (const Kernel* kernel : step.kernels) {
    const std::string_view reason = kernel->accepts(call);
    if (reason.empty()) return kernel;
    refusals += fmt::format("; {}: {}", kernel->name, reason);
  }
  user_check(device_.host_accessible(), "no kernel on device {}{}", device_.name(), refusals);
  return nullptr;
}

void Interpreter::execute(const Step& step, const Bindings& bindings) {
  const Node& node = *step.node;
  std::vector<const Tensor*> inputs;
  for (const std::size_t slot : step.input_slots) inputs.push_back(&slots_[slot]);
  const auto allocate = [&](DType dtype, Sizes sizes) {
    return buffers_.allocate(dtype, std::move(sizes));
  };
  const auto outputs = std::span(slots_).subspan(step.first_output_slot, node.types().size());
  const auto call_with = [&](std::span<const char> input_dies) {
    return Call{node.op(), node.attributes(), inputs, input_dies, node.types(),
                outputs,   bindings,          pool_,  allocate};
  };
  Call call = call_with(step.input_dies);
  const auto start = std::chrono::steady_clock::now();
  const Kernel* kernel = choose(step, call);
  if (kernel != nullptr) {
    kernel->run(call);
  } else {
    // A reference may read what it has written already, so it gets memory of its own.
    const std::vector<char> none(inputs.size(), 0);
    Call apart = call_with(none);
    node.op().reference(apart);
  }
  if (profiling_) {
    KernelTime& time = profile_[fmt::format("{} / {}", node.op().name,
                                            kernel != nullptr ? kernel->name : "reference")];
    time.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    ++time.calls;
  }
  for (std::size_t i = 0; i < step.input_slots.size(); ++i) {
    if (step.input_dies[i] != 0) slots_[step.input_slots[i]] = Tensor();
  }
}

NamedTensors Interpreter::run(const NamedTensors& inputs, ParameterStore& parameters) {
  // Whatever way the run ends, no slot may keep a parameter alive: its next writer would have to copy it.
  struct Clear {
    std::vector<Tensor>& slots;
    ~Clear() { std::fill(slots.begin(), slots.end(), Tensor()); }
  } clear{slots_};
  Bindings bindings;
  load_inputs(inputs, bindings);
  load_parameters(parameters, bindings);
  for (const Step& step : steps_) {
    try {
      execute(step, bindings);
    } catch (Error& error) {
      error.add_context(
          fmt::format("while executing %{} ({})", step.node->name(), step.node->op().name));
      throw;
    }
  }
  NamedTensors outputs;
  for (const auto& [name, value] : graph_.outputs()) {
    outputs.emplace(name, slots_[slot_of_.at(value.node) + static_cast<std::size_t>(value.index)]);
  }
  return outputs;
}

}  // namespace hone
