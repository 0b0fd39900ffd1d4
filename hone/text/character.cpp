#include "hone/text/character.h"

#include <utf8proc.h>

#include <algorithm>
#include <iterator>

#include "hone/base/error.h"

namespace hone {
namespace {

struct Range {
  char32_t first, last;
};

// Punctuation, marks and format characters that Unicode defined or reclassified after version 8, and one letter that
// has decomposed since: unknown to the tables of `tokenizers`. tests/text/golden/characters.json has the classes of all
// code points according to that library.
constexpr Range kLater[] = {
    {0x061d, 0x061d},   {0x07fd, 0x07fd},   {0x0890, 0x0891},   {0x0898, 0x089f},
    {0x08ca, 0x08e2},   {0x09fd, 0x09fe},   {0x0a76, 0x0a76},   {0x0afa, 0x0aff},
    {0x0b55, 0x0b55},   {0x0c04, 0x0c04},   {0x0c3c, 0x0c3c},   {0x0c77, 0x0c77},
    {0x0c84, 0x0c84},   {0x0d00, 0x0d00},   {0x0d3b, 0x0d3c},   {0x0d81, 0x0d81},
    {0x0eba, 0x0eba},   {0x0ece, 0x0ece},   {0x180f, 0x180f},   {0x1885, 0x1886},
    {0x1abf, 0x1ace},   {0x1b7d, 0x1b7e},   {0x1df6, 0x1dfb},   {0x2e43, 0x2e4f},
    {0x2e52, 0x2e5d},   {0xa82c, 0xa82c},   {0xa8c5, 0xa8c5},   {0xa8ff, 0xa8ff},
    {0xa9bd, 0xa9bd},   {0x10d24, 0x10d27}, {0x10eab, 0x10ead}, {0x10efd, 0x10eff},
    {0x10f46, 0x10f50}, {0x10f55, 0x10f59}, {0x10f82, 0x10f89}, {0x11070, 0x11070},
    {0x11073, 0x11074}, {0x110c2, 0x110c2}, {0x110cd, 0x110cd}, {0x111c9, 0x111c9},
    {0x111cf, 0x111cf}, {0x1123e, 0x1123e}, {0x11241, 0x11241}, {0x1133b, 0x1133b},
    {0x11438, 0x1143f}, {0x11442, 0x11444}, {0x11446, 0x11446}, {0x1144b, 0x1144f},
    {0x1145a, 0x1145b}, {0x1145d, 0x1145e}, {0x11660, 0x1166c}, {0x116b9, 0x116b9},
    {0x1182f, 0x11837}, {0x11839, 0x1183b}, {0x11938, 0x11938}, {0x1193b, 0x1193c},
    {0x1193e, 0x1193e}, {0x11943, 0x11946}, {0x119d4, 0x119d7}, {0x119da, 0x119db},
    {0x119e0, 0x119e0}, {0x119e2, 0x119e2}, {0x11a01, 0x11a0a}, {0x11a33, 0x11a38},
    {0x11a3b, 0x11a47}, {0x11a51, 0x11a56}, {0x11a59, 0x11a5b}, {0x11a8a, 0x11a96},
    {0x11a98, 0x11a9c}, {0x11a9e, 0x11aa2}, {0x11b00, 0x11b09}, {0x11c30, 0x11c36},
    {0x11c38, 0x11c3d}, {0x11c3f, 0x11c3f}, {0x11c41, 0x11c45}, {0x11c70, 0x11c71},
    {0x11c92, 0x11ca7}, {0x11caa, 0x11cb0}, {0x11cb2, 0x11cb3}, {0x11cb5, 0x11cb6},
    {0x11d31, 0x11d36}, {0x11d3a, 0x11d3a}, {0x11d3c, 0x11d3d}, {0x11d3f, 0x11d45},
    {0x11d47, 0x11d47}, {0x11d90, 0x11d91}, {0x11d95, 0x11d95}, {0x11d97, 0x11d97},
    {0x11ef3, 0x11ef4}, {0x11ef7, 0x11ef8}, {0x11f00, 0x11f01}, {0x11f36, 0x11f3a},
    {0x11f40, 0x11f40}, {0x11f42, 0x11f4f}, {0x11fff, 0x11fff}, {0x12ff1, 0x12ff2},
    {0x13430, 0x13440}, {0x13447, 0x13455}, {0x16e97, 0x16e9a}, {0x16f4f, 0x16f4f},
    {0x16fe2, 0x16fe2}, {0x16fe4, 0x16fe4}, {0x1cf00, 0x1cf2d}, {0x1cf30, 0x1cf46},
    {0x1e000, 0x1e006}, {0x1e008, 0x1e018}, {0x1e01b, 0x1e021}, {0x1e023, 0x1e024},
    {0x1e026, 0x1e02a}, {0x1e08f, 0x1e08f}, {0x1e130, 0x1e136}, {0x1e2ae, 0x1e2ae},
    {0x1e2ec, 0x1e2ef}, {0x1e4ec, 0x1e4ef}, {0x1e944, 0x1e94a}, {0x1e95e, 0x1e95f}};

// Letters and numbers newer than utf8proc's Unicode 15: the regular expressions of `tokenizers` use Unicode 16.
constexpr Range kLaterLetters[] = {
    {0x1c89, 0x1c8a},   {0xa7cb, 0xa7cd},   {0xa7da, 0xa7dc},   {0x105c0, 0x105f3},
    {0x10d4a, 0x10d65}, {0x10d6f, 0x10d85}, {0x10ec2, 0x10ec4}, {0x11380, 0x11389},
    {0x1138b, 0x1138b}, {0x1138e, 0x1138e}, {0x11390, 0x113b5}, {0x113b7, 0x113b7},
    {0x113d1, 0x113d1}, {0x113d3, 0x113d3}, {0x11bc0, 0x11be0}, {0x13460, 0x143fa},
    {0x16100, 0x1611d}, {0x16d40, 0x16d6c}, {0x18cff, 0x18cff}, {0x1e5d0, 0x1e5ed},
    {0x1e5f0, 0x1e5f0}, {0x2ebf0, 0x2ee5d}};
constexpr Range kLaterNumbers[] = {{0x10d40, 0x10d49}, {0x116d0, 0x116e3}, {0x11bf0, 0x11bf9},
                                   {0x16130, 0x16139}, {0x16d70, 0x16d79}, {0x1ccf0, 0x1ccf9},
                                   {0x1e5f1, 0x1e5fa}};

// Marks that are also newer, and characters that are alphabetic by property rather than category.
constexpr Range kLaterMarks[] = {{0x0897, 0x0897},   {0x10d69, 0x10d6d}, {0x10efc, 0x10efc},
                                 {0x113b8, 0x113c0}, {0x113c2, 0x113c2}, {0x113c5, 0x113c5},
                                 {0x113c7, 0x113ca}, {0x113cc, 0x113d0}, {0x113d2, 0x113d2},
                                 {0x113e1, 0x113e2}, {0x11f5a, 0x11f5a}, {0x1611e, 0x1612f},
                                 {0x1e5ee, 0x1e5ef}};

// Returns whether `c` is in one of the ranges, which are sorted.
template <std::size_t count>
bool in_ranges(const Range (&ranges)[count], char32_t c) {
  const Range* range =
      std::lower_bound(std::begin(ranges), std::end(ranges), c,
                       [](const Range& r, char32_t value) { return r.last < value; });
  return range != std::end(ranges) && range->first <= c;
}

bool defined_later(char32_t c) { return in_ranges(kLater, c); }

// Capitals newer than utf8proc's Unicode 15: every `step`th in [first, last] is `distance` before its lower case
// letter.
struct CapitalRange {
  char32_t first, last, step;
  std::int32_t distance;
};
constexpr CapitalRange kLaterCapitals[] = {
    {0x1c89, 0x1c89, 1, 1},      {0xa7cb, 0xa7cb, 1, 0x264 - 0xa7cb},
    {0xa7cc, 0xa7ce, 2, 1},      {0xa7d2, 0xa7d4, 2, 1},
    {0xa7da, 0xa7da, 1, 1},      {0xa7dc, 0xa7dc, 1, 0x19b - 0xa7dc},
    {0x10d50, 0x10d65, 1, 0x20}, {0x16ea0, 0x16eb8, 1, 0x1b},
};

utf8proc_category_t category(char32_t c) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(c));
}

}  // namespace

