#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace hone {

/// What pipelines must know of a command besides its options. Part of its record (hone/cli/command.h).
struct StageKind {
  /// On how many examples a stage of it evaluates models.
  enum class Evaluates : std::uint8_t {
    nothing,
    one_model,         ///< on test and validation
    before_and_after,  ///< two models on test, and each epoch on validation
  };

  bool allowed = true;  ///< it can be a stage: it leaves something, and does not run stages itself
  bool measures_time = false;          ///< its results are of the moment, so they are not kept
  bool searches = false;               ///< it leaves a study of trials
  bool compares = false;               ///< model B with model A: it settles claims
  std::string_view chooses_from = {};  ///< the argument that `best_of` fills: "MODELS"; empty: none

  // For estimates of cost.
  Evaluates evaluates = Evaluates::nothing;
  bool leaves_model = false;
  bool keeps_unrounded = false;  ///< what it has trained, beside what it rounds that to
  bool trains_plainly = false;   ///< without formats and masks, which are applied in every step
};

/// By the names of commands and subcommands: "lora merge". Of others nothing is known; what runs them refuses them.
using StageKinds = std::map<std::string, StageKind, std::less<>>;

}  // namespace hone
