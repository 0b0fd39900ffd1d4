#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace hone {

/// The spelling ("--lr") of each option name ("learning_rate", "lr"): the one on the command line, or else the declared
/// one.
using OptionSpellings = std::map<std::string, std::string, std::less<>>;

/// Returns the text with option names replaced by their spellings. A name is in backticks, as the library writes a
/// setting ("`max_seq_length`: expected …"), or has its dashes ("--max_seq_length: expected …").
std::string with_spellings(std::string_view text, const OptionSpellings& spellings);

/// The options of the command that this process runs. Set once, before it runs; empty until then.
void set_option_spellings(OptionSpellings spellings);
const OptionSpellings& option_spellings();

}  // namespace hone