bool is_removed(char32_t c) {
  if (c == 0 || c == 0xfffd) return true;
  if (c == '\t' || c == '\n' || c == '\r') return false;
  return category(c) >= UTF8PROC_CATEGORY_CC && !defined_later(c);
}

bool is_white_space(char32_t c) {
  if (c < 0x80) return c == ' ' || (c >= '\t' && c <= '\r');
  const utf8proc_category_t k = category(c);
  return c == 0x85 || (k >= UTF8PROC_CATEGORY_ZS && k <= UTF8PROC_CATEGORY_ZP);
}

bool is_punctuation(char32_t c) {
  if (c < 0x80) {
    return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') ||
           (c >= '{' && c <= '~');
  }
  if (c == 0x166d || c == 0x111c9) return true;  // reclassified after Unicode 8
  const utf8proc_category_t k = category(c);
  return k >= UTF8PROC_CATEGORY_PC && k <= UTF8PROC_CATEGORY_PO && !defined_later(c);
}

bool is_letter(char32_t c) {
  if (c < 0x80) return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  const utf8proc_category_t k = category(c);
  return (k >= UTF8PROC_CATEGORY_LU && k <= UTF8PROC_CATEGORY_LO) || in_ranges(kLaterLetters, c);
}

bool is_number(char32_t c) {
  if (c < 0x80) return c >= '0' && c <= '9';
  const utf8proc_category_t k = category(c);
  return (k >= UTF8PROC_CATEGORY_ND && k <= UTF8PROC_CATEGORY_NO) || in_ranges(kLaterNumbers, c);
}

