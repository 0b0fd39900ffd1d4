#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hone/jobs/shrink/shrink_findings.h"
#include "hone/report/document.h"

/// What helps where a shrinking showed nothing.
namespace hone {

/// How many validation examples would show something, and whether training can set so many aside.
struct ExamplesNeeded {
  std::int64_t validation = 0;     ///< rows of the validation split, repeated ones as often as now
  std::int64_t at_hand = 0;        ///< rows of the training and validation split together
  bool set_aside = true;           ///< the validation split was set aside from them
  std::int64_t in_validation = 0;  ///< rows of the split that choices are made on, as it is

  /// The `--validation_split` that provides them, in hundredths; none: nothing was set aside, or more than half would be.
  std::optional<double> split() const;
};

/// As many as the most promising candidate needs, and the baseline beside itself, power 80%. None where the limit was shown to hold, and
/// where more examples would not show it.
std::optional<ExamplesNeeded> examples_needed(const ShrinkFindings& findings);

/// How to get the validation examples that a candidate needs, `different` ones if all were different, a sentence: "Train the baseline again
/// with --validation_split 0.36 to find out.", or why that cannot be.
std::string more_examples_sentence(const ShrinkFindings& findings, std::int64_t different);

/// "Needed: about 530 validation examples, which --validation_split 0.36 sets aside from the 1,500 at hand." "": none are.
std::string needed_sentence(const ShrinkFindings& findings);

/// `command`, a call of `hone train` by a shell line, with another validation split and output folder: "hone train tiny --data a.csv
/// --validation_split 0.36 -o out".
std::string with_validation_split(const std::string& command, double split,
                                  const std::string& output);

/// Commands that may show the limit to hold, or allow more, the first the one to run. Where it was shown, those that may show a better
/// candidate to be within it (`ShrinkFindings::not_shown`), if there is one. None where only words help.
std::vector<NextCommand> commands_that_help(const ShrinkFindings& findings);

}  // namespace hone
