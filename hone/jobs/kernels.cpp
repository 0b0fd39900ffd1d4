#include "hone/jobs/kernels.h"

#include <algorithm>

#include "hone/base/text.h"
#include "hone/cuda/kernels.h"
#include "hone/jobs/bench.h"
#include "hone/jobs/device_time.h"
#include "hone/runtime/kernel_choice.h"
#include "hone/train/remove_padding.h"
#include "hone/train/training_graph.h"

namespace hone {
namespace {

constexpr std::string_view kLayouts[] = {"dense", "matrices", "rows", "strided"};
// By `KernelValues`.
constexpr std::string_view kValues[] = {"f32", "f32, bf16, f16", "bf16"};
constexpr std::string_view kReference = "reference", kHost = "cpu";

bool is_in(const Kernel& kernel, const KernelTable& table) {
  return std::ranges::any_of(table, [&](const Kernel& own) {
    return own.op == kernel.op && own.device == kernel.device && own.name == kernel.name &&
           own.run == kernel.run;
  });
}

// "int8" of what `PeakKind` counts as int8_gops; "fp32" where no products are of codes.
std::string arithmetic_of_kernel(const Kernel& kernel) {
  if (!kernel.native) return "fp32";
  const std::string_view kind = to_string(*kernel.native);
  return std::string(kind.substr(0, kind.find('_')));
}

std::string yes_or_no(bool yes) { return yes ? "yes" : "no"; }

void add_rows(Table& table, const OpDef& op, const KernelTable& kernels,
              const std::vector<const Kernel*>& own, const std::string& device) {
  for (const Kernel& kernel : kernels) {
    if (!is_row_of(kernel, op) || (!device.empty() && kernel.device != device)) continue;
    const bool of_plugin = std::ranges::any_of(
        own, [&](const Kernel* one) { return one->run == kernel.run && one->name == kernel.name; });
    table.add_row({op.name, kernel.device, kernel.name,
                   kLayouts[static_cast<std::size_t>(kernel.layout)],
                   kValues[static_cast<std::size_t>(kernel.values)], arithmetic_of_kernel(kernel),
                   yes_or_no(kernel.prepare != nullptr),
                   yes_or_no(kernel.workspace_bytes != nullptr), of_plugin ? "plugin" : "hone"});
  }
  if (device.empty() || device == kHost)
    table.add_row({op.name, kHost, kReference, "strided", "all", "fp64", "no", "no", "hone"});
}

// The graph of the model as it is run.
Graph run_graph(const Model& model, bool train, const Session& session) {
  Graph graph = train ? model.graph : forward_graph(model);
  ParameterStore parameters = model.parameters;
  if (train) {
    prepare_for_gradients(graph, session.values);
    add_training_step(graph, {}, session);
  } else {
    prepare_for_inference(graph, parameters, session);
  }
  return graph;
}

std::string refusals_text(const std::vector<KernelAnswer>& answers) {
  std::string text;
  for (const KernelAnswer& answer : answers)
    if (!answer.refusal.empty())
      text +=
          fmt::format("{}{}: {}", text.empty() ? "" : "; ", answer.kernel->name, answer.refusal);
  return text;
}

Json refusals_json(const std::vector<KernelAnswer>& answers) {
  Json all = Json::array();
  for (const KernelAnswer& answer : answers)
    if (!answer.refusal.empty())
      all.push_back({{"kernel", answer.kernel->name}, {"reason", answer.refusal}});
  return all;
}

}  // namespace

std::vector<const Kernel*> plugin_kernels(const Library& library) {
  const KernelTable own = cpu_kernels(), of_cards = cuda::kernels();
  std::vector<const Kernel*> others;
  for (const Kernel& kernel : library.kernels)
    if (!is_in(kernel, own) && !is_in(kernel, of_cards)) others.push_back(&kernel);
  return others;
}

Table kernel_table(const Library& library, const std::string& device) {
  Table table({{"operation", "Operation"},
               {"device", "Device"},
               {"kernel", "Kernel"},
               {"layout", "Layout"},
               {"values", "Values"},
               {"arithmetic", "Arithmetic"},
               {"prepares", "Weights prepared"},
               {"workspace", "Workspace"},
               {"origin", "Origin"}});
  KernelTable kernels = library.kernels;
  for (const Kernel& kernel : cuda::kernels())
    if (!is_in(kernel, kernels)) kernels.push_back(kernel);
  const std::vector<const Kernel*> own = plugin_kernels(library);
  for (const auto& [name, op] : library.ops) add_rows(table, op, kernels, own, device);
  return table;
}

JobResult list_kernels(const Library& library, const std::string& device) {
  const Table table = kernel_table(library, device);
  JobResult result;
  result.fields = {{"kernels", to_json(table)}};
  Document& document = result.document;
  document.title = "Kernels";
  document.headline = fmt::format("{} kernels", grouped(std::ssize(table.rows())));
  document.sections = {
      {"",
       {PageTable{table},
        Paragraph{"The kernels of an operation are tried in order, and the first that accepts a "
                  "node runs it. `hone kernels --model MODEL` shows which, and why others did "
                  "not."}}}};
  return result;
}

JobResult kernels_of_model(const KernelsJob& job, Context& context) {
  const Session session = context.session();
  const Model model = bench_model({.model = job.model, .seed = job.seed}, context);
  const Graph graph = run_graph(model, job.train, session);
  Table table({{"node", "Node"},
               {"operation", "Operation"},
               {"kernel", "Kernel"},
               {"arithmetic", "Arithmetic"},
               {"prepares", "Weights prepared"},
               {"refused", "Not accepted by"}});
  Json nodes = Json::array();
  std::int64_t without_kernel = 0;
  for (const Node* node : graph.of_kind(NodeKind::operation)) {
    const Kernel* kernel = find_kernel(session.library.kernels, *node, session.device);
    const auto answers = kernel_answers(session.library.kernels, call_site(*node), session.device);
    const std::string name(kernel == nullptr ? kReference : kernel->name),
        arithmetic = kernel == nullptr ? "fp64" : arithmetic_of_kernel(*kernel),
        refused = refusals_text(answers);
    const bool prepares = kernel != nullptr && kernel->prepare != nullptr;
    without_kernel += kernel == nullptr ? 1 : 0;
    table.add_row({node->name(), node->op().name, name, arithmetic, yes_or_no(prepares),
                   refused.empty() ? Cell(absent) : Cell(refused)});
    nodes.push_back({{"node", node->name()},
                     {"operation", node->op().name},
                     {"kernel", name},
                     {"arithmetic", arithmetic},
                     {"prepares", prepares},
                     {"refused", refusals_json(answers)}});
  }
  const std::string what =
      fmt::format("{} of {}", job.train ? "a training step" : "inference", job.model);
  JobResult result;
  result.fields = {
      {"model", job.model}, {"what", what}, {"device", device_text(session)}, {"nodes", nodes}};
  Document& document = result.document;
  document.title = fmt::format("Kernels of {}", what);
  document.headline = capitalized(fmt::format("{} on {}: {} operations, {} without a fast kernel",
                                              what, device_text(session),
                                              grouped(std::ssize(nodes)), grouped(without_kernel)));
  document.sections = {
      {"",
       {PageTable{table}, Paragraph{"Kernels are tried in order; the first that accepts a node "
                                    "runs it."}}}};
  return result;
}

}  // namespace hone
