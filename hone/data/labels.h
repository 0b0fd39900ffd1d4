#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "hone/base/error.h"
#include "hone/base/text.h"
#include "hone/data/label_map.h"

/// From labels as files write them to the classes of a model.
namespace hone {

/// A label as it is written.
struct WrittenLabel {
  std::string text;
  std::string where;      ///< of the first one: "reviews.csv: line 7"
  std::int64_t rows = 1;  ///< that have it
};

/// The different labels of some files, in the order in which they come. Examples keep the number of
/// their label in this table until the classes are known.
class LabelTable {
 public:
  static constexpr std::size_t kMostLabels = 1000;

  /// The number of `text`; `where()` tells the place should it be a new one. Blanks around a label
  /// are not part of it, and whole numbers written as floats ("1.0") count as integers. Throws
  /// `UserError` with the place: an empty label, more than `kMostLabels` different ones.
  template <typename Where>
  std::int32_t number_of(std::string_view text, const Where& where) {
    const std::string label = canonical(text);
    if (trim(text).size() != text.size() && first_with_blanks_.empty()) first_with_blanks_ = text;
    const auto found = numbers_.find(label);
    if (found == numbers_.end()) return add({label, where()});
    ++labels_[static_cast<std::size_t>(found->second)].rows;
    return found->second;
  }
  const std::vector<WrittenLabel>& labels() const { return labels_; }
  /// Adds to `notes`, once, that blanks around a label were left out, if any were.
  void note_blanks(std::vector<std::string>& notes) const;
  /// The label without blanks around it, and without the ".0" of a whole number written as a float.
  static std::string canonical(std::string_view text);

 private:
  std::int32_t add(WrittenLabel label);

  std::unordered_map<std::string, std::int32_t> numbers_;
  std::vector<WrittenLabel> labels_;
  std::string first_with_blanks_;
};

/// What is known of the classes before the labels are seen.
struct KnownClasses {
  /// Names that the files give to the integers 0, 1, …, as Parquet files of the hub do.
  std::vector<std::string> of_data = {};
  /// The classes of a model, in the order of its outputs.
  std::vector<std::string> of_model = {};
  LabelMap map = {};  ///< what somebody says that labels mean
};

/// The classes of a data set.
struct LabelClasses {
  std::vector<std::string> names;
  std::vector<std::int32_t> class_of;  ///< one for each label
};

/// A label is none of a model's classes.
class LabelMismatch : public UserError {
  using UserError::UserError;
};

/// Finds the class of each of `labels`, as docs/reference/labels.md says.
///
/// An integer that the data names is a label of that name. With a model's classes, labels are matched
/// with those (`match_classes`). Without, the classes are the names that the data gives; else integers
/// that begin at 0 (or are all 1) stay what they are, and other labels are numbered in order. Adds to
/// `notes` how labels were matched where it was not by equal names. Throws `UserError` with the place
/// of a label that matches no class; `LabelMismatch` where they are the model's.
LabelClasses find_classes(std::span<const WrittenLabel> labels, const KnownClasses& known,
                          std::vector<std::string>& notes);

/// Which of the model's outputs each of the data's columns is, called `own`, of which there are as
/// many: by name, or in their order where the model does not name its outputs. `what` are "labels" or
/// "numbers". Adds to `notes` and throws as `find_classes`; `where` opens the message.
std::vector<std::size_t> outputs_of_columns(const std::vector<std::string>& own,
                                            const KnownClasses& known, std::string_view what,
                                            const std::string& where,
                                            std::vector<std::string>& notes);

}  // namespace hone
