#include "hone/jobs/value_kinds.h"

#include <fmt/format.h>

#include "hone/data/synthetic.h"
#include "hone/formats/format.h"
#include "hone/metrics/metric.h"
#include "hone/models/model_source.h"
#include "hone/runtime/library.h"

namespace hone {
namespace {

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const auto& [name, def] : builtin_formats()) names.push_back(name);
  return names;
}

std::vector<std::string> format_names_and_none() {
  std::vector<std::string> names = format_names();
  names.emplace_back("none");
  return names;
}

std::vector<std::string> data_names() {
  std::vector<std::string> names;
  for (const Generator& generator : generators())
    names.push_back(fmt::format("{}{}", kSyntheticPrefix, generator.name));
  return names;
}

std::vector<std::string> pass_names() {
  std::vector<std::string> names;
  for (const auto& [name, def] : builtin_library().passes) names.push_back(name);
  return names;
}

constexpr std::string_view kFigureEndings[] = {".svg", ".png", ".tsv", ".gp"};

}  // namespace

constinit const ValueKind kModelValue = {
    .shown = "MODEL", .files = true, .choices = new_model_names, .access = Access::reads_model};
constinit const ValueKind kDataValue = {
    .shown = "DATA", .files = true, .choices = data_names, .access = Access::reads_data};
constinit const ValueKind kAdapterValue = {
    .shown = "FOLDER", .folders = true, .access = Access::reads_adapter};
constinit const ValueKind kOutputFolderValue = {
    .shown = "FOLDER", .folders = true, .access = Access::writes};
constinit const ValueKind kReadFileValue = {
    .shown = "FILE", .files = true, .access = Access::reads_file};
constinit const ValueKind kWrittenFileValue = {
    .shown = "FILE", .files = true, .access = Access::writes};
constinit const ValueKind kFigureValue = {
    .shown = "FILE", .files = true, .access = Access::writes, .extensions = kFigureEndings};
constinit const ValueKind kFormatValue = {
    .shown = "FORMAT", .choices = format_names, .format = true};
constinit const ValueKind kFormatOrNoneValue = {
    .shown = "FORMAT", .choices = format_names_and_none, .format = true};
constinit const ValueKind kFormatPairValue = {
    .shown = "FORMAT", .choices = format_names_and_none, .format = true, .separator = "/"};
constinit const ValueKind kFormatOrNoneListValue = {
    .shown = "LIST", .choices = format_names_and_none, .format = true, .separator = ","};
constinit const ValueKind kFormatListValue = {
    .shown = "LIST", .choices = format_names, .format = true, .separator = ","};
constinit const ValueKind kStorageValue = {
    .shown = "FILE|ADDRESS", .files = true, .access = Access::reads_file};
constinit const ValueKind kPassValue = {.shown = "PASS", .choices = pass_names};
constinit const ValueKind kMetricValue = {.shown = "METRIC", .choices = metric_names};

}  // namespace hone
