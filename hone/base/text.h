#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Small helpers over strings that more than one folder needs.
namespace hone {

/// Whether `name` matches the glob: `*` any run of characters, `?` one character, everything else
/// itself.
bool glob_match(std::string_view glob, std::string_view name);
/// Whether one of the globs matches it.
bool matches_any(std::span<const std::string> globs, std::string_view name);

/// Splits at every `separator`; "a,,b" gives three pieces, "" gives none.
std::vector<std::string> split(std::string_view text, char separator);

/// Splits at every comma outside of parentheses and brackets: "int(bits=8,per=row),bf16" gives two pieces.
std::vector<std::string> split_outside_brackets(std::string_view text);

/// The text without white space at both ends.
std::string_view trim(std::string_view text);

/// The text with ASCII letters in lower case.
std::string lower_ascii(std::string_view text);

/// Returns the candidate with the least edit distance to `word` (a swap of neighbours is one edit) if it is near enough to be a
/// slip, else "": at most 1 edit, 2 from six letters on and 3 from twelve on; with the same digits; with more than 1 the first
/// letters agree. Case, leading dashes and `-` for `_` do not count.
std::string nearest(std::string_view word, std::span<const std::string> candidates);

/// "; did you mean 'x'?" or "" when nothing is near.
std::string did_you_mean(std::string_view word, std::span<const std::string> candidates);

/// "4.10 MiB", "64 MiB", "812 B": two decimals, or none of a whole number of its unit.
std::string human_bytes(double bytes);
/// The power of 1024 of the unit that it is shown in: 2 for MiB.
std::size_t byte_unit(double bytes);
/// In such a unit, for sizes that stand below each other: "0.63 MiB".
std::string bytes_in_unit(double bytes, std::size_t unit, bool decimals);

/// Three significant digits, as every ratio and every measured time has them: "1.84", "0.00360", "1,178"; "3.10e-07" below 1e-5.
std::string three_digits(double value);
/// How many times as fast one piece of work is as another, with the direction: "1.84× faster", "1.07× slower" for 0.937.
std::string speed_text(double ratio);
/// The interval of such a ratio: "1.79 to 1.90" of what is faster, "1.02 to 1.19" of what is slower, "1.04× slower to 1.12× faster". An end that
/// rounds to 1 has more digits: "1.002× slower to 1.79× faster".
std::string speed_range_text(double low, double high);

/// The text with a capital at its beginning, unless its first word has other characters than letters ("fp32, test").
std::string capitalized(std::string text);

/// "1 trial", "1,200 trials".
std::string counted_text(long long count, std::string_view noun);

/// "4,386,178": groups of three digits, set apart by commas.
std::string grouped(long long value);

/// "90s", "30m", "2h", "1.5h" in seconds. Throws `UserError` for anything else, such as a number without a unit.
double parse_duration(std::string_view text);

/// A word as a shell reads it back: as it is, or in single quotes.
std::string shell_word(const std::string& word);

}  // namespace hone
