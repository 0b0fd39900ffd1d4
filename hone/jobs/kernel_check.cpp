#include "hone/jobs/kernel_check.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "hone/base/interrupt.h"
#include "hone/base/random.h"
#include "hone/ir/print.h"
#include "hone/jobs/bench.h"
#include "hone/jobs/device_time.h"
#include "hone/jobs/kernels.h"
#include "hone/runtime/interpreter.h"
#include "hone/runtime/kernel_choice.h"
#include "hone/runtime/run_reference.h"
#include "hone/tensor/dense.h"
#include "hone/train/remove_padding.h"
#include "hone/train/training_graph.h"

namespace hone {
namespace {

/// A graph of a model, with its purpose.
struct NamedGraph {
  std::string name;
  Graph graph;
};

std::vector<NamedGraph> graphs_of(const Model& model, const Session& session) {
  std::vector<NamedGraph> graphs;
  ParameterStore parameters = model.parameters.on(session.device);
  graphs.push_back({kInferenceGraph, forward_graph(model)});
  prepare_for_inference(graphs.back().graph, parameters, session);
  graphs.push_back({kUnfusedGraph, forward_graph(model)});
  run_passes(graphs.back().graph, parameters, session, {"remove_dropout", "remove_dead_code"});
  graphs.push_back({"training step", model.graph});
  prepare_for_gradients(graphs.back().graph, session);
  add_training_step(graphs.back().graph, {}, session);
  return graphs;
}

std::string operation_text(const Node& node) {
  std::string text(node.op().name);
  for (const Type& type : node.input_types()) text += " " + to_string(type);
  for (const auto& [name, value] : node.attributes().items())
    text += fmt::format(" {}={}", name, to_string(value));
  return text;
}

// ---- a single operation, with numbers for symbols

/// Parameters of the model remain parameters.
struct SingleOperation {
  Graph graph;
  NamedTensors inputs = {};
  ParameterStore parameters = {};
};

Type with_numbers(const Type& type, const Bindings& bindings) {
  Shape shape;
  for (const std::int64_t size : resolve(type.shape, bindings)) shape.push_back(Dim(size));
  return {type.dtype, shape};
}

// Random floats in [-2, 2) and fair booleans. Integers are 0, which is a valid id, class and position everywhere.
Tensor drawn_operand(const Type& type, const std::string& name, std::uint64_t seed) {
  const Sizes sizes = resolve(type.shape, {});
  RandomSequence random(seed, stream_of("operand " + name));
  if (type.dtype == DType::i64) return Tensor::zeros(DType::i64, sizes, cpu());
  if (type.dtype == DType::boolean) {
    Tensor bits = Tensor::empty(DType::boolean, sizes);
    for (std::int64_t i = 0; i < bits.count(); ++i) bits.data<bool>()[i] = random.uniform() < 0.5;
    return bits;
  }
  Tensor values = Tensor::empty(DType::f32, sizes);
  for (std::int64_t i = 0; i < values.count(); ++i)
    values.data<float>()[i] = static_cast<float>(4 * random.uniform() - 2);
  return values.cast(type.dtype);
}

SingleOperation single_operation(const Node& node, const Bindings& bindings, const OpTable& ops,
                                 std::uint64_t seed) {
  SingleOperation single{.graph = Graph(ops)};
  std::vector<Value> operands;
  for (std::size_t i = 0; i < node.inputs().size(); ++i) {
    const Node& given = *node.inputs()[i].node;
    const Type type = with_numbers(node.inputs()[i].type(), bindings);
    const std::string name = fmt::format("operand.{}", i);
    Tensor tensor = drawn_operand(type, name, seed);
    if (given.kind() == NodeKind::parameter) {
      operands.push_back(single.graph.add_parameter(name, type, given.role(), /*trainable=*/false));
      single.parameters.set(name, std::move(tensor));
    } else {
      operands.push_back(single.graph.add_input(name, type));
      single.inputs.emplace(name, std::move(tensor));
    }
  }
  Attributes attributes;
  for (const auto& [name, value] : node.attributes().items()) {
    const Shape* shape = std::get_if<Shape>(&value);
    attributes.set(name, shape == nullptr
                             ? value
                             : Attribute(with_numbers({DType::f32, *shape}, bindings).shape));
  }
  Node& only = single.graph.add_node(node.op().name, operands, attributes, "only");
  for (std::size_t i = 0; i < only.types().size(); ++i)
    single.graph.set_output(fmt::format("y.{}", i), only.result(static_cast<int>(i)));
  return single;
}

/// A single operation, ready to run with a library's kernels.
class SingleOperationRunner {
 public:
  SingleOperationRunner(const SingleOperation& single, const Library& library,
                        const Session& session, Device& device)
      : inputs_(),
        parameters_(single.parameters.on(device)),
        device_(device),
        interpreter_(single.graph, library, session.pool, device) {
    for (const auto& [name, tensor] : single.inputs) inputs_.emplace(name, tensor.on(device));
  }

  NamedTensors run() { return interpreter_.run(inputs_, parameters_); }
  void run_to_end() {
    run();
    device_.wait();
  }

