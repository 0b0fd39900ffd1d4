#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hone/metrics/task.h"

/// The labels of examples as the files write them, and the task that they imply.
namespace hone {

/// The label of one row, as it is written.
struct RawLabel {
  std::string value = {};  ///< the value of one column
  std::vector<std::string> values =
      {};             ///< the elements of a list in one column, or the values of several columns
  bool many = false;  ///< use `values`, even when it is empty
  /// The file's type makes this a number that cannot name a class: 0.5.
  bool no_class = false;
};

/// Returns the place of a label by its index: "reviews.csv: line 7".
using LabelPlace = std::function<std::string(std::size_t)>;

/// Parses a decimal number with nothing but white space around it, and returns nothing for other text. The result may
/// be infinite or NaN if the text says so.
std::optional<double> parse_decimal(std::string_view text);

/// Returns whether there are labels and all of them are -1, as in test splits on the Hugging Face Hub.
bool all_labels_hidden(std::span<const RawLabel> raw_labels);

/// The minimum share of numeric values at which a non-numeric one is taken for a mistake.
constexpr double kNearlyAll = 0.95;

/// Infers the task from the labels. All numbers, at least one of them fractional: regression. Lists, cells that all
/// contain written lists (hone/data/written_list.h), or several columns: multi-label classification. Anything else:
/// classification. Missing labels are ignored. Unless the result is classification, adds to `notes` what was found and
/// how to choose otherwise. Throws `UserError` with the place of the first non-numeric label if nearly all labels are
/// numbers, and one of these is fractional.
Task find_task(std::span<const RawLabel> raw_labels, const LabelPlace& place,
               std::vector<std::string>& notes);

/// The targets of examples, in order.
struct Targets {
  std::vector<std::string> names = {};  ///< names of the numbers or labels
  /// One value per name for each example.
  std::vector<std::vector<float>> rows = {};
  /// The label of each example in a canonical form that does not depend on `names`; fingerprints are made of it.
  std::vector<std::string> written = {};
};

}  // namespace hone
