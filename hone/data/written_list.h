#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Lists in one cell of a table, as programs print them.
namespace hone {

/// The elements of a flat list as they are written, strings without their quotes: a JSON array, or
/// what Python prints of lists, tuples, sets and numpy arrays, elements of numpy's types included:
/// "['a', \"b's\"]", "('a',)", "{'a'}", "set()", "array(['a'], dtype=object)", "['a' 'b']",
/// "[1. 0.]", "[np.str_('a')]". None for other text, for nested lists, and for lists with an element
/// that is no string, number or boolean.
std::optional<std::vector<std::string>> written_list(std::string_view text);

/// Whether a cell among such lists holds no list: empty, "nan" or "None".
bool is_missing_list(std::string_view text);

}  // namespace hone
