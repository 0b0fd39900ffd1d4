#include "hone/jobs/kernels.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "hone/base/text.h"
#include "hone/cuda/kernels.h"
#include "hone/jobs/bench.h"
#include "hone/jobs/device_time.h"
#include "hone/report/field_table.h"
#include "hone/train/remove_padding.h"
#include "hone/train/training_graph.h"

namespace hone {
namespace {

// By `KernelValues`.
constexpr std::string_view kValues[] = {"f32", "f32, bf16, f16", "bf16"};
constexpr std::string_view kReference = "reference", kHost = "cpu";

bool is_in(const Kernel& kernel, const KernelTable& table) {
  return std::ranges::any_of(table, [&](const Kernel& own) {
    return own.op == kernel.op && own.device == kernel.device && own.name == kernel.name &&
           own.run == kernel.run;
  });
}

// Returns "int8" for products that `PeakKind` calls int8_gops; "fp32" without products of codes.
std::string arithmetic_of_kernel(const Kernel& kernel) {
  if (!kernel.native) return "fp32";
  const std::string_view kind = to_string(*kernel.native);
  return std::string(kind.substr(0, kind.find('_')));
}

void add_rows(std::vector<KernelRow>& rows, const OpDef& op, const KernelTable& kernels,
              const std::vector<const Kernel*>& own, const std::string& device) {
  for (const Kernel& kernel : kernels) {
    if (!implements_op(kernel, op) || (!device.empty() && kernel.device != device)) continue;
    const bool of_plugin = std::ranges::any_of(
        own, [&](const Kernel* one) { return one->run == kernel.run && one->name == kernel.name; });
    rows.push_back({.operation = std::string(op.name),
                    .device = std::string(kernel.device),
                    .kernel = std::string(kernel.name),
                    .layout = kernel.layout,
                    .values = std::string(kValues[static_cast<std::size_t>(kernel.values)]),
                    .arithmetic = arithmetic_of_kernel(kernel),
                    .prepares = kernel.prepare != nullptr,
                    .workspace = kernel.workspace_bytes != nullptr,
                    .origin = of_plugin ? "plugin" : "hone"});
  }
  if (device.empty() || device == kHost)
    rows.push_back({.operation = std::string(op.name),
                    .device = std::string(kHost),
                    .kernel = std::string(kReference),
                    .values = "all",
                    .arithmetic = "fp64",
                    .origin = "hone"});
}

// Returns the graph of the model as it is executed.
Graph run_graph(const Model& model, bool train, const Session& session) {
  Graph graph = train ? model.graph : forward_graph(model);
  ParameterStore parameters = model.parameters.on(session.device);
  if (train) {
    prepare_for_gradients(graph, session);
    add_training_step(graph, {}, session);
  } else {
    prepare_for_inference(graph, parameters, session);
  }
  return graph;
}

NodeKernel kernel_of(const Node& node, const Session& session) {
  const Kernel* kernel = find_kernel(session.library.kernels, node, session.device);
  NodeKernel row{.node = node.name(),
                 .operation = std::string(node.op().name),
                 .kernel = std::string(kernel == nullptr ? kReference : kernel->name),
                 .arithmetic = kernel == nullptr ? "fp64" : arithmetic_of_kernel(*kernel),
                 .prepares = kernel != nullptr && kernel->prepare != nullptr};
  row.refused =
      refusals_of(kernel_candidates(session.library.kernels, call_site(node), session.device));
  return row;
}

Table table_of(const std::vector<NodeKernel>& nodes) {
  Table table({{"node", "Node"},
               {"operation", "Operation"},
               {"kernel", "Kernel"},
               {"arithmetic", "Arithmetic"},
               {"prepares", "Weights prepared"},
               {"refused", "Not accepted by"}});
  for (const NodeKernel& one : nodes)
    table.add_row({one.node, one.operation, one.kernel, one.arithmetic, one.prepares ? "yes" : "no",
                   refusals_cell(one.refused)});
  return table;
}

}  // namespace

std::vector<const Kernel*> plugin_kernels(const Library& library) {
  const KernelTable own = cpu_kernels(), of_gpus = cuda::kernels();
  std::vector<const Kernel*> others;
  for (const Kernel& kernel : library.kernels)
    if (!is_in(kernel, own) && !is_in(kernel, of_gpus)) others.push_back(&kernel);
  return others;
}

std::span<const EnumName> enum_names(Layout) {
  static constexpr EnumName kWords[] = {{static_cast<int>(Layout::dense), "dense"},
                                        {static_cast<int>(Layout::matrices), "matrices"},
                                        {static_cast<int>(Layout::rows), "rows"},
                                        {static_cast<int>(Layout::strided), "strided"}};
  return kWords;
}

const Fields& fields_of(const KernelRow*) {
  using K = KernelRow;
  static const Fields fields = describe<K>(
      "kernel_row", "A kernel. The first kernel of an operation that accepts a node runs it.",
      field<&K::operation>("operation", "Operation that it runs.", "Operation"),
      field<&K::device>("device", "Kind of device.", "Device"),
      field<&K::kernel>("kernel", "Its name; reference: the last to be tried.", "Kernel"),
      field<&K::layout>("layout",
                        "Layout of inputs: without gaps, with steps between matrices or rows, or "
                        "any strides.",
                        "Layout"),
      field<&K::values>("values", "Types of values that it accepts.", "Values"),
      field<&K::arithmetic>("arithmetic",
                            "Of its products: fp32, fp64 of references, or the type of codes.",
                            "Arithmetic"),
      field<&K::prepares>("prepares", "It prepares constant weights once.", "Weights prepared"),
      field<&K::workspace>("workspace", "It needs memory in addition to its results.", "Workspace"),
      field<&K::origin>("origin", "hone, or plugin.", "Origin"));
  return fields;
}

const Fields& fields_of(const KernelsFields*) {
  static const Fields fields = describe<KernelsFields>(
      "kernels", "The kernels of operations.",
      field<&KernelsFields::kernels>("kernels", "All kernels, by operation."));
  return fields;
}

const Fields& fields_of(const KernelRefusal*) {
  static const Fields fields =
      describe<KernelRefusal>("kernel_refusal", "Why a kernel does not run an operation.",
                              field<&KernelRefusal::kernel>("kernel", "Its name."),
                              field<&KernelRefusal::reason>("reason", "The reason."));
  return fields;
}

std::vector<KernelRefusal> refusals_of(const std::vector<KernelCandidate>& candidates) {
  std::vector<KernelRefusal> refusals;
  for (const KernelCandidate& candidate : candidates)
    if (!candidate.refusal.empty())
      refusals.push_back({std::string(candidate.kernel->name), std::string(candidate.refusal)});
  return refusals;
}

Cell refusals_cell(const std::vector<KernelRefusal>& refusals) {
  std::vector<std::string> texts;
  for (const KernelRefusal& refusal : refusals)
    texts.push_back(fmt::format("{}: {}", refusal.kernel, refusal.reason));
  return texts.empty() ? Cell(absent) : Cell(fmt::format("{}", fmt::join(texts, "; ")));
}

const Fields& fields_of(const NodeKernel*) {
  using N = NodeKernel;
  static const Fields fields = describe<N>(
      "node_kernel", "An operation of a model's graph as it is run.",
      field<&N::node>("node", "Its name."), field<&N::operation>("operation", "Its kind."),
      field<&N::kernel>("kernel", "Kernel that runs it; reference: no other accepts it."),
      field<&N::arithmetic>("arithmetic", "Of its products."),
      field<&N::prepares>("prepares", "The kernel prepares constant weights once."),
      field<&N::refused>("refused", "Kernels that were tried before and did not accept it."));
  return fields;
}

const Fields& fields_of(const ModelKernelsFields*) {
  using M = ModelKernelsFields;
  static const Fields fields = describe<M>(
      "kernels", "The kernels of a model.", field<&M::model>("model", "The model as it was named."),
      field<&M::what>("what", "What is run."),
      field<&M::device>("device", "Device that runs it, with what its results depend on."),
      field<&M::nodes>("nodes", "Every operation, in the order in which they run."));
  return fields;
}

std::vector<KernelRow> kernel_rows(const Library& library, const std::string& device) {
  std::vector<KernelRow> rows;
  KernelTable kernels = library.kernels;
  for (const Kernel& kernel : cuda::kernels())
    if (!is_in(kernel, kernels)) kernels.push_back(kernel);
  const std::vector<const Kernel*> own = plugin_kernels(library);
  for (const auto& [name, op] : library.ops) add_rows(rows, op, kernels, own, device);
  return rows;
}

JobResult list_kernels(const Library& library, const std::string& device) {
  const KernelsFields fields{kernel_rows(library, device)};
  JobResult result;
  result.fields = to_json(fields);
  Document& document = result.document;
  document.title = "Kernels";
  document.headline = fmt::format("{} kernels", grouped(std::ssize(fields.kernels)));
  document.sections = {
      {"",
       {PageTable{headed_table(fields.kernels)},
        Paragraph{"The kernels of an operation are tried in order, and the first that accepts a "
                  "node runs it. `hone kernels MODEL` shows which, and why others did "
                  "not."}}}};
  return result;
}

JobResult kernels_of_model(const KernelsJob& job, Context& context) {
  const Session session = context.session();
  const Model model = bench_model({.model = job.model, .seed = job.seed}, context);
  const Graph graph = run_graph(model, job.train, session);
  ModelKernelsFields fields{
      .model = job.model,
      .what = fmt::format("{} of {}", job.train ? "a training step" : "inference", job.model),
      .device = device_text(session)};
  for (const Node* node : graph.of_kind(NodeKind::operation))
    fields.nodes.push_back(kernel_of(*node, session));
  const auto without_kernel = std::ranges::count(fields.nodes, kReference, &NodeKernel::kernel);
  JobResult result;
  result.fields = to_json(fields);
  Document& document = result.document;
  document.title = fmt::format("Kernels of {}", fields.what);
  document.headline = capitalized(
      fmt::format("{} on {}: {} operations, {} without a fast kernel", fields.what, fields.device,
                  grouped(std::ssize(fields.nodes)), grouped(without_kernel)));
  document.sections = {
      {"",
       {PageTable{table_of(fields.nodes)},
        Paragraph{"Kernels are tried in order; the first that accepts a node runs it."}}}};
  return result;
}

}  // namespace hone
