#pragma once

#include "hone/data/labels.h"
#include "hone/data/raw_labels.h"

/// Reads written numbers as regression targets.
namespace hone {

/// Returns the numbers of each example: from one column, several columns, or lists of equal length. They are named like
/// the model's outputs, else like the columns; several numbers in one column are named "LABEL_0", "LABEL_1", …. Several
/// columns are matched with the model's outputs by name, in any order. If the model's outputs are unnamed, they are
/// matched in order, which is added to `notes`. Throws `UserError` with the place of a value that is not a finite
/// number, or of a different count; `LabelMismatch` if the model has a different number of outputs.
Targets read_numbers(std::vector<RawLabel> raw_labels, const std::vector<std::string>& columns,
                     const KnownClasses& known, const LabelPlace& place,
                     std::vector<std::string>& notes);

/// Formats the numbers of an example for fingerprints: "2.5", "0.5 1"; the shortest digits that read back the same.
std::string numbers_text(std::span<const float> numbers);

}  // namespace hone
