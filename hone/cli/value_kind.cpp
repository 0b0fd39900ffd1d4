#include "hone/cli/value_kind.h"

#include <fmt/format.h>

#include <algorithm>

#include "hone/cli/output_schema/output_schema.h"
#include "hone/cli/settings.h"
#include "hone/data/synthetic.h"
#include "hone/formats/format.h"
#include "hone/jobs/search/search.h"
#include "hone/labs/lab.h"
#include "hone/metrics/metric.h"
#include "hone/models/model_source.h"
#include "hone/runtime/library.h"
#include "hone/search/sampler.h"
#include "hone/train/optimizer.h"

namespace hone {
namespace {

struct ValueKindRow {
  std::vector<std::string_view> arguments;
  ValueKind kind;
};

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const auto& [name, def] : builtin_formats()) names.push_back(name);
  return names;
}

std::vector<std::string> data_names() {
  std::vector<std::string> names;
  for (const Generator& generator : generators())
    names.push_back(fmt::format("{}{}", kSyntheticPrefix, generator.name));
  return names;
}

std::vector<std::string> schema_documents() {
  std::vector<std::string> names;
  for (const Document& document : documents()) names.emplace_back(document.name);
  return names;
}

std::vector<std::string> pass_names() {
  std::vector<std::string> names;
  for (const auto& [name, def] : builtin_library().passes) names.push_back(name);
  return names;
}

