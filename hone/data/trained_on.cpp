#include "hone/data/trained_on.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <map>

#include "hone/base/error.h"
#include "hone/base/folder_record.h"
#include "hone/base/text.h"
#include "hone/tensor/safetensors.h"

namespace hone {
namespace {

// Fingerprints of version 1 were case-sensitive.
constexpr const char* kVersion = "2";

struct Row {
  const char* tensor;
  RowSet TrainedOn::*set;
};
constexpr Row kRows[] = {{"trained_on", &TrainedOn::trained},
                         {"chosen_on", &TrainedOn::chosen},
                         {"calibrated_on", &TrainedOn::calibrated}};

constexpr std::pair<const char*, std::string NamedColumns::*> kColumnKeys[] = {
    {"text_column", &NamedColumns::text},
    {"text_pair_column", &NamedColumns::text_pair},
    {"label_column", &NamedColumns::label}};
constexpr std::pair<const char*, std::string TableForm::*> kFormKeys[] = {
    {"encoding", &TableForm::encoding},
    {"quoting", &TableForm::quoting},
    {"json_field", &TableForm::json_field}};

// A hash is stored as the signed integer with the same bits.
RowSet to_set(const std::vector<std::uint64_t>& rising) {
  std::vector<std::int64_t> values;
  values.reserve(rising.size());
  for (const std::uint64_t hash : rising) values.push_back(std::bit_cast<std::int64_t>(hash));
  return RowSet(Tensor::of<std::int64_t>({std::ssize(values)}, values));
}

RowSet checked_set(const Tensor& tensor, const char* name) {
  user_check(tensor.dtype() == DType::i64 && tensor.sizes().size() == 1,
             "tensor '{}': expected a list of i64", name);
  RowSet set(tensor);
  user_check(std::ranges::adjacent_find(set, std::greater_equal()) == set.end(),
             "tensor '{}': the hashes are not in ascending order", name);
  return set;
}

std::optional<TrainedOn> parse(const Safetensors& file) {
  const auto text = [&](const char* key) {
    const auto found = file.metadata.find(key);
    return found == file.metadata.end() ? std::string() : found->second;
  };
  if (text("hone.trained_on") == "1") return std::nullopt;
  user_check(text("hone.trained_on") == kVersion, "expected version {} of the record, got '{}'",
             kVersion, text("hone.trained_on"));
  TrainedOn record;
  record.complete = text("complete") == "true";
  record.untrained_head = text("untrained_head") == "true";
  for (const auto& [key, column] : kColumnKeys) record.columns.*column = text(key);
  for (const auto& [key, value] : kFormKeys) record.columns.form.*value = text(key);
  record.columns.form.no_header = text("no_header") == "true";
  record.data = split(text("data"), ' ');
  for (const Row& row : kRows) {
    const auto tensor = file.tensors.find(row.tensor);
    if (tensor != file.tensors.end()) record.*row.set = checked_set(tensor->second, row.tensor);
  }
  return record;
}

TrainedOn begun(const std::optional<TrainedOn>& before, const std::string& data) {
  TrainedOn record = before.value_or(TrainedOn{.complete = false});
  const bool known = std::ranges::find(record.data, data) != record.data.end();
  if (!known && !data.empty()) record.data.push_back(data);
  return record;
}

// Returns whether the columns are the defaults.
bool are_usual(const NamedColumns& columns) {
  return columns == NamedColumns{} || columns == NamedColumns{.text = "text", .label = "label"};
}

}  // namespace

RowSet::RowSet(std::initializer_list<std::uint64_t> rising) : RowSet(to_set(rising)) {}

// The language allows reading signed integers as unsigned ones of the same size.
const std::uint64_t* RowSet::begin() const {
  return empty() ? nullptr
                 : reinterpret_cast<const std::uint64_t*>(hashes_.values<std::int64_t>().data());
}

bool RowSet::operator==(const RowSet& other) const { return std::ranges::equal(*this, other); }

RowSet row_set(std::vector<std::uint64_t> hashes) {
  std::ranges::sort(hashes);
  hashes.erase(std::unique(hashes.begin(), hashes.end()), hashes.end());
  return to_set(hashes);
}

RowSet united(const RowSet& a, const RowSet& b) {
  std::vector<std::uint64_t> both;
  both.reserve(a.size() + b.size());
  std::ranges::set_union(a, b, std::back_inserter(both));
  return to_set(both);
}

bool contains(const RowSet& set, std::uint64_t hash) {
  return std::ranges::binary_search(set, hash);
}

TrainedOn after_training(const std::optional<TrainedOn>& before, const std::string& data,
                         std::vector<std::uint64_t> trained, std::vector<std::uint64_t> set_aside) {
  TrainedOn record = begun(before, data);
  record.untrained_head = false;
  record.trained = united(record.trained, row_set(std::move(trained)));
  record.chosen = united(record.chosen, row_set(std::move(set_aside)));
  return record;
}

TrainedOn after_calibration(const std::optional<TrainedOn>& before, const std::string& data,
                            std::vector<std::uint64_t> calibrated) {
  TrainedOn record = begun(before, data);
  record.calibrated = united(record.calibrated, row_set(std::move(calibrated)));
  return record;
}

void remember_columns(TrainedOn& record, const NamedColumns& columns) {
  if (!columns.text.empty()) record.columns = columns;
}

std::optional<TrainedOn> without_rows(const std::optional<TrainedOn>& record) {
  if (!record || (!record->untrained() && are_usual(record->columns))) return std::nullopt;
  return TrainedOn{.complete = record->nothing(),
                   .untrained_head = record->untrained_head,
                   .columns = record->columns};
}

std::string unknown_texts(const std::string& name, const std::optional<TrainedOn>& record) {
  if (record && record->complete) return "";
  if (record && record->known())
    return fmt::format(
        "the weights from which {} was trained have no record of their training data, which may "
        "include these examples",
        name);
  return fmt::format(
      "there is no record of the training data of {}, which may include these examples", name);
}

std::optional<TrainedOn> united(const std::optional<TrainedOn>& a,
                                const std::optional<TrainedOn>& b) {
  if (!a && !b) return std::nullopt;
  TrainedOn both = a.value_or(TrainedOn{.complete = false});
  const TrainedOn other = b.value_or(TrainedOn{.complete = false});
  both.untrained_head = both.untrained() || other.untrained();
  for (const Row& row : kRows) both.*row.set = united(both.*row.set, other.*row.set);
  if (both.columns == NamedColumns{}) both.columns = other.columns;
  both.complete = both.complete && other.complete;
  for (const std::string& data : other.data)
    if (std::ranges::find(both.data, data) == both.data.end()) both.data.push_back(data);
  return both;
}

bool is_training_data(std::span<const std::uint64_t> hashes, const TrainedOn& record) {
  const RowSet rows = row_set({hashes.begin(), hashes.end()});
  const auto known = static_cast<std::size_t>(std::ranges::count_if(
      rows, [&](std::uint64_t hash) { return contains(record.trained, hash); }));
  return known > 0 && 2 * known >= std::min(rows.size(), record.trained.size());
}

std::string distrust_reason(const fs::path& folder) {
  if (!path_exists(folder / kTrainedOnFile)) return "";
  const std::string fault = record_fault(folder);
  return fault.empty()
             ? ""
             : fmt::format("{}; so the training data of the model in {} counts as unknown", fault,
                           folder.string());
}

std::optional<TrainedOn> read_trained_on(const fs::path& folder) {
  const fs::path path = folder / kTrainedOnFile;
  if (!path_exists(path) || !distrust_reason(folder).empty()) return std::nullopt;
  const Safetensors file = read_safetensors(path);
  try {
    return parse(file);
  } catch (const UserError& reason) {
    fail("{}: {}; if you remove this file, the model opens, but its training data is unknown",
         path.string(), reason.what());
  }
}

void write_trained_on(const std::optional<TrainedOn>& record, const fs::path& folder) {
  if (!record) return;
  TensorMap tensors;
  for (const Row& row : kRows)
    if (const RowSet& set = *record.*row.set; !set.empty())
      tensors.emplace(row.tensor, set.tensor());
  std::map<std::string, std::string> metadata = {
      {"hone.trained_on", kVersion},
      {"complete", record->complete ? "true" : "false"},
      {"data", fmt::format("{}", fmt::join(record->data, " "))}};
  for (const auto& [key, column] : kColumnKeys)
    if (!(record->columns.*column).empty()) metadata.emplace(key, record->columns.*column);
  const TableForm& form = record->columns.form;
  for (const auto& [key, value] : kFormKeys)
    if (!(form.*value).empty()) metadata.emplace(key, form.*value);
  if (form.no_header) metadata.emplace("no_header", "true");
  if (record->untrained_head) metadata.emplace("untrained_head", "true");
  write_safetensors(folder / kTrainedOnFile, tensors, metadata);
}

}  // namespace hone
