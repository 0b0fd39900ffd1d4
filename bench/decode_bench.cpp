#include <bit>
#include <chrono>

#include "bench/kernels_bench.h"
#include "hone/kernels/dequantize.h"
#include "hone/kernels/quantize.h"
#include "hone/tensor/tensor.h"

namespace hone::kernels {
namespace {

// MXINT codes, followed by their scales, and memory for the decoded values.
struct Codes {
  std::int64_t count;
  std::int64_t group;
  Tensor bytes, values;

  Codes(std::int64_t elements, std::int64_t group_elements)
      : count(elements),
        group(group_elements),
        bytes(Tensor::empty(DType::u8, {elements + elements / group_elements})),
        values(Tensor::zeros(DType::f32, {elements})) {
    auto* const code = bytes.data<std::uint8_t>();
    for (std::int64_t i = 0; i < bytes.count(); ++i)
      code[i] = static_cast<std::uint8_t>(i < count ? i * 2654435761 >> 13 : 100 + i % 50);
  }
  MxintCodes view(int bits) const {
    const auto* const code = bytes.data<std::uint8_t>();
    return {.count = count, .group = group, .bits = bits, .codes = code, .scales = code + count};
  }
};

// Does the same as mase-cuda's host function, according to its description. It copies both inputs and uses one thread
// and a division per element. Bits 6 … 0 of the magnitude are the unit and the fraction; a value without the unit is
// the difference of two bfloat16.
void mase_cuda_host(const MxintCodes& x, std::uint16_t* y) {
  const std::vector<std::int8_t> mantissas(x.codes, x.codes + x.count);
  const std::vector<std::uint8_t> scales(x.scales, x.scales + x.groups());
  const auto count = static_cast<int>(x.count), group = static_cast<int>(x.group);
  const auto widened = [](int bits) { return std::bit_cast<float>(bits << 16); };
  for (int i = 0; i < count; ++i) {
    const int mantissa = mantissas[static_cast<std::size_t>(i)];
    const int exponent = scales[static_cast<std::size_t>(i / group)] << 7;
    const int sign = mantissa & 0x8000;
    const int magnitude = mantissa < 0 ? -mantissa : mantissa;
    const int out = sign | exponent | (magnitude & 0x3f) << 1;
    const float difference = widened(out) - widened(sign | exponent);
    y[i] = static_cast<std::uint16_t>(
        (magnitude & 0x40) != 0 ? out : std::bit_cast<std::uint32_t>(difference) >> 16);
  }
}

// Returns the seconds of the fastest of three runs.
template <typename Body>
double best_of_three(Body&& body) {
  double best = 1e30;
  for (int run = 0; run < 3; ++run) {
    const auto start = std::chrono::steady_clock::now();
    body();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    best = std::min(best, took.count());
  }
  return best;
}

// Reports the fastest run. Runs alternate with moving the same bytes, so that both see the same machine.
template <typename Value>
void decode(benchmark::State& state, std::int64_t count, std::int64_t group, int bits,
            int threads) {
  const Codes codes(count, group);
  const MxintCodes x = codes.view(bits);
  ThreadPool& pool = pool_of(threads);
  auto* const y = codes.values.data<float>();
  constexpr std::int64_t kValueBytes = sizeof(Value);
  const DequantizePartition partition = dequantize_partition(count, kValueBytes);
  double moved = 1e30, decoded = 1e30;
  for (auto _ : state) {
    const double seconds = best_of_three(
        [&] { dequantize(pool, x, MxintDialect::mase, reinterpret_cast<Value*>(y)); });
    state.SetIterationTime(seconds);
    decoded = std::min(decoded, seconds);
    moved = std::min(moved, best_of_three([&] {
                       move_bytes(pool, partition.chunks, partition.non_temporal,
                                  x.code_bytes() + x.groups(), x.codes, count * kValueBytes,
                                  reinterpret_cast<std::uint8_t*>(y));
                     }));
  }
  const double bytes = static_cast<double>(x.code_bytes() + x.groups() + count * kValueBytes);
  state.counters["Gelem/s"] = static_cast<double>(count) / decoded * 1e-9;
  state.counters["GB/s"] = bytes / decoded * 1e-9;
  state.counters["share"] = moved / decoded;
  if (bits == 8 && kValueBytes == 2)
    state.counters["times_mase"] =
        best_of_three([&] { mase_cuda_host(x, reinterpret_cast<std::uint16_t*>(y)); }) / decoded;
}

void encode(benchmark::State& state, std::int64_t count, std::int64_t group, int threads) {
  const std::vector<float> x = random_floats(count);
  const Tensor codes = Tensor::zeros(DType::u8, {count + count / group});
  auto* const code = codes.data<std::uint8_t>();
  for (auto _ : state)
    quantize_mxint8(pool_of(threads), count, group, MxintDialect::ocp, x.data(), code,
                    code + count);
  report_bytes(state, static_cast<double>(5 * count + count / group), threads);
}

}  // namespace

void register_mxint() {
  for (const std::int64_t count : {std::int64_t{1} << 20, std::int64_t{4096} * 14336}) {
    for (const int threads : {1, 2}) {
      for (const std::int64_t group : {8, 16, 32, 512}) {
        const std::string what =
            std::to_string(threads) + "/" + std::to_string(count) + "/" + std::to_string(group);
        for (const int bits : {8, 4}) {
          const std::string name = "decode/mxint" + std::to_string(bits) + "/" + what;
          benchmark::RegisterBenchmark((name + "/bf16").c_str(), decode<std::uint16_t>, count,
                                       group, bits, threads)
              ->UseManualTime();
          benchmark::RegisterBenchmark((name + "/fp32").c_str(), decode<float>, count, group, bits,
                                       threads)
              ->UseManualTime();
        }
        benchmark::RegisterBenchmark(("encode/mxint8/" + what).c_str(), encode, count, group,
                                     threads)
            ->UseRealTime();
      }
    }
  }
}

}  // namespace hone::kernels
