#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

/// String helpers.
namespace hone {

/// Returns whether `name` matches the glob: `*` matches any characters, `?` one character, and everything else itself.
bool glob_match(std::string_view glob, std::string_view name);
/// Returns whether `name` matches one of the globs.
bool matches_any(std::span<const std::string> globs, std::string_view name);

/// Splits at every `separator`; "a,,b" gives three pieces, "" gives none.
std::vector<std::string> split(std::string_view text, char separator);

/// Splits at every comma outside of parentheses and brackets: "int(bits=8,per=row),bf16" gives two pieces.
std::vector<std::string> split_outside_brackets(std::string_view text);

/// Returns the text without white space at both ends.
std::string_view trim(std::string_view text);

/// Returns the text with ASCII letters in lower case.
std::string lower_ascii(std::string_view text);

/// Returns the candidate with the least edit distance to `word` (a swap of neighbors is one edit) if it is close enough
/// to be a typo, else "". At most 1 edit is allowed, 2 from six letters on, 3 from twelve on; with more than 1, the
/// first letters must agree; digits must be the same. Ignores case, leading dashes, and the difference between `-` and
/// `_`.
std::string nearest(std::string_view word, std::span<const std::string> candidates);

/// Returns "; did you mean 'x'?", or "" if nothing is close.
std::string did_you_mean(std::string_view word, std::span<const std::string> candidates);

/// Returns "4.10 MiB", "64 MiB" or "812 B": two decimals, or none if it is a whole number of its unit.
std::string human_bytes(double bytes);
/// Returns the power of 1024 of the unit that `human_bytes` uses: 2 for MiB.
std::size_t byte_unit(double bytes);
/// Formats a size in a given unit, for columns of sizes: "0.63 MiB".
std::string bytes_in_unit(double bytes, std::size_t unit, bool decimals);

/// Formats three significant digits, as for all ratios and measured times: "1.84", "0.00360", "1,178"; "3.10e-07" below
/// 1e-5.
std::string three_digits(double value);
/// Formats a speedup with its direction: "1.84× faster"; "1.07× slower" for 0.937.
std::string speed_text(double ratio);
/// Formats an interval of speedups: "1.79 to 1.90" for faster, "1.02 to 1.19" for slower, "1.04× slower to 1.12×
/// faster". A bound that rounds to 1 has more digits: "1.002× slower to 1.79× faster".
std::string speed_range_text(double low, double high);

/// Capitalizes the text, unless its first word contains other characters than letters ("fp32, test").
std::string capitalized(std::string text);

/// Returns "1 trial", "1,200 trials".
std::string counted_text(long long count, std::string_view noun);

/// Returns "4,386,178": groups of three digits separated by commas.
std::string grouped(long long value);

/// Parses "90s", "30m", "2h" or "1.5h" to seconds. Throws `UserError` for anything else, such as a number without a
/// unit.
double parse_duration(std::string_view text);

/// Quotes a word for a shell: unchanged if possible, else in single quotes.
std::string shell_word(const std::string& word);

}  // namespace hone
