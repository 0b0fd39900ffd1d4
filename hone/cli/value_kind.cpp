#include "hone/cli/value_kind.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "hone/base/text.h"
#include "hone/cli/output_schema/output_schema.h"
#include "hone/cli/settings.h"
#include "hone/data/synthetic.h"
#include "hone/formats/format.h"
#include "hone/metrics/metric.h"
#include "hone/models/model_source.h"
#include "hone/runtime/library.h"
#include "hone/search/sampler.h"

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

// What also stands for fp32.
std::vector<std::string> format_names_and_none() {
  std::vector<std::string> names = format_names();
  names.emplace_back("none");
  return names;
}

// Gates without their points, of metrics that are counted in points.
std::vector<std::string> gate_beginnings() {
  std::vector<std::string> beginnings;
  for (const std::string& name : metric_names())
    for (const Task task : {Task::single_label, Task::regression, Task::multi_label})
      if (const Metric* metric = metric_called(task, name)) {
        if (metric->greater_is_better) beginnings.push_back(name + ">=-");
        break;
      }
  return beginnings;
}

std::vector<std::string> data_names() {
  std::vector<std::string> names;
  for (const Generator& generator : generators())
    names.push_back(fmt::format("{}{}", kSyntheticPrefix, generator.name));
  return names;
}

std::vector<std::string> schema_documents() {
  std::vector<std::string> names;
  for (const SchemaDocument& document : documents()) names.emplace_back(document.name);
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
      {{"data", "check"},
       {.shown = "DATA", .files = true, .words = data_names(), .access = Access::reads_data}},
      {{"output_dir"}, {.shown = "FOLDER", .folders = true, .access = Access::writes}},
      {{"recipe", "input", "plugin", "PIPELINE"},
       {.shown = "FILE", .files = true, .access = Access::reads_file}},
      {{"output", "export", "for_optuna_3_1"},
       {.shown = "FILE", .files = true, .access = Access::writes}},
      {{"figure"},
       {.shown = "FILE",
        .files = true,
        .access = Access::writes,
        .written_as = {".svg", ".png", ".tsv", ".gp"}}},
      {{"FORMAT", "format", "qat", "native"},
       {.shown = "FORMAT", .words = format_names(), .format = true}},
      {{"input_format", "weight_format", "bias_format", "output_format"},
       {.shown = "FORMAT", .words = format_names_and_none(), .format = true}},
      {{"candidate"},
       {.shown = "FORMAT", .words = format_names_and_none(), .format = true, .separator = "/"}},
      {{"formats"},
       {.shown = "LIST", .words = format_names_and_none(), .format = true, .separator = ","}},
      {{"gate"}, {.shown = "TEXT", .words = gate_beginnings(), .goes_on = true}},
      {{"metric_for_best_model"}, {.shown = "METRIC", .words = metric_names()}},
      {{"problem_type"}, {.shown = "TASK"}},
      {{"class_weights"}, {.shown = "balanced|LIST", .words = {"balanced"}}},
      {{"lr_scheduler_type"}, {.shown = "SCHEDULE"}},
      {{"lowercase", "strip_accents"}, {.shown = "true|false"}},
      {{"DOCUMENT"}, {.shown = "DOCUMENT", .words = schema_documents()}},
      {{"FOLDERS"}, {.shown = "FOLDER", .folders = true, .access = Access::reads_runs}},
      {{"html"}, {.shown = "FILE|FOLDER", .files = true, .access = Access::writes}},
      {{"sort"}, {.shown = "[-]COLUMN", .takes_minus = true}},
      {{"columns"}, {.shown = "LIST"}},
      {{"text_column", "text_pair_column", "label_column", "id_column"}, {.shown = "COLUMN"}},
      {{"quoting"}, {.shown = "none|minimal"}},
      {{"encoding"}, {.shown = "NAME", .words = {"utf-8", "utf-16", "latin-1", "windows-1252"}}},
      {{"split"}, {.shown = "SPLIT"}},
      {{"json_field"}, {.shown = "KEY"}},
      {{"label_map"}, {.shown = "ids|LIST", .words = {"ids"}}},
      {{"adapter", "adapter_a", "adapter_b"},
       {.shown = "FOLDER", .folders = true, .access = Access::reads_adapter}},
      {{"lora"}, {.shown = "OPTIONS"}},
      {{"OPTION", "set"}, {.shown = "NAME=VALUE"}},
      {{"limit", "shrink"}, {.shown = "SIZE"}},
      {{"dump_passes", "stages"}, {.shown = "FOLDER", .folders = true, .access = Access::writes}},
      {{"PASS", "skip_pass"}, {.shown = "PASS", .words = pass_names()}},
      {{"freeze", "tensor", "target", "same_format"}, {.shown = "GLOB"}},
      {{"rule"}, {.shown = "RULE"}},
      {{"widths", "sparsities", "methods", "inputs", "fields", "elements", "group", "operands",
        "executor", "only"},
       {.shown = "LIST"}},
      {{"NAME"}, {.shown = "NAME"}},
      {{"sampler"}, {.shown = "SAMPLER"}},
      {{"pruner"}, {.shown = "PRUNER"}},
      {{"optuna"}, {.shown = "VERSION", .words = tpe_profile_names()}},
      {{"budget"}, {.shown = "BUDGET"}},
      {{"structure"},
       {.shown = "STRUCTURE", .words = {"weights", "2:4", "heads", "neurons", "layers"}}},
      {{"storage"}, {.shown = "FILE|ADDRESS", .files = true}},
      {{"STORAGE", "beside"},
       {.shown = "FILE|ADDRESS", .files = true, .access = Access::reads_file}},
      {{"STUDIES", "STUDY"}, {.shown = "STUDY"}},
      {{"study"}, {.shown = "NAME"}},
  };
  return table;
}

