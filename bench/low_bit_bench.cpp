#include "bench/kernels_bench.h"
#include "hone/base/random.h"
#include "hone/kernels/int8_product.h"
#include "hone/kernels/packed_matrix.h"
#include "hone/kernels/scratch.h"
#include "hone/kernels/sign_product.h"
#include "hone/tensor/tensor.h"

namespace hone::kernels {
namespace {

// Returns normally distributed values. Rows of activations, too, have few large values, unlike uniform ones.
std::vector<float> random_activations(std::int64_t count) {
  RandomSequence random(7, 1);
  std::vector<float> x(static_cast<std::size_t>(count));
  for (float& value : x) value = static_cast<float>(random.normal());
  return x;
}

// Weights of `layers` linear layers in panels, and activations rounded for them. `block` = 0: one scale per row.
struct LowBit {
  GemmShape shape;
  std::int64_t block;
  int bits;
  std::vector<float> x, y, scales;
  std::vector<Tensor> codes, block_scales;
  Scratch memory;
  Int8Rows rows;

  LowBit(const GemmShape& shape_, std::int64_t block_, int bits_, std::int64_t layers)
      : shape(shape_), block(block_), bits(bits_) {
    x = random_activations(shape.m * shape.k);
    y.resize(static_cast<std::size_t>(shape.m * shape.n));
    scales = random_floats(shape.n);
    const Int8Shape rounded{shape.m, shape.k, block == 0 ? shape.k : block};
    rows = int8_rows(rounded, memory.floats(int8_rows_bytes(rounded) / sizeof(float)));
    const auto code_bytes = static_cast<std::int64_t>(packed_bytes({shape.n, shape.k, bits}));
    const auto scale_bytes =
        static_cast<std::int64_t>(packed_scale_bytes(shape.n, block == 0 ? 0 : rounded.blocks()));
    for (std::int64_t layer = 0; layer < layers; ++layer) {
      codes.push_back(Tensor::empty(DType::u8, {code_bytes}));
      RandomSequence random(7, static_cast<std::uint64_t>(layer));
      for (std::int64_t i = 0; i < code_bytes; ++i)
        codes.back().data<std::uint8_t>()[i] = static_cast<std::uint8_t>(random.below(256));
      block_scales.push_back(Tensor::empty(DType::u8, {scale_bytes}));
      std::fill_n(block_scales.back().data<std::uint8_t>(), scale_bytes, std::uint8_t{120});
    }
    round(pool_of(1));
  }
  void round(ThreadPool& pool) {
    if (block == 0) return round_rows(pool, x.data(), {}, rows);
    round_rows_in_blocks(pool, x.data(), {}, rows);
  }
  void multiply(ThreadPool& pool, std::size_t layer, const Epilogue& epilogue = {}) {
    Int8Weight weight{shape.n, shape.k, bits, codes[layer].data<std::uint8_t>()};
    if (block == 0) {
      weight.scales = scales.data();
    } else {
      weight.block_scales = block_scales[layer].data<std::uint8_t>();
    }
    int8_product(pool, rows, weight, epilogue, y.data(), shape.n);
  }
  double bytes() const {
    return static_cast<double>(codes.size()) *
           static_cast<double>(codes[0].size_bytes() + block_scales[0].size_bytes());
  }
};

std::string low_bit_name(std::int64_t block, int bits, int threads, const GemmShape& shape) {
  return std::to_string(bits) + "bit/" + (block == 0 ? "row" : "g" + std::to_string(block)) + "/" +
         std::to_string(threads) + "/" + name_of({shape, false, true});
}

// The timed work: the product alone, with the rounding of its activations, or with bias and GELU as well.
enum class LowBitPart { product, rounded, gelu };

void low_bit_product(benchmark::State& state, GemmShape shape, std::int64_t block, int bits,
                     LowBitPart part, int threads) {
  LowBit work(shape, block, bits, 1);
  ThreadPool& pool = pool_of(threads);
  Epilogue epilogue;
  if (part == LowBitPart::gelu)
    epilogue = {.bias = work.scales.data(), .activation = Activation::gelu_erf};
  for (auto _ : state) {
    if (part != LowBitPart::product) work.round(pool);
    work.multiply(pool, 0, epilogue);
  }
  report_integers(state, 2.0 * static_cast<double>(shape.m * shape.n * shape.k), threads);
}

// Weights of many layers, which exceed all caches. The share is relative to reading.
void low_bit_few_rows(benchmark::State& state, std::int64_t m, std::int64_t block, int bits,
                      int threads) {
  constexpr std::int64_t kLayers = 96;
  LowBit work({m, 1536, 768}, block, bits, kLayers);
  for (auto _ : state) {
    for (std::size_t layer = 0; layer < kLayers; ++layer) work.multiply(pool_of(threads), layer);
  }
  report_read(state, work.bytes(), threads);
}

void low_bit_rounding(benchmark::State& state, std::int64_t block, int threads) {
  LowBit work({1024, 32, 768}, block, 8, 1);
  for (auto _ : state) work.round(pool_of(threads));
  report_bytes(state, 5.0 * 1024 * 768, threads);
}

// Includes the rounding of activations to signs.
void sign_products(benchmark::State& state, GemmShape shape, int threads) {
  LowBit work(shape, 0, 1, 1);
  Scratch memory;
  const SignRows rows =
      sign_rows(shape.m, shape.k, memory.floats(sign_rows_bytes(shape.m, shape.k) / sizeof(float)));
  const SignWeight weight{shape.n, shape.k, work.codes[0].data<std::uint8_t>(), work.scales.data()};
  for (auto _ : state) {
    pack_signs(pool_of(threads), work.x.data(), true, rows);
    sign_product(pool_of(threads), rows, weight, {}, work.y.data(), shape.n);
  }
  report_signs(state, 2.0 * static_cast<double>(shape.m * shape.n * shape.k), threads);
}

}  // namespace

void register_low_bit() {
  const std::vector<GemmShape> shapes = {
      {1024, 768, 768}, {1024, 3072, 768}, {1024, 768, 3072}, {128, 768, 768}, {16, 768, 768}};
  const auto add = [](const std::string& name, auto function, auto... arguments) {
    benchmark::RegisterBenchmark(name.c_str(), function, arguments...)->UseRealTime();
  };
  for (const int threads : {1, 2}) {
    for (const std::int64_t block : {0, 16, 32, 64, 128}) {
      add("low_bit_rounding/" + std::to_string(block) + "/" + std::to_string(threads),
          low_bit_rounding, block, threads);
      for (const int bits : {8, 4}) {
        for (const GemmShape& shape : shapes) {
          const std::string name = low_bit_name(block, bits, threads, shape);
          add("low_bit/product/" + name, low_bit_product, shape, block, bits, LowBitPart::product,
              threads);
          add("low_bit/rounded/" + name, low_bit_product, shape, block, bits, LowBitPart::rounded,
              threads);
          add("low_bit/gelu/" + name, low_bit_product, shape, block, bits, LowBitPart::gelu,
              threads);
        }
      }
    }
    for (const std::int64_t rows : {1, 16, 1024}) {
      for (const std::int64_t outputs : {768, 3072}) {
        const GemmShape shape{rows, outputs, 768};
        add("low_bit/rounded/" + low_bit_name(0, 1, threads, shape), low_bit_product, shape,
            std::int64_t{0}, 1, LowBitPart::rounded, threads);
        add("low_bit/signs/" + std::to_string(threads) + "/" + name_of({shape, false, true}),
            sign_products, shape, threads);
      }
    }
    for (const std::int64_t block : {0, 32}) {
      for (const int bits : {8, 6, 4, 3, 2, 1}) {
        for (const std::int64_t rows : {1, 4, 16}) {
          add("low_bit_few_rows/" + low_bit_name(block, bits, threads, {rows, 1536, 768}),
              low_bit_few_rows, rows, block, bits, threads);
        }
      }
    }
  }
}

}  // namespace hone::kernels
