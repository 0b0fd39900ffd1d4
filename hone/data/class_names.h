#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Matches labels with a model's classes, as docs/reference/labels.md states.
namespace hone {

/// Parses an integer in its shortest form: "3", "-1". Returns nothing for "03", "+3", "3.0".
std::optional<std::int64_t> parse_integer(std::string_view text);

/// Returns whether every name is such an integer.
bool are_integers(std::span<const std::string> names);

/// Returns the class number in a label: "3", "LABEL_3"; 1 and 0 for true and false in any case.
std::optional<std::int64_t> class_number(std::string_view label);

/// Returns whether the names only repeat the numbers of the classes: "LABEL_0", "LABEL_1", … or "0", "1", …
bool names_are_indices(std::span<const std::string> classes);

/// Returns a key that is equal for names that differ only in case, in blanks around them, in the blanks, hyphens and
/// underscores between their words, or in Unicode composition.
std::string folded_name(std::string_view name);

/// Returns, for each class of `a`, the index in `b` of the class with an equal key (`folded_name`), or the same index
/// if the classes of either model are unnamed (`names_are_indices`). Returns nothing if the classes differ.
std::optional<std::vector<std::int32_t>> class_order(std::span<const std::string> a,
                                                     std::span<const std::string> b);

/// Permutes the columns of `rows`, which have one value per class: column i of the result is column `order[i]`.
std::vector<float> permute_columns(std::span<const float> rows,
                                   std::span<const std::int32_t> order);

/// The classes that labels were matched with.
struct ClassMatch {
  static constexpr std::int32_t kNone = -1;

  std::vector<std::int32_t> class_of = {};  ///< per label; `kNone`: no class found
  std::string how = {};      ///< "by name, …"; empty if every label equals the name of its class
  std::string why_not = {};  ///< why other rules do not match the labels; may be empty
  bool in_order = false;     ///< class i is the i-th of `ordered_labels`

  bool complete() const;
};

/// Finds the class of each of `labels`, which may repeat, among a model's `classes`: by name, by the number in the
/// names, or by class number, as docs/reference/labels.md says. One rule must match all labels; if none does, returns
/// the partial match by name.
ClassMatch match_classes(std::span<const std::string> labels, std::span<const std::string> classes);

/// Returns the distinct labels in the order of new classes: integers by value, others by name.
std::vector<std::string> ordered_labels(std::span<const std::string> labels);

/// Returns "a, b, c"; a long list is cut and ends with the number of the others.
std::string listed_names(std::span<const std::string> names);

/// Returns "neg = NEGATIVE, pos = POSITIVE" without duplicates and without labels that equal their class; a long list
/// is cut.
std::string listed_pairs(std::span<const std::string> labels,
                         std::span<const std::int32_t> class_of,
                         std::span<const std::string> classes);

}  // namespace hone
