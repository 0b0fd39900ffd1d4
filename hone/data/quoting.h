#pragma once

#include <string>
#include <string_view>

/// Whether quotes in delimited text enclose fields, as in RFC 4180, or are text.
namespace hone {

struct Quoting {
  bool encloses = true;   ///< a quote at the front of a field opens it, the next one closes it
  std::string note = {};  ///< what was found, where that is not the usual reading or is a choice
};

/// Reads `quoting`: "minimal" (quotes enclose fields), "none" (quotes are text), or "" for what the
/// text looks like.
///
/// Without a word from the user, quotes enclose fields in text separated by other characters than
/// tabs, unless a quote is never closed or is followed by text, or encloses line ends of lines that
/// are complete rows with a number each in one column. In text separated by tabs quotes are text,
/// unless lines are complete only with quoting, or all quotes follow its rules and some are doubled
/// or a whole column or the header is quoted. Throws `UserError` for another word.
Quoting find_quoting(std::string_view text, char separator, const std::string& quoting);

}  // namespace hone
