#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "hone/base/error.h"

/// From labels as files write them to the classes of a model.
namespace hone {

/// A label as it is written.
struct WrittenLabel {
  std::string text;
  std::string where;  ///< of the first one: "reviews.csv: line 7"
};

/// The different labels of some files, in the order in which they come. Examples keep the number of
/// their label in this table until the classes are known.
class LabelTable {
 public:
  static constexpr std::size_t kMostLabels = 1000;

  /// The number of `text`; `where()` tells the place should it be a new one. Whole numbers written
  /// as floats ("1.0") count as integers. Throws `UserError` with the place: an empty label, more
  /// than `kMostLabels` different ones.
  template <typename Where>
  std::int32_t number_of(std::string_view text, const Where& where) {
    const auto found = numbers_.find(canonical(text));
    return found != numbers_.end() ? found->second : add({canonical(text), where()});
  }
  const std::vector<WrittenLabel>& labels() const { return labels_; }
  /// The label without the ".0" of a whole number written as a float.
  static std::string canonical(std::string_view text);

 private:
  std::int32_t add(WrittenLabel label);

  std::unordered_map<std::string, std::int32_t> numbers_;
  std::vector<WrittenLabel> labels_;
};

/// What is known of the classes before the labels are seen.
struct KnownClasses {
  /// Names that the files give to the integers 0, 1, …, as Parquet files of the hub do.
  std::vector<std::string> of_data = {};
  /// The classes of a model, in the order of its outputs.
  std::vector<std::string> of_model = {};
  /// How many classes the model has, when it has no names for them; 0: any number.
  std::int64_t most = 0;
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

/// Finds the class of each of `labels`.
///
/// With a model's classes, a label is one of their names or an index of one; an integer that the data
/// names is looked up by that name if the model knows all of the data's names, else taken as an
/// index. Without, the classes are the names that the data gives; else integers that begin at 0 (or
/// are all 1) stay what they are, other integers are numbered by value, and strings in sorted order.
/// Adds to `notes` how names were matched where that is a guess. Throws `UserError` with the place of
/// a label that is none of the classes; `LabelMismatch` where they are the model's.
LabelClasses find_classes(std::span<const WrittenLabel> labels, const KnownClasses& known,
                          std::vector<std::string>& notes);

}  // namespace hone
