#pragma once

#include "hone/data/answers.h"
#include "hone/data/labels.h"

/// From written sets of labels to a yes or no of each label.
namespace hone {

/// For each answer a 1 for every label that it has and a 0 for every other. An answer is
/// - a list of names, or of labels' numbers; their labels are found as classes are (`find_classes`);
/// - a list with a 0 or 1 (false or true) for every label, where all lists have one length, that of the known names if
///   there are some, and where one of them at least repeats a value, which a list of different labels never does. Where
///   none does, the lists may be either, and are refused;
/// - of several columns, 0 or 1 (false or true) in each, called as the columns;
/// - text: a written list (hone/data/written_list.h), or names between commas, semicolons or bars, of which one is the
///   separator in all texts. Among lists, "nan" and "None" are no label.
/// Nothing written is no label. The labels are called as the model calls them, else as the data does, else "LABEL_0",
/// "LABEL_1", …. Adds to `notes` what was taken for what. Throws `UserError` with the place: what is none of these, a label
/// twice, labels that a model does not have (`LabelMismatch`).
Targets read_label_sets(std::vector<WrittenAnswer> answers, const std::vector<std::string>& columns,
                        const KnownClasses& known, const AnswerPlace& place,
                        std::vector<std::string>& notes);

}  // namespace hone
