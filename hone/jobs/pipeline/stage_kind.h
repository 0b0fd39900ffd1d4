#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace hone {

/// Properties of a command that pipelines need, besides its options. Part of its record (hone/cli/command.h).
struct StageKind {
  /// What a stage with this command evaluates.
  enum class Evaluates : std::uint8_t {
    nothing,
    one_model,         ///< on test and validation
    before_and_after,  ///< two models on test, and each epoch on validation
  };

  bool allowed = true;  ///< it can be a stage: it has a result, and does not run stages itself
  bool measures_time = false;  ///< its results vary between runs, so they are not cached
  bool searches = false;       ///< it writes a study of trials
  bool compares = false;       ///< compares model B with model A, which can decide claims
  std::string_view choice_argument =
      {};  ///< the argument that `best_of` fills: "MODELS"; empty: none

  // For cost estimates.
  Evaluates evaluates = Evaluates::nothing;
  bool writes_model = false;
  bool stores_unrounded = false;  ///< stores unrounded weights next to the rounded ones
  bool trains_uncompressed =
      false;  ///< trains without formats and masks, which cost time in every step
};

/// Kinds by the names of commands and subcommands: "lora merge". Unknown commands fail when they are parsed.
using StageKinds = std::map<std::string, StageKind, std::less<>>;

}  // namespace hone
