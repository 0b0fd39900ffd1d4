#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hone {

/// What the gzip file `packed` holds (RFC 1952; all its members, one after the other). `where` opens
/// the messages. Throws `UserError`: not gzip, damaged or cut off, more than `most_bytes` when
/// unpacked.
std::string gunzip(std::string_view packed, std::string_view where, std::size_t most_bytes);

}  // namespace hone
