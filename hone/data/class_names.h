#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// The one rule by which labels are matched with a model's classes; docs/reference/labels.md states it.
namespace hone {

/// The integer that `text` writes in its shortest form: "3", "-1". None for "03", "+3", "3.0".
std::optional<std::int64_t> written_integer(std::string_view text);

/// Whether each of the names is such an integer.
bool are_integers(std::span<const std::string> names);

/// The class number that a label writes: "3", "LABEL_3"; 1 and 0 for true and false in any case.
std::optional<std::int64_t> class_number(std::string_view label);

/// Whether the names only repeat the numbers of the classes: "LABEL_0", "LABEL_1", … or "0", "1", …
bool are_unnamed(std::span<const std::string> classes);

/// A key that names share when they differ only in case, in blanks around them, in the blanks,
/// hyphens and underscores between their words, or in how Unicode composes their letters.
std::string folded_name(std::string_view name);

/// For each class of `a`, its number in `b`: that of the name with an equal key (`folded_name`); its own where the names of
/// one model are no names (`are_unnamed`). Nothing if the two do not have the same classes.
std::optional<std::vector<std::int32_t>> class_order(std::span<const std::string> a,
                                                     std::span<const std::string> b);

/// Rows of values, one for each class, with the columns moved: column i of the result is column `order[i]`.
std::vector<float> in_order(std::span<const float> rows, std::span<const std::int32_t> order);

/// Which class each label is.
struct ClassMatch {
  static constexpr std::int32_t kNone = -1;

  std::vector<std::int32_t> class_of = {};  ///< for each label; `kNone` where no class was found
  std::string how =
      {};  ///< "by name, …"; empty where every label is written as its class is called
  std::string why_not = {};  ///< what keeps the labels from being matched otherwise; may be empty
  bool in_order = false;     ///< class i is the i-th of `ordered_labels`

  bool complete() const;
};

/// Finds the class of each of `labels`, which may repeat, among the `classes` of a model: by name,
/// by the number in the names, or by class number, as docs/reference/labels.md says. All labels are found in
/// one way; where none finds them all, the result is that by name.
ClassMatch match_classes(std::span<const std::string> labels, std::span<const std::string> classes);

/// The different labels in the order of new classes: integers by value, else all by name.
std::vector<std::string> ordered_labels(std::span<const std::string> labels);

/// "a, b, c"; of many the first ones and how many more there are.
std::string listed_names(std::span<const std::string> names);

/// "neg = NEGATIVE, pos = POSITIVE", each label once; of many the first ones. Those with equal names are left out.
std::string listed_pairs(std::span<const std::string> labels,
                         std::span<const std::int32_t> class_of,
                         std::span<const std::string> classes);

}  // namespace hone
