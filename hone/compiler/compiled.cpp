#include "hone/compiler/compiled.h"

#include "hone/compiler/elementwise_kernel.h"
#include "hone/compiler/generated_code.h"
#include "hone/compiler/machine_code.h"
#include "hone/ops/of_formula.h"
#include "hone/runtime/interpreter.h"
#include "hone/runtime/run_passes.h"

namespace hone::compiler {
namespace {

// Turns an operation with a formula but no kernel into a single `elementwise`, such as a user's activation or a
// derived gradient.
void replace_kernelless(Graph& graph, const Session& session) {
  for (Node* node : graph.of_kind(NodeKind::operation)) {
    if (node->op().formula == nullptr || node->is("elementwise") || node->types().size() > 1 ||
        find_kernel(session.library.kernels, *node, session.device) != nullptr)
      continue;
    Elementwise one = elementwise_of(
        formulas_of(node->op(), node->attributes(), node->inputs().size()), node->inputs());
    graph.replace_operation(*node, "elementwise", std::move(one.operands),
                            {{"formula", one.formula}});
  }
}

Library with_generated_code(Library library) {
  library.kernels.push_back(elementwise_kernel());
  return library;
}

class Compiled final : public Executable {
 public:
  Compiled(const Graph& graph, const Session& session)
      : graph_(compiled_graph(graph, session)),
        library_(with_generated_code(session.library)),
        interpreter_(graph_, library_, session.pool, session.device) {
    for (const Node* node : graph_.operations("elementwise")) {
      const Kernel* kernel = find_kernel(library_.kernels, *node, session.device);
      if (kernel != nullptr && kernel->name == elementwise_kernel().name)
        code_of(node->attributes().get<std::string>("formula"), operand_kinds(call_site(*node)));
    }
  }

  NamedTensors run(const NamedTensors& inputs, ParameterStore& parameters) override {
    return interpreter_.run(inputs, parameters);
  }
  void record(std::vector<OperationSpan>* spans) override { interpreter_.record(spans); }

 private:
  Graph graph_;
  Library library_;
  Interpreter interpreter_;
};

}  // namespace

Graph compiled_graph(Graph graph, const Session& session) {
  ParameterStore none;  // fusing reads no parameters
  run_passes(graph, none, session, {"fuse_elementwise"});
  replace_kernelless(graph, session);
  return graph;
}

std::unique_ptr<Executable> compiled(const Graph& graph, const Session& session) {
  if (!code_generation_missing().empty()) return interpreted(graph, session);
  return std::make_unique<Compiled>(graph, session);
}

}  // namespace hone::compiler
