#pragma once

#include <string>
#include <string_view>

/// Decides whether quotes in delimited text enclose fields, as in RFC 4180, or are text.
namespace hone {

struct Quoting {
  bool encloses = true;   ///< a quote at the start of a field opens it, the next one closes it
  std::string note = {};  ///< what was detected, if it is unusual or ambiguous
};

/// Reads `quoting`: "minimal" (quotes enclose fields), "none" (quotes are text), or "" to detect it.
///
/// In text with separators other than tabs, quotes enclose fields by default. They are text if a quote is never closed
/// or is followed by text, or if quotes would join lines that are complete rows with a number in one column of each. In
/// tab-separated text, quotes are text by default. They enclose fields if lines are complete only with quoting, or if
/// all quotes follow its rules and some are doubled or a whole column or the header is quoted. Throws `UserError` for
/// other values of `quoting`.
Quoting find_quoting(std::string_view text, char separator, const std::string& quoting);

}  // namespace hone
