#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace hone {

/// The options of a command line: each of their names ("learning_rate", "lr") with its spelling ("--lr"), which is the one a
/// person typed, or the declared one.
using OptionSpellings = std::map<std::string, std::string, std::less<>>;

/// The text with names of options spelled that way, whether they are in backticks, as the library writes a setting
/// ("`max_seq_length`: expected …"), or have their dashes ("--max_seq_length: expected …").
std::string with_spellings(std::string_view text, const OptionSpellings& spellings);

/// The options of the command that this process runs. Set once, before it runs; empty until then.
void set_option_spellings(OptionSpellings spellings);
const OptionSpellings& option_spellings();

}  // namespace hone
