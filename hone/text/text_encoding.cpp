#include "hone/text/text_encoding.h"

#include <iconv.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <utility>
#include <vector>

#include "hone/base/error.h"

namespace hone {
namespace {

// Python's names that iconv does not have, without case and punctuation.
constexpr std::pair<std::string_view, const char*> kOtherNames[] = {
    {"utf8sig", "UTF-8"},    {"utf16le", "UTF-16LE"},   {"utf16be", "UTF-16BE"},
    {"utf32le", "UTF-32LE"}, {"utf32be", "UTF-32BE"},   {"macroman", "MACINTOSH"},
    {"ascii", "US-ASCII"},   {"shiftjis", "SHIFT_JIS"}, {"big5hkscs", "BIG5-HKSCS"}};

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

std::string plain_name(std::string_view name) {
  std::string plain;
  for (const char c : name)
    if (is_letter_or_digit(c)) plain += c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
  return plain;
}

// Returns names that iconv may use for the encoding, the most likely first.
std::vector<std::string> names_for_iconv(const std::string& name) {
  const std::string plain = plain_name(name);
  for (const auto& [other, known] : kOtherNames)
    if (plain == other) return {known};
  std::string dashes = name;
  std::ranges::replace(dashes, '_', '-');
  return {name, dashes, plain};
}

class Converter {
 public:
  explicit Converter(const std::string& name) {
    // A slash would pass options to iconv.
    if (name.empty() || name.find('/') != std::string::npos) return;
    for (const std::string& own : names_for_iconv(name))
      if (descriptor_ == kNone) descriptor_ = ::iconv_open("UTF-8", own.c_str());
  }
  ~Converter() {
    if (descriptor_ != kNone) ::iconv_close(descriptor_);
  }
  Converter(const Converter&) = delete;
  Converter& operator=(const Converter&) = delete;

  bool exists() const { return descriptor_ != kNone; }

  // Converts `rest` up to the first malformed sequence, and removes what it has converted. Returns false at a malformed
  // sequence.
  bool convert(std::string_view& rest, std::string& text) {
    std::array<char, 16384> buffer;
    while (!rest.empty()) {
      char* in = const_cast<char*>(rest.data());
      char* out = buffer.data();
      std::size_t in_size = rest.size(), out_size = buffer.size();
      const std::size_t result = ::iconv(descriptor_, &in, &in_size, &out, &out_size);
      const int error = errno;
      text.append(buffer.data(), buffer.size() - out_size);
      rest.remove_prefix(rest.size() - in_size);
      if (result == static_cast<std::size_t>(-1) && error != E2BIG) return false;
    }
    return true;
  }

 private:
  static inline const iconv_t kNone = reinterpret_cast<iconv_t>(-1);
  iconv_t descriptor_ = kNone;
};

// Returns the code unit size in bytes, by which malformed text is skipped.
std::size_t unit_size(const std::string& encoding) {
  const std::string plain = plain_name(encoding);
  return plain.starts_with("utf16") ? 2 : plain.starts_with("utf32") ? 4 : 1;
}

}  // namespace

bool is_text_encoding(const std::string& name) { return Converter(name).exists(); }

std::string encoding_of_mark(std::string_view bytes) {
  using namespace std::string_view_literals;
  if (bytes.starts_with("\xff\xfe\0\0"sv) || bytes.starts_with("\0\0\xfe\xff"sv)) return "UTF-32";
  if (bytes.starts_with("\xff\xfe") || bytes.starts_with("\xfe\xff")) return "UTF-16";
  return "";
}

std::string to_utf8(std::string_view bytes, const std::string& encoding, std::int64_t& replaced) {
  Converter converter(encoding);
  user_check(converter.exists(),
             "`encoding`: '{}' is not supported; expected a name such as utf-8, utf-16, latin-1, "
             "windows-1252 or shift_jis",
             encoding);
  std::string text;
  text.reserve(bytes.size() + bytes.size() / 8);
  const std::size_t unit = unit_size(encoding);
  while (!converter.convert(bytes, text)) {
    text += "\xef\xbf\xbd";
    ++replaced;
    bytes.remove_prefix(std::min(unit, bytes.size()));
  }
  return text;
}

}  // namespace hone
