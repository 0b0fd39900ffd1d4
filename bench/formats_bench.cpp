// Measures the speed of the quantizers relative to a copy of the same bytes:
//
//     formats_bench            # all formats
//     formats_bench minifloat  # those whose text contains a word
//
// Prints for each format, with one and two threads, in cache (256 KiB) and from memory (64 MiB): GB/s of the fastest
// round, with each byte read and written once, and the share of memcpy's speed, of the fastest rounds and in the median
// of all. A round runs both, one after the other, so that other load on the machine affects both.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/error.h"
#include "hone/base/random.h"
#include "hone/base/thread_pool.h"
#include "hone/formats/calibrate.h"
#include "hone/formats/format.h"
#include "hone/kernels/grain.h"

namespace {

using namespace hone;
using Clock = std::chrono::steady_clock;

constexpr std::int64_t kColumns = 768;
constexpr std::int64_t kCachedRows = 85;
constexpr std::int64_t kMemoryRows = 21845;

// Formats in addition to those with default parameters.
const std::vector<std::string_view> kMoreFormats = {
    "integer(width=8,frac=4)",
    "integer(width=8,frac=4,rounding=floor)",
    "log(width=8,exponent_bias=63)",
    "minifloat_ieee(width=8,exponent_width=5)",
    "minifloat_ieee(width=16,exponent_width=8)",
    "minifloat_ieee(mode=mase)",
    "log(mode=mase)",
};

// Rows of weights, and memory for the result.
struct Tensors {
  Sizes sizes;
  std::vector<float> x;
  std::vector<float> y;

  explicit Tensors(std::int64_t rows)
      : sizes{rows, kColumns}, x(static_cast<std::size_t>(rows * kColumns)), y(x.size()) {
    RandomSequence random(5, stream_of("weights"));
    const std::size_t drawn = std::min<std::size_t>(x.size(), kCachedRows * kColumns);
    for (std::size_t i = 0; i < drawn; ++i) x[i] = static_cast<float>(0.05 * random.normal());
    for (std::size_t i = drawn; i < x.size(); ++i) x[i] = x[i - drawn];
  }
};

void copy(ThreadPool& pool, Tensors& tensors) {
  const auto count = static_cast<std::int64_t>(tensors.x.size());
  parallel_ranges(pool, count, kernels::kChunkElements, [&](std::int64_t begin, std::int64_t end) {
    std::memcpy(tensors.y.data() + begin, tensors.x.data() + begin,
                static_cast<std::size_t>(end - begin) * sizeof(float));
  });
}

template <typename Body>
double seconds_of(int repetitions, Body&& body) {
  const auto start = Clock::now();
  for (int i = 0; i < repetitions; ++i) body();
  return std::chrono::duration<double>(Clock::now() - start).count() / repetitions;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

struct Speed {
  double gbps;
  double share_of_fastest;
  double median_share;
};

Speed measure(const Format& format, std::span<const Tensor> state, ThreadPool& pool,
              Tensors& tensors) {
  const auto quantize = [&] {
    format.def->quantize({format, tensors.sizes, tensors.x, state}, pool, tensors.y);
  };
  const double bytes = 2.0 * sizeof(float) * static_cast<double>(tensors.x.size());
  // Some tenths of a millisecond, so that the clock's overhead does not matter.
  const int repetitions = bytes < 1e6 ? 20 : 1;
  seconds_of(2, quantize);
  std::vector<double> own, shares;
  double fastest_copy = 1e30;
  const auto begin = Clock::now();
  while (own.size() < 5 || (own.size() < 200 && Clock::now() - begin < std::chrono::seconds(1))) {
    const double copied = seconds_of(repetitions, [&] { copy(pool, tensors); });
    fastest_copy = std::min(fastest_copy, copied);
    own.push_back(seconds_of(repetitions, quantize));
    shares.push_back(copied / own.back());
  }
  const double fastest = *std::ranges::min_element(own);
  return {bytes / fastest * 1e-9, fastest_copy / fastest, median(shares)};
}

std::vector<Format> chosen(const FormatTable& table, std::string_view word) {
  std::vector<Format> formats;
  const auto add = [&](std::string_view text) {
    const Format format = parse_format(text, table);
    if (to_string(format).find(word) != std::string::npos) formats.push_back(format);
  };
  for (const auto& [name, def] : table) add(name);
  for (const std::string_view text : kMoreFormats) add(text);
  return formats;
}

void run(std::string_view word) {
  const FormatTable table = builtin_formats();
  ThreadPool one(1), two(2);
  Tensors cached(kCachedRows), memory(kMemoryRows);
  const std::vector<Format> formats = chosen(table, word);
  std::size_t width = 30;
  for (const Format& format : formats) width = std::max(width, to_string(format).size());
  fmt::print("{:<{}}{:>20}{:>20}{:>20}{:>20}\n", "GB/s, share of memcpy (median)", width,
             "1, cache", "2, cache", "1, memory", "2, memory");
  for (const Format& format : formats) {
    std::string line = fmt::format("{:<{}}", to_string(format), width);
    for (Tensors* tensors : {&cached, &memory}) {
      const std::vector<Tensor> state = calibrate_tensor(format, tensors->sizes, tensors->x);
      for (ThreadPool* pool : {&one, &two}) {
        const Speed speed = measure(format, state, *pool, *tensors);
        line += fmt::format("{:>7.1f} {:>4.0f}% ({:>3.0f}%)", speed.gbps,
                            100 * speed.share_of_fastest, 100 * speed.median_share);
      }
    }
    fmt::print("{}\n", line);
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(argc > 1 ? argv[1] : "");
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}
