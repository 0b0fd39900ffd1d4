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

/// Maps labels in files to the classes of a model.
namespace hone {

/// A label as it is written.
struct DistinctLabel {
  std::string text;
  std::string where;      ///< first place: "reviews.csv: line 7"
  std::int64_t rows = 1;  ///< rows with this label
};

/// The distinct labels of files, in order of first occurrence. Examples store indices into this table until the classes
/// are known.
class LabelTable {
 public:
  static constexpr std::size_t kMaxLabels = 1000;

  /// Returns the index of `text`; `where()` returns its place, in case it is new. Ignores blanks around a label, and
  /// reads whole numbers written as floats ("1.0") as integers. Throws `UserError` with the place for an empty label,
  /// or more than `kMaxLabels` distinct ones.
  template <typename Where>
  std::int32_t number_of(std::string_view text, const Where& where) {
    const std::string label = canonical(text);
    if (trim(text).size() != text.size() && first_with_blanks_.empty()) first_with_blanks_ = text;
    const auto found = numbers_.find(label);
    if (found == numbers_.end()) return add({label, where()});
    ++labels_[static_cast<std::size_t>(found->second)].rows;
    return found->second;
  }
  const std::vector<DistinctLabel>& labels() const { return labels_; }
  /// Notes once that blanks around labels were ignored, if any were.
  void note_blanks(std::vector<std::string>& notes) const;
  /// Returns the label without blanks around it, and without the ".0" of a whole number.
  static std::string canonical(std::string_view text);

 private:
  std::int32_t add(DistinctLabel label);

  std::unordered_map<std::string, std::int32_t> numbers_;
  std::vector<DistinctLabel> labels_;
  std::string first_with_blanks_;
};

/// Class names that are known before labels are read.
struct KnownClasses {
  /// Names that the files assign to the integers 0, 1, …, as Parquet files of the Hugging Face Hub do.
  std::vector<std::string> of_data = {};
  /// The classes of a model, in the order of its outputs.
  std::vector<std::string> of_model = {};
  LabelMap map = {};  ///< user-defined mapping
};

/// The classes of a dataset.
struct LabelClasses {
  std::vector<std::string> names;
  std::vector<std::int32_t> class_of;  ///< per label
};

/// Thrown if a label matches none of a model's classes.
class LabelMismatch : public UserError {
  using UserError::UserError;
};

/// Finds the class of each of `labels`, as docs/reference/labels.md says.
///
/// Integers that the data names are replaced by their names. If a model's classes are given, labels are matched with
/// those (`match_classes`). Otherwise the classes are the names that the data has; without names, integers that begin
/// at 0 (or are all 1) are class numbers, and other labels are numbered in order. Notes how labels were matched, unless
/// names are equal. Throws `UserError` with the place of a label that matches no class; `LabelMismatch` if the classes
/// are the model's.
LabelClasses find_classes(std::span<const DistinctLabel> labels, const KnownClasses& known,
                          std::vector<std::string>& notes);

/// Returns the model output of each data column in `own`; both have the same number. Matches by name, or in order if
/// the model does not name its outputs. `what` is "labels" or "numbers". Adds to `notes` and throws as `find_classes`
/// does; messages begin with `where`.
std::vector<std::size_t> outputs_of_columns(const std::vector<std::string>& own,
                                            const KnownClasses& known, std::string_view what,
                                            const std::string& where,
                                            std::vector<std::string>& notes);

}  // namespace hone
