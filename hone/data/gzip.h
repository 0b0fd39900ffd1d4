#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hone {

/// Decompresses the gzip file `packed` (RFC 1952, all members in order). Messages begin with `where`. Throws
/// `UserError` if it is not gzip, damaged or truncated, or decompresses to more than `most_bytes`.
std::string gunzip(std::string_view packed, std::string_view where, std::size_t most_bytes);

}  // namespace hone
