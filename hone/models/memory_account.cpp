#include "hone/models/memory_account.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "hone/analysis/precision.h"
#include "hone/base/percentage.h"
#include "hone/base/text.h"
#include "hone/formats/packing.h"
#include "hone/frontends/huggingface/architecture.h"
#include "hone/frontends/huggingface/checkpoint.h"
#include "hone/models/model_size.h"
#include "hone/passes/quantize.h"
#include "hone/report/field_table.h"
#include "hone/runtime/fuse_unpack.h"

namespace hone {
namespace {

std::int64_t elements_of(const Type& type) { return element_count(resolve(type.shape, {})); }

std::int64_t bytes_of(const Type& type) {
  return elements_of(type) * static_cast<std::int64_t>(info(type.dtype).size_bytes);
}

/// Classifies the parameters of a model.
class Parts {
 public:
  explicit Parts(const Model& model)
      : tables_(table_parameters(unquantized_graph(model))),
        classes_(std::string(find_architecture(model.facts.architecture, "a model").head.classes) +
                 ".") {}

  WeightUse of(const std::string& name, ParameterRole role) const {
    if (tables_.contains(name)) return WeightUse::embedding;
    switch (role) {
      case ParameterRole::weight:
        return name.starts_with(classes_) ? WeightUse::head : WeightUse::product;
      case ParameterRole::bias:
        return WeightUse::bias;
      case ParameterRole::gain:
        return WeightUse::gain;
      default:
        return WeightUse::other;
    }
  }

