#include "hone/data/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <limits>

#include "hone/base/error.h"
#include "hone/base/text.h"

namespace hone {
namespace {

// Owns a zlib stream.
class Inflater {
 public:
  Inflater() {
    constexpr int kGzipHeader = 16;
    HONE_ASSERT(inflateInit2(&stream, kGzipHeader + MAX_WBITS) == Z_OK, "zlib has no memory");
  }
  ~Inflater() { inflateEnd(&stream); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  z_stream stream{};
};

constexpr std::size_t kPiece = std::size_t{1} << 20;

// Makes room for the next piece, up to `most` bytes in total.
void grow(std::string& text, std::size_t size, std::size_t packed, std::size_t most,
          std::string_view where) {
  user_check(
      size < most,
      "{}: {} of gzip unpack to more than {}, which is too much for the memory that is free; "
      "give the file in several parts",
      where, human_bytes(static_cast<double>(packed)), human_bytes(static_cast<double>(most)));
  text.resize(std::min(std::max(2 * size, kPiece), most));
}

}  // namespace

std::string gunzip(std::string_view packed, std::string_view where, std::size_t most_bytes) {
  Inflater inflater;
  z_stream& z = inflater.stream;
  std::string text;
  std::size_t size = 0, taken = 0;
  bool member_ended = false;
  while (taken < packed.size() || !member_ended) {
    if (member_ended) inflateReset(&z);
    if (size == text.size()) grow(text, size, packed.size(), most_bytes, where);
    const std::size_t offered = std::min(packed.size() - taken, kPiece);
    const std::size_t room = std::min(text.size() - size, kPiece);
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data() + taken));
    z.avail_in = static_cast<uInt>(offered);
    z.next_out = reinterpret_cast<Bytef*>(text.data() + size);
    z.avail_out = static_cast<uInt>(room);
    const int status = inflate(&z, Z_NO_FLUSH);
    taken += offered - z.avail_in;
    size += room - z.avail_out;
    member_ended = status == Z_STREAM_END;
    user_check(status == Z_OK || member_ended,
               "{}: {} at byte {} of {}; fetch the file again, or unpack it with gunzip", where,
               status == Z_BUF_ERROR ? "the gzip data is cut off"
                                     : "this is not a gzip file, or it is damaged",
               taken, packed.size());
  }
  text.resize(size);
  return text;
}

}  // namespace hone
