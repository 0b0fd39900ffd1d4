#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hone/base/json.h"
#include "hone/data/data_facts.h"

/// Results as programs read them. Every one of them, printed or in a file, begins with the version of the schema it
/// follows (docs/reference/json.md) and the command it comes from.
namespace hone {

/// Rises when a key changes its meaning, its type or goes away; new keys leave it as it is.
inline constexpr int kSchemaVersion = 1;

/// `schema_version` and `command`, and the keys of `fields` behind them.
Json result_of(std::string_view command, const Json& fields);

/// What keys that many results have mean.
inline constexpr std::string_view kArithmeticMeaning =
    "fp32; bf16, fp16: values are, sums are in fp32; simulated: values are rounded, sums are in "
    "fp32; packed: weights are stored in their formats, too; native: products are of codes as "
    "well.";
inline constexpr std::string_view kWeightBitsMeaning =
    "Of linear and convolution weights, shared scales included; 32 for those without a format.";

/// What a result is about.
struct SubjectResult {
  std::string model;
  DataResult data = {};
  std::optional<MeasuredSplitResult> measured = {};  ///< nothing of a split without rows
};
const Fields& fields_of(const SubjectResult*);
SubjectResult subject_result(const std::string& model, const DataIdentity& data,
                             const MeasuredPart& part);

/// The keys of an object, in their order.
std::vector<std::string> keys_of(const Json& object);

/// The member of an object; null, as a value, where there is none.
const Json& value_at(const Json& value, const std::string& key);

/// Writes it as `folder`/results.json. Throws `UserError`.
void write_results(std::string_view command, const Json& fields, const fs::path& folder);

/// Figures that every result of a repeated job has: their key there, and what they are called, with the part they are of:
/// {"after", "after, test"}.
struct NamedFigures {
  std::string key;
  std::string name;
  /// What they are to be read with, where it does not stand beside them in the result.
  std::vector<std::string> cautions = {};
};

/// "n = 1,072 (effective 850)", from the `eval_` keys of a result.
std::string sample_size_text(const Json& figures);

/// `part_text` (hone/metrics/evidence.h) of a part whose figures these are, with their `cautions`.
std::string part_text(const std::string& part, const Json& figures);
/// The same of these figures of a result.
std::string part_text(const NamedFigures& figures, const Json& result);

/// What the metrics of a result with `split` and `n` have to be read with, a few words each: its `cautions`, and an effective size
/// below n.
std::vector<std::string> cautions_of(const Json& figures);

}  // namespace hone
