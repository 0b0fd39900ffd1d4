#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hone/base/json.h"

/// What a graph cannot say of its model, whatever the architecture.
namespace hone {

/// What a model can be given.
struct InputLimits {
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
      labels;  ///< names of the classes, by number; those of the config until data has others
  InputLimits limits;
  /// The problem_type: "regression", "single_label_classification", "multi_label_classification"; none: decided by the labels.
  std::optional<std::string> task;
  History history = {};

  std::int64_t class_count() const { return static_cast<std::int64_t>(labels.size()); }
  /// The labels, where somebody named them; empty where they are `default_labels`.
  std::vector<std::string> chosen_labels() const;
};

/// The names of `count` classes that nobody named: "LABEL_0", "LABEL_1", …
std::vector<std::string> default_labels(std::int64_t count);

}  // namespace hone
