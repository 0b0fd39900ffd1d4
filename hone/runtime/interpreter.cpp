#include "hone/runtime/interpreter.h"

#include <algorithm>
#include <chrono>
#include <set>

#include "hone/analysis/cost.h"
#include "hone/kernels/elementwise.h"
#include "hone/runtime/kernel_choice.h"
#include "hone/runtime/run_reference.h"
#include "hone/tensor/dense.h"

namespace hone {
namespace {

// Returns the weights and states of an operation if all are parameters that the graph does not write, since prepared
// data may derive from any of them. Returns none if another operation reads a float weight directly, as gradients do:
// memory would hold both copies.
std::vector<const Node*> constant_weights(const Node& node, const std::set<const Node*>& updated) {
  std::vector<const Node*> weights;
  for (std::size_t i = 0; i < node.inputs().size(); ++i) {
    const OperandRole role = operand_role(node, i);
    if (role != OperandRole::weight && role != OperandRole::state) continue;
    const Node* weight = node.inputs()[i].node;
    if (weight->kind() != NodeKind::parameter || updated.contains(weight)) return {};
    if (weight->users().size() > 1 && weight->types()[0].dtype == DType::f32) return {};
    weights.push_back(weight);
  }
  return weights;
}

bool suits(Layout layout, const Tensor& tensor) {
  if (layout == Layout::strided || tensor.contiguous()) return true;
  const std::size_t rank = tensor.strides().size();
  if (layout == Layout::rows) return tensor.strides()[rank - 1] == 1;
  return layout == Layout::matrices && rank >= 2 &&
         (tensor.strides()[rank - 1] == 1 || tensor.strides()[rank - 2] == 1);
}

// Copies a tensor without gaps; f32 on the CPU uses all threads.
template <typename Allocate>
Tensor dense_copy(const Tensor& tensor, ThreadPool& pool, const Allocate& allocate) {
  constexpr std::int64_t kMaxRank = 6;
  Tensor dense = allocate(tensor.dtype(), tensor.sizes());
  if (&tensor.device() != &cpu() || tensor.dtype() != DType::f32 || tensor.rank() > kMaxRank) {
    tensor.device().copy_strided(tensor, dense);
    return dense;
  }
  kernels::copy(pool, tensor.sizes(), {tensor.data<float>(), tensor.strides()},
                dense.template data<float>());
  return dense;
}

}  // namespace

Interpreter::Interpreter(const Graph& graph, const Library& library, ThreadPool& pool,
                         Device& device)
    : graph_(graph), pool_(pool), device_(device), buffers_(device) {
  std::map<std::size_t, std::pair<std::size_t, std::size_t>> last_use;  // slot -> step, input
  std::set<const Node*> updated;
  std::size_t slots = 0;
  for (const auto& node : graph.nodes()) {
    slot_of_.emplace(node.get(), slots);
    if (node->kind() == NodeKind::input && (!node->users().empty() || graph.is_output(*node)))
      inputs_.push_back({node.get(), slots, "input '" + node->name() + "'"});
    if (node->kind() == NodeKind::parameter)
      parameters_.push_back({node.get(), slots, "parameter '" + node->name() + "'"});
    if (node->kind() == NodeKind::operation) {
      Step step{node.get(), nullptr, false, {}, std::vector<char>(node->inputs().size(), 0),
                slots,      {}};
      try {
        step.kernel = find_kernel(library.kernels, *node, device);
        step.is_widened = step.kernel != nullptr && is_widened(*step.kernel, call_site(*node));
      } catch (Error& error) {
        error.add_context(fmt::format("for %{} ({})", node->name(), node->op().name));
        throw;
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
  std::size_t most_operands = 0;
  for (const Step& step : steps_) most_operands = std::max(most_operands, step.input_slots.size());
  operands_.resize(most_operands);
  dense_operands_.resize(most_operands);
  no_input_dies_.assign(most_operands, 0);
  for (Step& step : steps_) {
    if (step.kernel == nullptr || step.kernel->prepare == nullptr || step.is_widened) continue;
    for (const Node* weight : constant_weights(*step.node, updated))
      step.preparation.slots.push_back(slot_of_.at(weight));
  }
}

namespace {

std::set<const Node*> written_by_updates(const Graph& graph) {
  std::set<const Node*> updated;
  for (const Node* node : graph.of_kind(NodeKind::operation))
    if (node->op().trait == Trait::update)
      for (const Value& input : node->inputs()) updated.insert(input.node);
  return updated;
}

}  // namespace

std::vector<PreparedCopy> prepared_copies(const Graph& graph, const ParameterStore& parameters,
                                          const Session& session) {
  const std::set<const Node*> updated = written_by_updates(graph);
  const auto is_there = [&](const Node* weight) {
    return parameters.contains(weight->name()) &&
           &parameters.at(weight->name()).device() == &session.device;
  };
  std::vector<PreparedCopy> copies;
  for (const Node* node : graph.of_kind(NodeKind::operation)) {
    const std::vector<const Node*> weights = constant_weights(*node, updated);
    if (weights.empty() || !std::ranges::all_of(weights, is_there)) continue;
    const Kernel* kernel = find_kernel(session.library.kernels, *node, session.device);
    if (kernel == nullptr || kernel->prepared_memory == nullptr) continue;
    const CallSite site = call_site(*node);
    if (is_widened(*kernel, site)) continue;
    std::vector<const Tensor*> inputs;
    for (const Value& input : node->inputs())
      inputs.push_back(std::ranges::find(weights, input.node) != weights.end()
                           ? &parameters.at(input.node->name())
                           : nullptr);
    const PreparedMemory memory = kernel->prepared_memory(site, inputs, session.pool);
    PreparedCopy copy{.node = node, .bytes = memory.bytes, .zeros = memory.zeros};
    for (const Node* weight : weights)
      if (const Tensor& tensor = parameters.at(weight->name());
          memory.releases_pages && tensor.storage()->mapped)
        copy.released.push_back(tensor);
    copies.push_back(std::move(copy));
  }
  return copies;
}

// Queued work may still read prepared data. There is no one left to report its errors to.
Interpreter::~Interpreter() {
  try {
    device_.wait();
  } catch (...) {  // NOLINT(bugprone-empty-catch)
  }
}

std::unique_ptr<Executable> interpreted(const Graph& graph, const Session& session) {
  return std::make_unique<Interpreter>(graph, session.library, session.pool, session.device);
}

void Interpreter::release_memory() {
  device_.wait();
  buffers_ = BufferPool(device_);
  workspace_.reset();
  ready_for_.clear();
}

void Interpreter::load_inputs(const NamedTensors& inputs, Bindings& bindings) {
  for (const auto& [node, slot, what] : inputs_) {
    const auto found = inputs.find(node->name());
    user_check(found != inputs.end(), "the graph needs the input '{}': {}", node->name(),
               to_string(node->types()[0]));
    user_check(found->second.dtype() == node->types()[0].dtype, "{}: expected {}, got {}", what,
               to_string(node->types()[0]), info(found->second.dtype()).name);
    bind_symbols(node->types()[0].shape, found->second.sizes(), what, bindings);
    slots_[slot] = found->second.on(device_);
  }
}

void Interpreter::load_parameters(ParameterStore& parameters, Bindings& bindings) {
  for (const Node* node : updated_parameters_) parameters.writable(node->name());
  for (const auto& [node, slot, what] : parameters_) {
    const Tensor& tensor = parameters.at(node->name());
    HONE_ASSERT(&tensor.device() == &device_, "parameter {} is on {}, the graph runs on {}",
                node->name(), to_string(tensor.device()), to_string(device_));
    user_check(tensor.dtype() == node->types()[0].dtype, "{}: expected {}, got {}", what,
               to_string(node->types()[0]), info(tensor.dtype()).name);
    bind_symbols(node->types()[0].shape, tensor.sizes(), what, bindings);
    slots_[slot] = tensor;
  }
}

// A run whose extents do not exceed those of an earlier run needs no more memory.
void Interpreter::prepare_buffers(const Bindings& bindings) {
  const auto covers = [&](const Bindings& before) {
    return std::ranges::all_of(
        bindings, [&](const auto& symbol) { return symbol.second <= before.at(symbol.first); });
  };
  if (std::ranges::any_of(ready_for_, covers)) return;
  ready_for_.push_back(bindings);
  buffers_.prepare(
      static_cast<std::size_t>(peak_value_bytes(graph_, bindings, BufferPool::kGrainBytes)));
  std::int64_t workspace = 0;
  for (const Step& step : steps_)
    workspace = std::max(workspace, workspace_bytes(step.kernel, *step.node, bindings));
  const auto size_bytes = static_cast<std::size_t>(workspace);
  if (workspace_ != nullptr && workspace_->size_bytes >= size_bytes) return;
  workspace_.reset();
  if (size_bytes > 0) workspace_ = device_.allocate(size_bytes);
}

const void* Interpreter::prepared_for(Step& step, const Call& call) const {
  Preparation& preparation = step.preparation;
  if (preparation.slots.empty()) return nullptr;
  const auto version = [&](std::size_t slot) { return slots_[slot].storage()->version; };
  if (!std::ranges::equal(preparation.slots, preparation.versions, {}, version)) {
    preparation.versions.clear();
    for (const std::size_t slot : preparation.slots) preparation.versions.push_back(version(slot));
    preparation.prepared.reset();
    preparation.asked = false;
  } else if (!preparation.asked) {
    preparation.prepared = step.kernel->prepare(call);
    preparation.asked = true;
  }
  return preparation.prepared.get();
}

void Interpreter::execute(Step& step, const Bindings& bindings) {
  const Node& node = *step.node;
  const Kernel* kernel = step.kernel;
  const auto allocate = [&](DType dtype, Sizes sizes) { return buffers_.allocate(dtype, sizes); };
  const auto start = std::chrono::steady_clock::now();
  const std::size_t count = step.input_slots.size();
  const auto inputs = std::span(operands_).first(count);
  const auto dense = std::span(dense_operands_).first(count);
  for (std::size_t i = 0; i < count; ++i) {
    inputs[i] = &slots_[step.input_slots[i]];
    if (kernel == nullptr || suits(kernel->layout, *inputs[i])) continue;
    dense[i] = dense_copy(*inputs[i], pool_, allocate);
    inputs[i] = &dense[i];
  }
  const auto outputs = std::span(slots_).subspan(step.first_output_slot, node.types().size());
  // A reference may read elements that it has already overwritten, so its outputs never share memory with its inputs.
  Call call{node.op(),
            node.attributes(),
            inputs,
            kernel != nullptr ? step.input_dies : std::span(no_input_dies_).first(count),
            node.types(),
            outputs,
            bindings,
            device_,
            device_.host_accessible() ? &pool_ : nullptr,
            allocate};
  if (kernel != nullptr) {
    call.prepared = prepared_for(step, call);
    if (kernel->workspace_bytes != nullptr && workspace_ != nullptr)
      call.workspace = workspace_->pointer;
    if (step.is_widened)
      run_widened(call, kernel->run);
    else
      kernel->run(call);
  } else {
    run_reference(call);
  }
  for (std::size_t i = 0; i < count; ++i) {
    dense[i] = Tensor();
    if (step.input_dies[i] != 0) slots_[step.input_slots[i]] = Tensor();
  }
  if (spans_ == nullptr) return;
  device_.wait();
  spans_->push_back({&node, kernel != nullptr ? kernel->name : "reference", start,
                     std::chrono::steady_clock::now(),
                     static_cast<std::int64_t>(buffers_.used_bytes())});
}

NamedTensors Interpreter::run(const NamedTensors& inputs, ParameterStore& parameters) {
  // However the run ends, no slot may keep a parameter alive: its next writer would have to copy it.
  struct Clear {
    std::vector<Tensor>&slots, &dense;
    ~Clear() {
      for (std::vector<Tensor>* tensors : {&slots, &dense}) std::ranges::fill(*tensors, Tensor());
    }
  } clear{slots_, dense_operands_};
  Bindings bindings(&records_);
  load_inputs(inputs, bindings);
  load_parameters(parameters, bindings);
  prepare_buffers(bindings);
  for (Step& step : steps_) {
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
