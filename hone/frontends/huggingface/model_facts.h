#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hone/base/json.h"
#include "hone/data/image_set.h"
#include "hone/metrics/task.h"

/// What a graph cannot say of its model, whatever the architecture.
namespace hone {

/// What a model can be given: images where `image` says so, each of which counts as a text of one token; else texts.
struct InputLimits {
  std::optional<ImageSize> image = {};
  std::int64_t tokens = 0;      ///< of the longest text, special ones included
  std::int64_t vocabulary = 0;  ///< numbers of tokens lie below
  /// The types that tokens may have; 0: none are read, and the texts of a pair are told apart by the token between them.
  std::int64_t token_types = 0;
  /// The number that padding must have, where positions depend on it; none: any.
  std::optional<std::int64_t> padding = {};

  /// Whether pairs of texts can be given: with one type there is none for the second text.
  bool pairs() const { return token_types != 1; }
};

/// The passes that made a model's graph of the one its config builds.
struct History {
  std::vector<std::string> passes = {};  ///< in order, as they print and parse (passes/pass.h)
  /// false: before them the graph was changed by a version of this program that kept no history
  bool complete = true;

  bool operator==(const History&) const = default;
};

struct ModelFacts {
  std::string architecture;  ///< its model_type
  Json config;               ///< config.json as it was read, with keys that nobody here knows
  std::vector<std::string>
      labels;  ///< names of what it says, by number; those of the config until data has others
  InputLimits limits;
  std::optional<Task> problem_type = {};  ///< of the config; none: see `task`
  History history = {};
  /// Its fp32 weights are stored without zeros (hone/tensor/bitmaps.h), so that hone alone reads them.
  bool stored_without_zeros = false;
  std::string activation_file = {};  ///< that has the activation of its scores; empty: config.json

  std::int64_t class_count() const { return static_cast<std::int64_t>(labels.size()); }
  /// The problem_type; without one a single number is a regression, as in transformers, and several outputs are classes.
  Task task() const;
  LabelScheme scheme() const { return {task(), labels}; }
  /// Whether the labels only repeat their numbers, as those of `default_labels` do.
  bool unnamed() const;
};

/// Gives a model without a trained head the task and the labels of data.
void take_labels(ModelFacts& facts, const LabelScheme& labels);

}  // namespace hone