constexpr std::size_t kShownChoices = 20;  // columns

// The words of `one_of`, where they are few and one of them is taken.
std::string shown_choices(const CLI::Option& option) {
  if (option.get_expected_max() != 1) return "";
  const std::string words = fmt::format("{}", fmt::join(choices(option), "|"));
  return words.size() <= kShownChoices ? words : "";
}

// The name of something that is read or written.
CLI::Validator not_empty(std::string_view shown) {
  const auto check = [shown](const std::string& text) -> std::string {
    return text.empty() ? fmt::format("expected {}, got ''", shown) : "";
  };
  return CLI::Validator(check, "");
}

}  // namespace

std::vector<std::string> choices(const CLI::Option& option) {
  // "TEXT:local|global": only `one_of` has a description.
  const std::string type = option.get_type_name();
  const std::size_t colon = type.find(':');
  return colon == std::string::npos ? std::vector<std::string>()
                                    : split(type.substr(colon + 1), '|');
}

const ValueKind* value_kind(const CLI::Option& option) {
  if (is_flag(option)) return nullptr;
  const std::string name = argument_name(option);
  for (const ValueKindRow& row : value_kind_rows())
    if (std::ranges::find(row.arguments, name) != row.arguments.end()) return &row.kind;
  return nullptr;
}

std::vector<std::string> offered_words(const CLI::Option& option) {
  std::vector<std::string> words = choices(option);
  const ValueKind* kind = value_kind(option);
  return !words.empty() || kind == nullptr ? words : kind->words;
}

void apply_value_kinds(CLI::App& app) {
  for (CLI::Option* option : app.get_options({})) {
    const ValueKind* kind = value_kind(*option);
    const std::string words = shown_choices(*option);
    if (!words.empty()) option->type_name(words);
    if (kind == nullptr) continue;
    if (words.empty()) option->type_name(std::string(kind->shown));
    if (kind->access != Access::none) option->check(not_empty(kind->shown));
  }
}

}  // namespace hone