const std::vector<ValueKindRow>& value_kind_rows() {
  static const std::vector<ValueKindRow> table = {
      {{"MODEL", "MODELS", "A", "B", "model", "distill"},
       {.shown = "MODEL",
        .files = true,
        .words = fresh_model_names(),
        .access = Access::reads_model}},
      {{"data"},
       {.shown = "DATA", .files = true, .words = data_names(), .access = Access::reads_data}},
      {{"output_dir"}, {.shown = "FOLDER", .folders = true, .access = Access::writes}},
      {{"recipe", "input", "plugin", "PIPELINE", "replay"},
       {.shown = "FILE", .files = true, .access = Access::reads_file}},
      {{"output", "export", "for_optuna_3_1"},
       {.shown = "FILE", .files = true, .access = Access::writes}},
      {{"figure"},
       {.shown = "FILE",
        .files = true,
        .access = Access::writes,
        .written_as = {".svg", ".png", ".tsv", ".gp"}}},
      {{"FORMAT", "format", "qat", "native", "input_format", "weight_format", "bias_format",
        "output_format", "choice"},
       {.shown = "FORMAT", .words = format_names()}},
      {{"split"},
       {.shown = "train|validation|test|all", .words = {"train", "validation", "test", "all"}}},
      {{"protocol"}, {.shown = "honest|original", .words = {"honest", "original"}}},
      {{"metric_for_best_model"}, {.shown = "METRIC", .words = metric_names()}},
      {{"problem_type"}, {.shown = "TASK", .words = task_names()}},
      {{"class_weights"}, {.shown = "balanced|LIST", .words = {"balanced"}}},
      {{"lr_scheduler_type"}, {.shown = "SCHEDULE", .words = schedule_names()}},
      {{"report_to"}, {.shown = "none|tensorboard", .words = {"none", "tensorboard"}}},
      {{"calibration"},
       {.shown = "minmax|percentile|mse", .words = {"minmax", "percentile", "mse"}}},
      {{"DOCUMENT"}, {.shown = "DOCUMENT", .words = schema_documents()}},
      {{"FOLDERS"}, {.shown = "FOLDER", .folders = true, .access = Access::reads_runs}},
      {{"html"}, {.shown = "FILE|FOLDER", .files = true, .access = Access::writes}},
      {{"sort"}, {.shown = "[-]COLUMN", .takes_minus = true}},
      {{"columns"}, {.shown = "LIST"}},
      {{"SHELL"}, {.shown = "bash|zsh|fish", .words = {"bash", "zsh", "fish"}}},
      {{"text_column", "text_pair_column", "label_column", "id_column"}, {.shown = "COLUMN"}},
      {{"NAME"}, {.shown = "NAME", .words = lab_names()}},
      {{"fidelity"},
       {.shown = "quick|paper|full", .words = {std::begin(kFidelities), std::end(kFidelities)}}},
      {{"adapter", "adapter_a", "adapter_b"},
       {.shown = "FOLDER", .folders = true, .access = Access::reads_adapter}},
      {{"ACTION"}, {.shown = "merge", .words = {"merge"}}},
      {{"lora"}, {.shown = "OPTIONS"}},
      {{"OPTION", "set"}, {.shown = "NAME=VALUE"}},
      {{"limit", "shrink"}, {.shown = "SIZE"}},
      {{"dump_passes", "stages"}, {.shown = "FOLDER", .folders = true, .access = Access::writes}},
      {{"PASS", "skip_pass"}, {.shown = "PASS", .words = pass_names()}},
      {{"freeze", "tensor", "target", "together"}, {.shown = "GLOB"}},
      {{"rule"}, {.shown = "RULE"}},
      {{"widths", "sparsities", "formats", "methods", "inputs", "fields", "elements", "group",
        "options", "operands", "executor"},
       {.shown = "LIST"}},
      {{"budget"}, {.shown = "BUDGET"}},
      {{"goal"}, {.shown = "both|size|latency", .words = {"both", "size", "latency"}}},
      {{"only"}, {.shown = "LIST", .words = {"trim", "prune", "quantize", "allocate", "train"}}},
      {{"method"}, {.shown = "l1|random", .words = {"l1", "random"}}},
      {{"scope"}, {.shown = "local|global", .words = {"local", "global"}}},
      {{"mode"}, {.shown = "exact|mase", .words = {"exact", "mase"}}},
      {{"structure"}, {.shown = "STRUCTURE", .words = {"weights", "2:4"}}},
      {{"schedule"}, {.shown = "one_shot|cubic", .words = {"one_shot", "cubic"}}},
      {{"sampler"}, {.shown = "SAMPLER", .words = sampler_names()}},
      {{"pruner"}, {.shown = "PRUNER", .words = pruner_names()}},
      {{"profile"}, {.shown = "VERSION"}},
      {{"storage"}, {.shown = "FILE|ADDRESS", .files = true}},
      {{"STORAGE", "beside"},
       {.shown = "FILE|ADDRESS", .files = true, .access = Access::reads_file}},
      {{"STUDIES", "STUDY"}, {.shown = "STUDY"}},
      {{"study"}, {.shown = "NAME"}},
      {{"to"}, {.shown = "bf16|fp32", .words = {"bf16", "fp32"}}},
      {{"profile"}, {.shown = "VERSION", .words = tpe_profile_names()}},
      {{"process"}, {.shown = "both|warm|this", .words = {"both", "warm", "this"}}},
      {{"function"}, {.shown = "cont|mixed", .words = {"cont", "mixed"}}},
  };
  return table;
}

// The name of something that is read or written.
CLI::Validator not_empty(std::string_view shown) {
  const auto check = [shown](const std::string& text) -> std::string {
    return text.empty() ? fmt::format("expected {}, got ''", shown) : "";
  };
  return CLI::Validator(check, "");
}

}  // namespace

const ValueKind* value_kind(const CLI::Option& option) {
  if (is_flag(option)) return nullptr;
  const std::string name = argument_name(option);
  for (const ValueKindRow& row : value_kind_rows())
    if (std::ranges::find(row.arguments, name) != row.arguments.end()) return &row.kind;
  return nullptr;
}

void apply_value_kinds(CLI::App& app) {
  for (CLI::Option* option : app.get_options({})) {
    const ValueKind* kind = value_kind(*option);
    if (kind == nullptr) continue;
    option->type_name(std::string(kind->shown));
    if (kind->access != Access::none) option->check(not_empty(kind->shown));
  }
}

}  // namespace hone
