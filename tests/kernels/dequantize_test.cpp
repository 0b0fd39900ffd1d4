#include "hone/kernels/dequantize.h"

#include <sys/mman.h>
#include <unistd.h>

#include <bit>
#include <map>
#include <set>

#include "hone/base/cpu.h"
#include "hone/base/json.h"
#include "hone/kernels/quantize.h"
#include "tests/kernels/kernel_testing.h"
#include "tests/support/test_data.h"

namespace hone::kernels {
namespace {

using Bytes = std::vector<std::uint8_t>;
using Halves = std::vector<std::uint16_t>;

constexpr MxintDialect kDialects[] = {MxintDialect::ocp, MxintDialect::mase};
constexpr std::uint16_t kNanBits = 0x7fc0;

// Elements that own their memory.
struct Elements {
  std::int64_t count;
  std::int64_t group;
  int bits;
  Bytes codes, scales;

  MxintCodes view() const {
    return {.count = count,
            .group = group,
            .bits = bits,
            .codes = codes.data(),
            .scales = scales.data()};
  }
};

// Returns any codes, with scales near 1 or any scales.
Elements random_elements(std::int64_t count, std::int64_t group, int bits, bool any_scale) {
  RandomSequence random(3, static_cast<std::uint64_t>(count + group));
  Elements x{count, group, bits, {}, {}};
  x.codes.resize(static_cast<std::size_t>(x.view().code_bytes()));
  x.scales.resize(static_cast<std::size_t>(x.view().groups()));
  for (std::uint8_t& code : x.codes) code = static_cast<std::uint8_t>(random.next_word());
  for (std::uint8_t& scale : x.scales)
    scale = static_cast<std::uint8_t>(any_scale ? random.next_word() : 110 + random.below(30));
  return x;
}

// Returns every scale with every code: groups of all codes, or a scale for each code.
Elements all_elements(int bits, bool scale_each) {
  const std::int64_t codes = std::int64_t{1} << bits;
  Elements x{256 * codes, scale_each ? 1 : codes, bits, {}, {}};
  for (int scale = 0; scale < 256; ++scale) {
    for (int code = 0; code < codes; ++code) {
      if (bits == 8) x.codes.push_back(static_cast<std::uint8_t>(code));
      if (bits == 4 && code % 2 == 0)
        x.codes.push_back(static_cast<std::uint8_t>(code | (code + 1) << 4));
      if (scale_each || code == 0) x.scales.push_back(static_cast<std::uint8_t>(scale));
    }
  }
  return x;
}

template <class Value>
std::vector<Value> decoded(const Elements& x, MxintDialect dialect) {
  return same_for_any_target([&](ThreadPool& pool) {
    std::vector<Value> y(static_cast<std::size_t>(x.count));
    dequantize(pool, x.view(), dialect, y.data());
    return y;
  });
}

Halves reference(const Elements& x, MxintDialect dialect) {
  Halves y(static_cast<std::size_t>(x.count));
  dequantize_reference(x.view(), dialect, y.data());
  return y;
}

std::vector<float> widened(const Halves& halves) {
  std::vector<float> floats;
  for (const std::uint16_t half : halves)
    floats.push_back(std::bit_cast<float>(std::uint32_t{half} << 16));
  return floats;
}

void check_against_reference(const Elements& x) {
  for (const MxintDialect dialect : kDialects) {
    const Halves expected = reference(x, dialect);
    EXPECT_TRUE(same_bits(decoded<std::uint16_t>(x, dialect), expected));
    EXPECT_TRUE(same_bits(decoded<float>(x, dialect), widened(expected)));
  }
}

int mantissa_of(int byte) { return static_cast<std::int8_t>(byte); }

Json vectors() { return read_json(test_data() / "vectors" / "mxint8.json"); }

std::uint32_t bits_of(const std::string& hexadecimal) {
  return static_cast<std::uint32_t>(std::stoul(hexadecimal, nullptr, 16));
}

TEST(MxintElement, IsWhatTheVectorsSay) {
  const Json all = vectors();
  std::map<int, std::set<int>> differing;
  for (const auto& [scale, values] : all["mase_mxint8_dequant_bf16"].items()) {
    const auto ocp = all["ocp_mxint8_dequant_fp32"][scale].get<std::vector<std::string>>();
    ASSERT_EQ(values.size(), 256u);
    ASSERT_EQ(ocp.size(), 256u);
    for (int byte = 0; byte < 256; ++byte) {
      const auto e =
          decompose_mxint(8, mantissa_of(byte), static_cast<std::uint8_t>(std::stoi(scale)));
      const std::string mase = values[static_cast<std::size_t>(byte)];
      const std::string& plain = ocp[static_cast<std::size_t>(byte)];
      EXPECT_EQ(e.mase, mase == "nan" ? kNanBits : bits_of(mase)) << scale << " " << byte;
      EXPECT_EQ(std::uint32_t{e.ocp} << 16,
                plain == "nan" ? std::uint32_t{kNanBits} << 16 : bits_of(plain))
          << scale << " " << byte;
      if (e.mase != e.ocp) differing[e.scale].insert(byte);
    }
  }
  // Scale 0 differs for all bytes but 0. For scale 255 the vectors accept any NaN for any other.
  for (const Json& row : all["mase_vs_ocp_dequant_differences"]) {
    const int scale = row[0];
    if (row[1].is_string()) {
      EXPECT_EQ(differing[scale].size(), 255u);
    } else if (scale == 255) {
      for (const int byte : row[1]) EXPECT_TRUE(differing[scale].contains(byte));
    } else {
      EXPECT_EQ(differing[scale], row[1].get<std::set<int>>()) << scale;
    }
  }
}

// Checks the documented rule: mase-cuda decodes m as m 2^(scale - 133), with only these exceptions.
TEST(MxintElement, IsTheMantissaTimesAPowerButForTheListedExceptions) {
  int exceptions = 0;
  for (int scale = 0; scale < 256; ++scale) {
    for (int m = -128; m < 128; ++m) {
      const MxintElement e = decompose_mxint(8, m, static_cast<std::uint8_t>(scale));
      const double y = widened({e.mase})[0];
      const double formula = std::ldexp(m, scale - 133);
      const double sign = m < 0 ? -1 : 1;
      const int magnitude = std::abs(m);
      ++exceptions;
      if (m == -128 && scale < 255) {
        EXPECT_EQ(e.mase, 0) << scale;  // +0: neither a leading one nor a fraction
      } else if (scale == 0 && m != 0 && magnitude < 64) {
        EXPECT_EQ(y, 2 * formula) << m;  // a subnormal fraction has twice the weight
      } else if (scale == 0 && magnitude >= 64) {
        EXPECT_EQ(y, sign * std::ldexp(magnitude - 64, -132)) << m;  // and has no leading one
        EXPECT_EQ(std::signbit(y), m < 0) << m;                      // -64 is -0
      } else if (scale == 255 && magnitude == 64) {
        EXPECT_EQ(y, sign * double{kInfinity});
      } else if (scale == 255 && magnitude > 64 && m != -128) {
        EXPECT_EQ(e.mase, (m < 0 ? 0xff80 : 0x7f80) | 2 * (magnitude - 64)) << m;  // a NaN
      } else if (scale == 255) {
        EXPECT_EQ(e.mase, kNanBits) << m;
      } else {
        EXPECT_EQ(y, formula) << scale << " " << m;
        EXPECT_EQ(std::signbit(y), m < 0);
        --exceptions;
      }
      // The ocp dialect has two exceptions: scale 255, and one number too large for a float.
      const double ocp = widened({e.ocp})[0];
      if (scale == 255) {
        EXPECT_EQ(e.ocp, kNanBits);
      } else if (scale == 254 && m == -128) {
        EXPECT_EQ(ocp, -double{kInfinity});
      } else {
        EXPECT_EQ(ocp, formula);
      }
    }
  }
  EXPECT_EQ(exceptions, 255 + 2 * 63 + 2 * 64 + 256);
}

// The fields of one element, computed by hand.
TEST(MxintElement, IsSpelledOut) {
  const MxintElement e = decompose_mxint(8, -35, 130);  // -35/64 2^3
  EXPECT_TRUE(e.negative);
  EXPECT_EQ(e.magnitude, 35);
  EXPECT_FALSE(e.has_unit);
  EXPECT_TRUE(e.subtracts_bias);
  EXPECT_EQ(e.fraction, 35);
  EXPECT_EQ(e.out, 0b1'10000010'1000110);  // -(1 + 35/64) 2^3
  EXPECT_EQ(e.bias, 0b1'10000010'0000000);
  EXPECT_EQ(widened({e.mase})[0], -35.0f / 64 * 8);
  EXPECT_EQ(e.ocp, e.mase);
  const MxintElement with_unit = decompose_mxint(8, 99, 127);
  EXPECT_TRUE(with_unit.has_unit);
  EXPECT_FALSE(with_unit.subtracts_bias);
  EXPECT_EQ(with_unit.mase, with_unit.out);
  const MxintElement four = decompose_mxint(4, -7, 127);
  EXPECT_TRUE(four.has_unit);
  EXPECT_EQ(four.fraction, 3);
  EXPECT_EQ(widened({four.mase})[0], -1.75f);
}

TEST(Dequantize, AllScalesAndCodesAreThoseOfTheReference) {
  for (const int bits : {8, 4})
    for (const bool scale_each : {false, true})
      check_against_reference(all_elements(bits, scale_each));
}

// Tails, and groups that divide a vector, span several, or straddle it.
TEST(Dequantize, AnyCountAndGroupGoes) {
  std::vector<std::int64_t> counts = kOddSizes;
  counts.insert(counts.end(), {4095, 4096, 4097, 9001});
  for (const std::int64_t count : counts) {
    for (const std::int64_t group : {1,  2,  3,  4,  5,  7,   8,   9,    15,   16,   17,    31,
                                     32, 33, 48, 64, 96, 100, 512, 1000, 4095, 5000, 100000}) {
      SCOPED_TRACE(fmt::format("{} in groups of {}", count, group));
      check_against_reference(random_elements(count, group, count % 3 == 0 ? 4 : 8, false));
    }
  }
  for (const std::int64_t group : {1, 8, 16, 31, 32, 48})
    for (const int bits : {8, 4}) check_against_reference(random_elements(5000, group, bits, true));
}

TEST(Dequantize, ChunksOfThreadsMeet) {
  for (const std::int64_t group : {7, 32, 100000})
    for (const int bits : {8, 4})
      check_against_reference(random_elements(2 * 65536 + 4099, group, bits, false));
}

TEST(Dequantize, WritesWhatItIsGivenAndNoMore) {
  for (const std::int64_t count : kOddSizes) {
    const Elements x = random_elements(count, 5, 8, false);
    for_each_target([&] {
      ThreadPool pool(1);
      Halves y(static_cast<std::size_t>(count) + 64, 0x1234);
      dequantize(pool, x.view(), MxintDialect::ocp, y.data());
      EXPECT_EQ(Halves(y.begin() + count, y.end()), Halves(64, 0x1234));
    });
  }
}

TEST(Dequantize, NothingIsNothing) {
  ThreadPool pool(2);
  dequantize(pool, MxintCodes{}, MxintDialect::ocp, static_cast<float*>(nullptr));
}

// Decodes `count` elements in groups at once and in pieces, and compares the results.
template <class Value>
void check_around_caches(std::int64_t misaligned_bytes) {
  const auto value_bytes = static_cast<std::int64_t>(sizeof(Value));
  const std::int64_t count =
      static_cast<std::int64_t>(last_level_cache_bytes()) / value_bytes + 4099;
  ASSERT_TRUE(dequantize_partition(count, value_bytes).non_temporal);
  constexpr std::int64_t kGroup = 48, kPiece = 48 * 4096;
  Elements x{count, kGroup, 8, Bytes(static_cast<std::size_t>(count)), {}};
  x.scales.resize(static_cast<std::size_t>(x.view().groups()));
  for (std::size_t i = 0; i < x.codes.size(); ++i)
    x.codes[i] = static_cast<std::uint8_t>(i * 2654435761u >> 13);
  for (std::size_t i = 0; i < x.scales.size(); ++i)
    x.scales[i] = static_cast<std::uint8_t>(100 + i % 50);
  ThreadPool pool(2);
  std::vector<Value> memory(static_cast<std::size_t>(count) + 64), piece(kPiece);
  const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
  Value* const y = memory.data() + ((64 - address % 64) % 64 + misaligned_bytes) / value_bytes;
  dequantize(pool, x.view(), MxintDialect::ocp, y);
  for (std::int64_t i = 0; i < count; i += kPiece) {
    MxintCodes part = x.view();
    part.count = std::min(kPiece, count - i);
    part.codes += i;
    part.scales += i / kGroup;
    dequantize(pool, part, MxintDialect::ocp, piece.data());
    ASSERT_EQ(std::memcmp(piece.data(), y + i, static_cast<std::size_t>(part.count * value_bytes)),
              0)
        << i;
  }
}

TEST(Dequantize, AroundTheCachesTheValuesAreTheSame) {
  if (last_level_cache_bytes() > std::uint64_t{256} << 20)
    GTEST_SKIP() << "outputs larger than this machine's cache take too long";
  check_around_caches<std::uint16_t>(0);
  check_around_caches<std::uint16_t>(6);
  check_around_caches<float>(0);
}

// Maps the same memory many times in a row. More elements than an int can count then take little memory.
std::uint8_t* repeated(std::int64_t window, std::int64_t times) {
  const int file = ::memfd_create("windows", 0);
  EXPECT_EQ(::ftruncate(file, window), 0);
  void* const all = ::mmap(nullptr, static_cast<std::size_t>(window * times), PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  EXPECT_NE(all, MAP_FAILED);
  auto* const begin = static_cast<std::uint8_t*>(all);
  for (std::int64_t i = 0; i < times; ++i)
    EXPECT_EQ(::mmap(begin + i * window, static_cast<std::size_t>(window), PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_FIXED, file, 0),
              begin + i * window);
  ::close(file);
  return begin;
}

TEST(LongDequantize, MoreElementsThanAnIntCounts) {
  constexpr std::int64_t kWindow = std::int64_t{8} << 20, kTimes = 257;  // 2^31 + 2^23 elements
  constexpr std::int64_t kGroup = 64;
  std::uint8_t* const codes = repeated(kWindow, kTimes);
  std::uint8_t* const y = repeated(2 * kWindow, kTimes);
  for (std::int64_t i = 0; i < kWindow; ++i)
    codes[i] = static_cast<std::uint8_t>(i * 2654435761 >> 13);
  const Bytes scales(static_cast<std::size_t>(kWindow * kTimes / kGroup), 127);
  const MxintCodes x{
      .count = kWindow * kTimes, .group = kGroup, .codes = codes, .scales = scales.data()};
  ThreadPool pool(2);
  dequantize(pool, x, MxintDialect::mase, reinterpret_cast<std::uint16_t*>(y));
  MxintCodes one = x;
  one.count = kWindow;
  Halves expected(kWindow);
  dequantize(pool, one, MxintDialect::mase, expected.data());
  EXPECT_EQ(std::memcmp(y, expected.data(), 2 * kWindow), 0);
  ::munmap(codes, kWindow * kTimes);
  ::munmap(y, 2 * kWindow * kTimes);
}

TEST(MoveBytes, WritesAllAndNoMore) {
  for_each_target([] {
    for (const std::int64_t chunks : {1, 3}) {
      for (const bool non_temporal : {false, true}) {
        for (const std::int64_t bytes : {1, 63, 64, 100, 1000, 20000}) {
          ThreadPool pool(2);
          const Bytes x(static_cast<std::size_t>(bytes));
          alignas(64) static std::uint8_t y[2 * 20000 + 64];
          std::fill(std::begin(y), std::end(y), std::uint8_t{7});
          move_bytes(pool, chunks, non_temporal, bytes, x.data(), 2 * bytes, y);
          EXPECT_EQ(std::count(y, y + 2 * bytes, 0), 2 * bytes) << bytes;
          EXPECT_EQ(std::count(y, std::end(y), 7), std::end(y) - y - 2 * bytes) << bytes;
        }
      }
    }
  });
}

}  // namespace
}  // namespace hone::kernels
