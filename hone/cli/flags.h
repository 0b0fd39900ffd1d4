#pragma once

#include <string>
#include <string_view>

namespace hone {

/// Messages of the library name a setting as it is called, "`max_seq_length`: expected …". Here the same text with settings of
/// the program's commands as they are typed: "--max_seq_length: expected …".
std::string with_flags(std::string_view text);

}  // namespace hone
