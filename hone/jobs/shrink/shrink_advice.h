#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hone/jobs/shrink/shrink_findings.h"
#include "hone/report/document.h"

/// Advice for runs in which no candidate was shown to be within the limit.
namespace hone {

/// Number of validation examples needed for a conclusion, and whether training can set that many aside.
struct ExamplesNeeded {
  std::int64_t validation = 0;  ///< rows of the validation split, with the current share of repeats
  std::int64_t available = 0;   ///< rows of the training and validation split together
  bool set_aside = true;        ///< the validation split was set aside from them
  std::int64_t in_validation = 0;  ///< rows of the current validation split

  /// Returns the `--validation_split` that provides them, rounded up to hundredths; none if the validation split was
  /// not set aside, or if that would be more than half.
  std::optional<double> split() const;
};

/// Returns the examples that the most promising candidate needs, at least those that the baseline needs against itself,
/// at a power of 80%. None if the limit was shown to hold, or if more examples would not show it.
std::optional<ExamplesNeeded> examples_needed(const ShrinkFindings& findings);

/// Explains how to get the validation examples that a candidate needs, `different` ones without repeats: "Train the
/// baseline again with --validation_split 0.36 to find out.", or why that is not possible.
std::string more_examples_sentence(const ShrinkFindings& findings, std::int64_t different);

/// "Needed: about 530 validation examples, which --validation_split 0.36 sets aside from the 1,500 at hand.", or "".
std::string needed_sentence(const ShrinkFindings& findings);

/// Returns `command`, a shell line that calls `hone train`, with another validation split and output folder: "hone
/// train tiny --data a.csv --validation_split 0.36 -o out".
std::string with_validation_split(const std::string& command, double split,
                                  const std::string& output);

/// Returns commands that may show the limit to hold, or that widen it, the recommended one first; if it was shown,
/// those that may show it for a better candidate (`ShrinkFindings::not_shown`). May be empty.
std::vector<NextCommand> suggested_commands(const ShrinkFindings& findings);

}  // namespace hone
