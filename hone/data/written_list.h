#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Parses lists in one cell of a table, as programs print them.
namespace hone {

/// Returns the elements of a flat list, strings without their quotes. The list is a JSON array, or what Python prints
/// for lists, tuples, sets and numpy arrays, with numpy scalars too: "['a', \"b's\"]", "('a',)", "{'a'}", "set()",
/// "array(['a'], dtype=object)", "['a' 'b']", "[1. 0.]", "[np.str_('a')]". Returns nothing for other text, nested
/// lists, and lists with an element that is not a string, number or boolean.
std::optional<std::vector<std::string>> parse_list(std::string_view text);

/// Returns whether a cell in a column of lists is missing: empty, "nan", "NaN" or "None".
bool is_missing_list(std::string_view text);

}  // namespace hone
