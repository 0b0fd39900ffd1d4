#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hone/base/json.h"
#include "hone/data/image_set.h"
#include "hone/metrics/task.h"

/// Facts about a model that its graph does not contain, for any architecture.
namespace hone {

/// The inputs that a model accepts: images if `image` is set, each of which counts as a text of one token; else texts.
struct InputLimits {
  std::optional<ImageSize> image = {};
  std::int64_t tokens = 0;      ///< maximum length of a text, including special tokens
  std::int64_t vocabulary = 0;  ///< token ids are below this
  /// The number of token types; 0: none, and only the separator token divides the texts of a pair.
  std::int64_t token_types = 0;
  /// The id that padding must have if positions depend on it; empty: any.
  std::optional<std::int64_t> padding = {};

  /// Returns whether pairs of texts are supported; with one type, the second text has none.
  bool pairs() const { return token_types != 1; }
};

/// The passes that produced a model's graph from the one its config builds.
struct History {
  std::vector<std::string> passes = {};  ///< in order, as they print and parse (passes/pass.h)
  /// false: a version of this program without history changed the graph before these passes
  bool complete = true;

  bool operator==(const History&) const = default;
};

struct ModelFacts {
  std::string architecture;  ///< its model_type
  Json config;               ///< config.json as it was read, including unknown keys
  std::vector<std::string>
      labels;  ///< names of the outputs in order; from the config, or from the data if it has others
  InputLimits limits;
  std::optional<Task> problem_type = {};  ///< of the config; empty: see `task`
  History history = {};
  /// The fp32 weights are stored without zeros (hone/tensor/bitmaps.h), so only hone can read them.
  bool stored_without_zeros = false;
  std::string activation_file = {};  ///< file with the activation of the scores; empty: config.json

  std::int64_t class_count() const { return static_cast<std::int64_t>(labels.size()); }
  /// Returns the problem_type. Without one, a single output is a regression, as in transformers, and several are
  /// classes.
  Task task() const;
  LabelScheme scheme() const { return {task(), labels}; }
  /// Returns whether the labels are only numbered, as in `default_labels`.
  bool has_default_labels() const;
};

/// Gives a model without a trained head the task and the labels of the data.
void apply_labels(ModelFacts& facts, const LabelScheme& labels);

}  // namespace hone