bool is_word_character(char32_t c) {
  if (c < 0x80) return is_letter(c) || is_number(c) || c == '_';
  constexpr Range kOthers[] = {{0x200c, 0x200d},
                               {0x24b6, 0x24e9},
                               {0x1f130, 0x1f149},
                               {0x1f150, 0x1f169},
                               {0x1f170, 0x1f189}};
  const utf8proc_category_t k = category(c);
  const bool mark = k >= UTF8PROC_CATEGORY_MN && k <= UTF8PROC_CATEGORY_ME;
  return mark || k == UTF8PROC_CATEGORY_ND || k == UTF8PROC_CATEGORY_NL ||
         k == UTF8PROC_CATEGORY_PC || is_letter(c) || in_ranges(kLaterNumbers, c) ||
         in_ranges(kLaterMarks, c) || in_ranges(kOthers, c);
}

bool is_cjk_ideograph(char32_t c) {
  constexpr Range kBlocks[] = {{0x3400, 0x4dbf},   {0x4e00, 0x9fff},   {0xf900, 0xfaff},
                               {0x20000, 0x2a6df}, {0x2a700, 0x2b73f}, {0x2b740, 0x2b81f},
                               {0x2b920, 0x2ceaf}, {0x2f800, 0x2fa1f}};
  return c >= 0x3400 &&
         std::any_of(std::begin(kBlocks), std::end(kBlocks),
                     [c](const Range& block) { return block.first <= c && c <= block.last; });
}

bool is_nonspacing_mark(char32_t c) {
  if (c < 0x300) return false;
  if (c == 0x1734) return true;  // reclassified after Unicode 8
  return category(c) == UTF8PROC_CATEGORY_MN && !defined_later(c);
}

int combining_class(char32_t c) {
  if (c < 0x300 || defined_later(c)) return 0;
  return utf8proc_get_property(static_cast<utf8proc_int32_t>(c))->combining_class;
}

ShortSequence decompose(char32_t c) {
  ShortSequence result{{c}, 1};
  if (c < 0xc0 || defined_later(c)) return result;
  utf8proc_int32_t buffer[4];
  int boundary = 0;
  const auto size = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(c), buffer, 4,
                                            UTF8PROC_DECOMPOSE, &boundary);
  HONE_ASSERT(size >= 0 && size <= 4, "U+{:04X} decomposes into {} code points",
              static_cast<std::uint32_t>(c), size);
  std::copy_n(buffer, size, result.values);
  result.size = static_cast<int>(size);
  return result;
}

ShortSequence to_lower(char32_t c) {
  if (c == 0x130) return {{'i', 0x307}, 2};
  for (const CapitalRange& range : kLaterCapitals) {
    if (c < range.first || c > range.last || (c - range.first) % range.step != 0) continue;
    return {{static_cast<char32_t>(static_cast<std::int32_t>(c) + range.distance)}, 1};
  }
  return {{static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c)))}, 1};
}

}  // namespace hone
