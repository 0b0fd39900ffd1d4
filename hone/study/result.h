#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hone/base/json.h"
#include "hone/data/data_facts.h"

/// Results in JSON. Each, printed or in a file, begins with the version of its schema (docs/reference/json.md) and the
/// command.
namespace hone {

/// Increases when a key is removed or changes its meaning or type. New keys do not change it.
inline constexpr int kSchemaVersion = 1;

/// Returns `schema_version` and `command`, followed by the keys of `fields`.
Json result_of(std::string_view command, const Json& fields);

/// Meanings of keys that many results share.
inline constexpr std::string_view kArithmeticMeaning =
    "fp32; bf16, fp16: values are, sums are in fp32; simulated: values are rounded, sums are in "
    "fp32; packed: weights are stored in their formats, too; native: products are of codes as "
    "well.";
inline constexpr std::string_view kWeightBitsMeaning =
    "Of linear and convolution weights, shared scales included; 32 for those without a format.";

struct SubjectResult {
  std::string model;
  DataResult data = {};
  std::optional<MeasuredSplitResult> measured = {};  ///< none for a split without rows
};
const Fields& fields_of(const SubjectResult*);
SubjectResult subject_result(const std::string& model, const DataIdentity& data,
                             const MeasuredSplit& part);

/// Returns the keys of an object, in their order.
std::vector<std::string> keys_of(const Json& object);

/// Returns the member of an object; a null value if it is missing.
const Json& value_at(const Json& value, const std::string& key);

/// Writes the result as `folder`/results.json. Throws `UserError`.
void write_results(std::string_view command, const Json& fields, const fs::path& folder);

/// Metrics in every result of a repeated job: their key in it, and a name with the split: {"after", "after, test"}.
struct MetricsKey {
  std::string key;
  std::string name;
  /// Cautions for reading them, if the result does not contain these.
  std::vector<std::string> cautions = {};
};

/// Returns "n = 1,072 (effective 850)" from the `eval_` keys of a result.
std::string sample_size_text(const Json& metrics);

/// Returns `split_text` (hone/metrics/evidence.h) of the split with these metrics and their `cautions`.
std::string split_text(const std::string& split, const Json& metrics);
/// The same for these metrics in a result.
std::string split_text(const MetricsKey& metrics, const Json& result);

/// Returns the cautions for reading a result's metrics with `split` and `n`, a few words each: its `cautions`, and an
/// effective size below n.
std::vector<std::string> cautions_of(const Json& metrics);

}  // namespace hone
