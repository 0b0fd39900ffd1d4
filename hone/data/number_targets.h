#pragma once

#include "hone/data/answers.h"
#include "hone/data/labels.h"

/// From written numbers to what a regression learns.
namespace hone {

/// The numbers of each answer: of one column, of several, or of lists of one length. They are called as the model calls
/// its outputs, else as the columns; several numbers of one column "LABEL_0", "LABEL_1", …. Several columns are the model's
/// outputs of their names, in whatever order they are given; where it has other names, their order counts, which is added to
/// `notes`.
/// Throws `UserError` with the place of what is no finite number or another count of them; `LabelMismatch` where the
/// model has another number of outputs.
Targets read_numbers(std::vector<WrittenAnswer> answers, const std::vector<std::string>& columns,
                     const KnownClasses& known, const AnswerPlace& place,
                     std::vector<std::string>& notes);

/// The numbers of an example as they are fingerprinted: "2.5", "0.5 1"; the shortest that read back the same.
std::string numbers_text(std::span<const float> numbers);

}  // namespace hone