 private:
  NamedTensors inputs_;
  ParameterStore parameters_;
  Device& device_;
  Interpreter interpreter_;
};

// Compares floating-point outputs.
KernelError error_of(const NamedTensors& got, const NamedTensors& expected) {
  KernelError error;
  double largest = 0;
  for (const auto& [name, truth] : expected) {
    if (truth.dtype() != DType::f32 && !is_half(truth.dtype())) continue;
    const Tensor a = dense_on(got.at(name), cpu()).cast(DType::f32),
                 b = dense_on(truth, cpu()).cast(DType::f32);
    const std::span<const float> ours = a.values<float>(), its = b.values<float>();
    for (std::size_t i = 0; i < ours.size(); ++i) {
      const double distance = std::abs(static_cast<double>(ours[i]) - its[i]);
      error.largest = std::isnan(distance) ? INFINITY : std::max(error.largest, distance);
      largest = std::max(largest, std::abs(static_cast<double>(its[i])));
    }
  }
  error.share = error.largest == 0 ? 0 : error.largest / largest;
  return error;
}

// ---- the check

/// The libraries that a plugin's kernel is compared with.
struct CheckLibraries {
  Library references;  ///< no kernels
  Library program;     ///< without plugins
};

CheckLibraries libraries_of(const Library& whole) {
  CheckLibraries libraries{whole, whole};
  libraries.references.kernels.clear();
  const std::vector<const Kernel*> own = plugin_kernels(whole);
  std::erase_if(libraries.program.kernels, [&](const Kernel& kernel) {
    return std::ranges::any_of(own, [&](const Kernel* one) {
      return one->run == kernel.run && one->op == kernel.op && one->device == kernel.device;
    });
  });
  return libraries;
}

void check_results(KernelCheck& check, const Node& node, const KernelCheckJob& job,
                   const CheckLibraries& libraries, const Session& session) {
  const std::pair<std::int64_t, std::int64_t> sizes[] = {{job.batch, job.tokens}, {1, 1}, {3, 37}};
  for (const auto& [batch, tokens] : sizes) {
    stop_if_interrupted();
    const Bindings bindings = {{'B', batch}, {'S', tokens}, {'T', batch * tokens}};
    const SingleOperation single = single_operation(node, bindings, session.library.ops, job.seed);
    SingleOperationRunner reference(single, libraries.references, session, cpu());
    SingleOperationRunner own(single, session.library, session, session.device);
    const NamedTensors expected = reference.run();
    KernelAtSizes at{.bindings = bindings, .own = error_of(own.run(), expected)};
    if (fast_kernel(libraries.program.kernels, call_site(node), session.device) != nullptr) {
      SingleOperationRunner built_in(single, libraries.program, session, session.device);
      at.built_in = error_of(built_in.run(), expected);
      if (check.sizes.empty())
        check.times =
            time_in_turn([&] { built_in.run_to_end(); }, [&] { own.run_to_end(); }, job.rounds);
    }
    check.sizes.push_back(std::move(at));
  }
}

// Says why an operation cannot be run alone on random operands; "" if it can.
std::string unchecked_reason(const Node& node) {
  if (node.trait() == Trait::update) return "it writes into its operands";
  for (const Type& type : node.input_types())
    if (!is_half(type.dtype) && type.dtype != DType::f32 && type.dtype != DType::i64 &&
        type.dtype != DType::boolean)
      return fmt::format("random operands of {} are not supported", info(type.dtype).name);
  return "";
}

KernelCheck check_on(const Kernel& kernel, const Node& node, const CheckedOperation& checked,
                     const KernelCheckJob& job, const CheckLibraries& libraries,
                     const Session& session) {
  KernelCheck check{.kernel = std::string(kernel.name),
                    .device = std::string(kernel.device),
                    .operation = checked};
  const CallSite site = call_site(node);
  const Kernel* other = fast_kernel(libraries.program.kernels, site, session.device);
  check.built_in = other == nullptr ? "reference" : std::string(other->name);
  check.refusal = kernel_refusal(kernel, site);
  if (!check.refusal.empty()) return check;
  const Kernel* first = fast_kernel(session.library.kernels, site, session.device);
  check.chosen = first == &kernel;
  check.unchecked = check.chosen ? unchecked_reason(node)
                                 : fmt::format("{} comes first and runs instead", first->name);
  if (check.unchecked.empty()) check_results(check, node, job, libraries, session);
  return check;
}

}  // namespace

bool KernelCheck::is_correct() const {
  return std::ranges::all_of(
      sizes, [](const KernelAtSizes& at) { return at.own.share <= kKernelTolerance; });
}

std::vector<KernelCheck> check_plugin_kernels(const KernelCheckJob& job, Context& context) {
  const Session session = context.session();
  const Model model = bench_model({.model = job.model, .seed = job.seed}, context);
  const CheckLibraries libraries = libraries_of(session.library);
  const std::vector<NamedGraph> graphs = graphs_of(model, session);
  std::vector<KernelCheck> checks;
  for (const Kernel* kernel : plugin_kernels(session.library)) {
    if (kernel->device != session.device.kind()) continue;
    std::map<std::pair<std::string, std::string>, CheckedOperation>
        checked;  // by graph and operation
    std::map<std::pair<std::string, std::string>, const Node*> nodes;
    for (const auto& [name, graph] : graphs)
      for (const Node* node : graph.operations(kernel->op)) {
        const std::pair key{name, operation_text(*node)};
        nodes.emplace(key, node);
        CheckedOperation& one =
            checked.try_emplace(key, name, node->name(), key.second).first->second;
        ++one.nodes;
      }
    for (const auto& [key, node] : nodes)
      checks.push_back(check_on(*kernel, *node, checked.at(key), job, libraries, session));
  }
  return checks;
}

}  // namespace hone