 private:
  std::set<std::string> tables_;
  std::string classes_;  // prefix of the classification weights
};

AccountRow packed_row(const Node& node, const Parts& parts) {
  const Format& format = node.attributes().get<Format>("format");
  const PackedLayout layout =
      packed_layout(format, resolve(node.types()[0].shape, {}),
                    parse_arrangement(node.attributes().get<std::string>("arrangement")));
  std::string name = node.inputs()[0].node->name();
  name.resize(name.rfind('.'));
  AccountRow row{
      .part = parts.of(name, parse_parameter_role(node.attributes().get<std::string>("role"))),
      .format = to_string(format),
      .tensors = 1,
      .elements = elements_of(node.types()[0])};
  row.fp32_bytes = 4 * row.elements;
  row.code_bytes = layout.code_bytes_without_padding();
  row.shared_bytes = layout.bytes_without_padding() - row.code_bytes;
  row.padding_bytes = layout.bytes() - layout.bytes_without_padding();
  for (std::size_t i = 2; i < node.inputs().size(); ++i)
    row.shared_bytes += bytes_of(node.inputs()[i].type());
  return row;
}

void add(std::map<std::tuple<WeightUse, bool, std::string>, AccountRow>& rows, AccountRow row) {
  AccountRow& sum = rows[{row.part, row.format == kUnpackedFormat, row.format}];
  sum.part = row.part;
  sum.format = row.format;
  sum.tensors += row.tensors;
  sum.elements += row.elements;
  sum.fp32_bytes += row.fp32_bytes;
  sum.code_bytes += row.code_bytes;
  sum.shared_bytes += row.shared_bytes;
  sum.padding_bytes += row.padding_bytes;
}

// "-67.22"; tiny changes have as many digits as needed: "-0.004".
std::string points_of(double change) {
  const double points = 100 * change;
  return std::abs(points) < 0.005 ? fmt::format("{:+.1g}", points) : fmt::format("{:+.2f}", points);
}

}  // namespace

std::string_view to_string(WeightUse part) {
  switch (part) {
    case WeightUse::product:
      return "products";
    case WeightUse::embedding:
      return "embeddings";
    case WeightUse::head:
      return "head";
    case WeightUse::bias:
      return "biases";
    case WeightUse::gain:
      return "norms' gains";
    case WeightUse::other:
      break;
  }
  return "buffers and states";
}

double MemoryAccount::saving(std::int64_t kept) const {
  return fp32_bytes == 0 ? 0 : 1 - static_cast<double>(kept) / static_cast<double>(fp32_bytes);
}

double MemoryAccount::theoretical_saving() const {
  double before = 0, after = 0;
  for (const AccountRow& row : rows) {
    if (row.format == kUnpackedFormat) continue;
    before += static_cast<double>(row.fp32_bytes);
    after += static_cast<double>(row.code_bytes + row.shared_bytes);
  }
  return before == 0 ? 0 : 1 - after / before;
}

MemoryAccount memory_account(const Model& model, const fs::path& folder, const Session& session) {
  const Parts parts(model);
  std::map<std::tuple<WeightUse, bool, std::string>, AccountRow> rows;
  std::set<const Node*> accounted;  // the packed weights and their states
  MemoryAccount account;
  for (const Node* node : model.graph.of_kind(NodeKind::operation)) {
    if (!is_unpacked(*node)) continue;
    add(rows, packed_row(*node, parts));
    for (const Value& input : node->inputs()) accounted.insert(input.node);
  }
  Graph inference = forward_graph(model);
  fuse_unpack(inference, session);
  for (const Node* node : inference.of_kind(NodeKind::operation))
    if (is_unpacked(*node))
      account.transient_bytes = std::max(account.transient_bytes, bytes_of(node->types()[0]));
  for (const Node* parameter : model.graph.of_kind(NodeKind::parameter)) {
    if (accounted.contains(parameter) || !info(parameter->role()).saved) continue;
    const std::int64_t bytes = bytes_of(parameter->types()[0]);
    const bool counted = info(parameter->role()).counted;
    add(rows, {.part = parts.of(parameter->name(), parameter->role()),
               .format = kUnpackedFormat,
               .tensors = 1,
               .elements = elements_of(parameter->types()[0]),
               .fp32_bytes = counted ? bytes : 0,  // format states do not exist before packing
               .code_bytes = bytes});
  }
  for (const auto& [key, row] : rows) {
    account.fp32_bytes += row.fp32_bytes;
    account.bytes += row.bytes();
    account.rows.push_back(row);
  }
  if (!folder.empty()) account.file_bytes = weight_file_bytes(folder);
  if (is_packed(model) && path_exists(folder / kHoneWeightsFile)) {
    account.left_out_bytes = account.bytes;
    for (const auto& [name, tensor] : read_safetensors(folder / kHoneWeightsFile).tensors)
      account.left_out_bytes -= static_cast<std::int64_t>(tensor.size_bytes());
  }
  return account;
}

std::vector<SavingStep> saving_steps(const MemoryAccount& account) {
  using Kind = SavingStep::Kind;
  const double theoretical = account.theoretical_saving();
  if (theoretical == 0 && account.left_out_bytes == 0) return {};
  const auto whole = static_cast<double>(account.fp32_bytes);
  std::vector<SavingStep> steps;
  if (theoretical != 0)
    steps.push_back({.kind = Kind::theoretical, .name = "by the formats", .saving = theoretical});
  const auto add = [&](std::string name, std::int64_t bytes, double cost) {
    if (bytes == 0) return;
    steps.push_back({.name = std::move(name),
                     .bytes = bytes,
                     .change = -cost,
                     .saving = (steps.empty() ? 0 : steps.back().saving) - cost});
  };
  const auto measured = [&](std::string name, std::int64_t bytes) {
    steps.push_back({.kind = Kind::measured,
                     .name = std::move(name),
                     .bytes = bytes,
                     .saving = account.saving(bytes)});
  };
  std::int64_t padding = 0;
  for (const AccountRow& row : account.rows) {
    padding += row.padding_bytes;
    if (row.format != kUnpackedFormat || theoretical == 0) continue;
    // fp32 parameters would have been saved at the same rate; format states did not exist before.
    add(fmt::format("{} in fp32", to_string(row.part)), row.bytes(),
        row.fp32_bytes == 0 ? static_cast<double>(row.bytes()) / whole
                            : theoretical * static_cast<double>(row.fp32_bytes) / whole);
  }
  add("padding to whole panels and bytes", padding, static_cast<double>(padding) / whole);
  measured("in memory", account.bytes);
  if (!account.file_bytes) return steps;
  add("zeros omitted from the file", account.left_out_bytes,
      -static_cast<double>(account.left_out_bytes) / whole);
  const std::int64_t beyond = *account.file_bytes - account.bytes + account.left_out_bytes;
  add("names and offsets in the file", beyond, static_cast<double>(beyond) / whole);
  measured("on disk", *account.file_bytes);
  return steps;
}

std::vector<std::string> reasons(const MemoryAccount& account) {
  std::vector<std::string> lines;
  for (const SavingStep& step : saving_steps(account)) {
    switch (step.kind) {
      case SavingStep::Kind::theoretical:
        lines.push_back(fmt::format(
            "{:.2f}% saved by the formats, scales included, on the weights that have them",
            100 * step.saving));
        break;
      case SavingStep::Kind::reason:
        lines.push_back(fmt::format("{} ({}): {} points", step.name,
                                    human_bytes(static_cast<double>(step.bytes)),
                                    points_of(step.change)));
        break;
      case SavingStep::Kind::measured:
        lines.push_back(fmt::format("total: {:.2f}% {}", 100 * step.saving, step.name));
    }
  }
  return lines;
}

std::span<const EnumName> enum_names(SavingStep::Kind) {
  using Kind = SavingStep::Kind;
  static constexpr EnumName kWords[] = {{static_cast<int>(Kind::theoretical), "theoretical"},
                                        {static_cast<int>(Kind::reason), "reason"},
                                        {static_cast<int>(Kind::measured), "measured"}};
  return kWords;
}

const Fields& fields_of(const SavingStep*) {
  using S = SavingStep;
  static const Fields fields = describe<S>(
      "saving_step", "A step from the saving of the formats to the measured one.",
      field<&S::kind>("kind",
                      "theoretical: of the weights that have formats; reason: why less is saved; "
                      "measured: in memory or on disk."),
      field<&S::name>("name", "Its name."),
      field<&S::bytes>("bytes", Unit::bytes,
                       "Size that the reason refers to, or the measured total."),
      field<&S::change>("change", "Change of the saving by the reason."),
      field<&S::saving>("saving", "The saving after this step, as a share of `fp32_bytes`."));
  return fields;
}

const Fields& fields_of(const AccountRowResult*) {
  using A = AccountRowResult;
  static const Fields fields = describe<A>(
      "account_row", "Weights of one kind, stored in one format.",
      field<&A::part>("part",
                      "products, embeddings, head, biases, norms' gains, buffers and states, or "
                      "all.",
                      "Weights"),
      field<&A::format>("format", "Their format; fp32: not packed; null: the row of all weights.",
                        "Format"),
      field<&A::tensors>("tensors", "Number of tensors.", "Tensors"),
      field<&A::elements>("elements", "Elements in them.", "Elements"),
      field<&A::fp32_bytes>("fp32_bytes", Unit::bytes, "Size in fp32; 0 for what formats added.",
                            "In fp32"),
      field<&A::code_bytes>("code_bytes", Unit::bytes, "Size of the codes, or of the values.",
                            "Codes"),
      field<&A::shared_bytes>("shared_bytes", Unit::bytes,
                              "Size of scales and of the state of the format.", "Scales"),
      field<&A::padding_bytes>("padding_bytes", Unit::bytes,
                               "Size of the padding to whole panels and bytes.", "Padding"),
      field<&A::bytes>("bytes", Unit::bytes, "Total size.", "In all"),
      field<&A::saving>("saving", Unit::share,
                        "Saved of `fp32_bytes`; null: formats added these weights.", "Saved"));
  return fields;
}

const Fields& fields_of(const MemoryAccountResult*) {
  using M = MemoryAccountResult;
  static const Fields fields = describe<M>(
      "account", "The memory use of a packed model by kind of weight.",
      field<&M::parts>("parts", "Weights of one kind and format each, and all of them."),
      field<&M::fp32_bytes>("fp32_bytes", Unit::bytes, "Size of all weights in fp32."),
      field<&M::memory_bytes>("memory_bytes", Unit::bytes, "Size as they are stored in memory."),
      field<&M::disk_bytes>("disk_bytes", Unit::bytes,
                            "Size of the file of weights; null: there is no file."),
      field<&M::transient_bytes>("transient_bytes", Unit::bytes,
                                 "The largest weight that a run unpacks as a whole."),
      field<&M::theoretical_saving>(
          "theoretical_saving", Unit::share,
          "1 - bits / 32 of the packed weights, counting scales and nothing else."),
      field<&M::memory_saving>("memory_saving", Unit::share, "Saved of `fp32_bytes` in memory."),
      field<&M::disk_saving>("disk_saving", Unit::share,
                             "Saved of them on disk; null: there is no file."),
      field<&M::steps>("steps", "From the theoretical saving to the measured ones."),
      field<&M::reasons>("reasons", "The steps as sentences."));
  return fields;
}

MemoryAccountResult account_result(const MemoryAccount& account) {
  MemoryAccountResult result{.parts = {},
                             .fp32_bytes = account.fp32_bytes,
                             .memory_bytes = account.bytes,
                             .disk_bytes = account.file_bytes,
                             .transient_bytes = account.transient_bytes,
                             .theoretical_saving = account.theoretical_saving(),
                             .memory_saving = account.resident_saving(),
                             .steps = saving_steps(account),
                             .reasons = reasons(account)};
  if (account.file_bytes) result.disk_saving = account.saving(*account.file_bytes);
  AccountRowResult all{.part = "all", .fp32_bytes = account.fp32_bytes, .bytes = account.bytes};
  const auto set_saving = [](AccountRowResult& row) {
    if (row.fp32_bytes > 0)
      row.saving = 1 - static_cast<double>(row.bytes) / static_cast<double>(row.fp32_bytes);
  };
  for (const AccountRow& row : account.rows) {
    set_saving(result.parts.emplace_back(AccountRowResult{.part = std::string(to_string(row.part)),
                                                          .format = row.format,
                                                          .tensors = row.tensors,
                                                          .elements = row.elements,
                                                          .fp32_bytes = row.fp32_bytes,
                                                          .code_bytes = row.code_bytes,
                                                          .shared_bytes = row.shared_bytes,
                                                          .padding_bytes = row.padding_bytes,
                                                          .bytes = row.bytes()}));
    all.tensors += row.tensors;
    all.elements += row.elements;
    all.code_bytes += row.code_bytes;
    all.shared_bytes += row.shared_bytes;
    all.padding_bytes += row.padding_bytes;
  }
  set_saving(all);
  result.parts.push_back(std::move(all));
  return result;
}

Table account_table(const MemoryAccountResult& account) { return headed_table(account.parts); }

Figure account_figure(const std::vector<NamedSteps>& accounts, const std::string& title) {
  constexpr int kAround = 100, kBar = 12;
  // Merges the rows of all accounts, keeping the order of each.
  std::vector<std::string> names;
  for (const NamedSteps& one : accounts) {
    auto behind = names.begin();
    for (const SavingStep& step : one.steps) {
      const auto found = std::ranges::find(names, step.name);
      behind = (found != names.end() ? found : names.insert(behind, step.name)) + 1;
    }
  }
  Panel panel{.x = {.label = "Saved of the weights in fp32 (%)"}};
  for (std::size_t row = 0; row < names.size(); ++row)
    panel.y.ticks.push_back({-static_cast<double>(row), names[row]});
  panel.y.range = Range{0.6 - static_cast<double>(names.size()), 0.6};
  double least = 0;
  for (const NamedSteps& one : accounts) {
    Series series{.label = one.name, .draw = Draw::bars, .with_names = true};
    for (const SavingStep& step : one.steps) {
      const auto row = std::ranges::find(names, step.name) - names.begin();
      const bool is_reason = step.kind == SavingStep::Kind::reason;
      least = std::min(least, 100 * step.saving);
      series.points.push_back(
          {.x = 100 * step.saving,
           .y = -static_cast<double>(row),
           .name = is_reason ? points_of(step.change) : fmt::format("{:.2f}%", 100 * step.saving)});
    }
    panel.series.push_back(std::move(series));
  }
  panel.x.range = Range{least, 105};
  const int row = kBar * (static_cast<int>(accounts.size()) + 1);
  return {.title = title,
          .panels = {panel},
          .width = 1000,
          .height = kAround + row * static_cast<int>(names.size())};
}

}  // namespace hone
