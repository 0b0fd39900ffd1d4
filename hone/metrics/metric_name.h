#pragma once

#include <string>
#include <string_view>

namespace hone {

/// A metric that models are judged by, with its names in JSON and in text. Greater is better, and 1 is the maximum.
struct MetricName {
  std::string key;               ///< in results: `eval_r2`
  std::string text;              ///< in sentences: "R²"
  bool may_be_negative = false;  ///< otherwise it is a share, at least 0

  bool operator==(const MetricName& other) const { return key == other.key; }
};

inline const MetricName kAccuracy = {"accuracy", "accuracy"};
/// The share of the targets' variance that is explained.
inline const MetricName kR2 = {"r2", "R²", /*may_be_negative=*/true};
inline const MetricName kMicroF1 = {"f1_micro", "micro F1"};
/// The share of examples with all labels right.
inline const MetricName kSubsetAccuracy = {"subset_accuracy", "subset accuracy"};

/// Returns the one of these four with this key. Throws `UserError` for an unknown key, such as one in results of
/// another version.
MetricName metric_name(std::string_view key);

/// Returns the key, which results contain.
inline const std::string& field_text(const MetricName& name) { return name.key; }
/// Sets one of these four, or a metric that only gates use.
void read_field_text(const std::string& key, MetricName& name);

}  // namespace hone
