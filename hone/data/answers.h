#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hone/metrics/task.h"

/// What the rows of files say of their texts, as it is written, and which task that makes.
namespace hone {

/// What one row says of its text.
struct WrittenAnswer {
  std::string value = {};                ///< of one column
  std::vector<std::string> values = {};  ///< of a list in one column, or of several columns
  bool many = false;                     ///< `values` are the answer, if there are none too
  /// The file says by a type that this is a number, and no class may be called by it: 0.5.
  bool no_class = false;
};

/// The place of an answer by its number: "reviews.csv: line 7".
using AnswerPlace = std::function<std::string(std::size_t)>;

/// The number that `text` writes, in decimal digits and with nothing but white space around them; none for other text.
/// May be infinite or not a number, where that is what is written.
std::optional<double> written_number(std::string_view text);

/// Whether there are answers, and all they say is -1, as in test parts of the hub.
bool are_left_out(std::span<const WrittenAnswer> answers);

/// The least share of values that are numbers where one that is none is taken for a slip.
constexpr double kNearlyAll = 0.95;

/// The task that answers are for, as they look: where all are numbers, one of which at least is not whole, regression;
/// lists, texts that are all written lists (hone/data/written_list.h), or several columns, are sets of labels; and everything else is classes. Missing
/// answers count for nothing. Adds to `notes` what was found, if it is not classes, and how to say otherwise. Throws
/// `UserError` with the place of the first that is no number where nearly all are, and one of these is not whole.
Task find_task(std::span<const WrittenAnswer> answers, const AnswerPlace& place,
               std::vector<std::string>& notes);

/// Examples' targets, one after the other.
struct Targets {
  std::vector<std::string> names = {};  ///< of the numbers, or of the labels
  /// Of each answer, one per name.
  std::vector<std::vector<float>> rows = {};
  /// Of each answer, in one form, whatever names the targets have: what a fingerprint is made of.
  std::vector<std::string> written = {};
};

}  // namespace hone
