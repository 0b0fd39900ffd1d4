#pragma once

#include "hone/data/labels.h"
#include "hone/data/raw_labels.h"

/// Converts written sets of labels to indicator vectors.
namespace hone {

/// Returns, for each example, 1 for every label that it has and 0 for every other. The label of an example is one of
/// these:
/// - a list of names, or of label numbers; they are matched as classes are (`find_classes`);
/// - a list with 0 or 1 (false or true) for every label. All lists have the same length, that of the known names if
///   there are any, and at least one repeats a value, which a list of distinct labels never does. If none does, the
///   lists are ambiguous and rejected;
/// - several columns with 0 or 1 (false or true) in each; the columns name the labels;
/// - text: a written list (hone/data/written_list.h), or names separated by commas, semicolons or bars, the same in all
///   texts. Among lists, "nan" and "None" mean no label.
/// Empty text means no label. The names are those of the model, else of the data, else "LABEL_0", "LABEL_1", …. Adds to
/// `notes` how the labels were read. Throws `UserError` with the place for anything else, a repeated label, or labels
/// that the model does not have (`LabelMismatch`).
Targets read_label_sets(std::vector<RawLabel> raw_labels, const std::vector<std::string>& columns,
                        const KnownClasses& known, const LabelPlace& place,
                        std::vector<std::string>& notes);

}  // namespace hone
