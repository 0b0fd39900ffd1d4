#pragma once

#include <string>
#include <string_view>

namespace hone {

/// A metric by which models are judged, as programs and people call it. Greater is better, and 1 the most there is.
struct MetricName {
  std::string key;               ///< in results: `eval_r2`
  std::string text;              ///< in sentences: "R²"
  bool may_be_negative = false;  ///< else it is a share, from 0 on

  bool operator==(const MetricName& other) const { return key == other.key; }
};

inline const MetricName kAccuracy = {"accuracy", "accuracy"};
/// The share of the targets' variance that is explained.
inline const MetricName kR2 = {"r2", "R²", /*may_be_negative=*/true};
inline const MetricName kMicroF1 = {"f1_micro", "micro F1"};
/// The share of examples all of whose answers are right.
inline const MetricName kSubsetAccuracy = {"subset_accuracy", "subset accuracy"};

/// The one of these four with this key. Throws `UserError` for an unknown key, as results of another version may have.
MetricName metric_name(std::string_view key);

/// In results, the key.
inline const std::string& field_text(const MetricName& name) { return name.key; }
/// One of these four, or a metric that only gates know.
void read_field_text(const std::string& key, MetricName& name);

}  // namespace hone
