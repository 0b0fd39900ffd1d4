#include <algorithm>

#include "bench/kernels_bench.h"
#include "hone/base/random.h"
#include "hone/kernels/int8_product.h"
#include "hone/kernels/packed_matrix.h"
#include "hone/kernels/scratch.h"
#include "hone/kernels/sparse_int8_product.h"
#include "hone/tensor/tensor.h"

namespace hone::kernels {
namespace {

// Rounded activations, and weights with normally distributed codes, clipped at 5 standard deviations. Only the largest
// blocks are stored; `sparsity`, in percent, determines how many. Codes of a wider distribution are split more often,
// and take longer without VNNI.
struct Sparse {
  GemmShape shape;
  SparseInt8Matrix matrix;
  Scratch memory;
  Int8Rows rows;
  std::vector<float> y, scales;
  Tensor packed, bytes;

  Sparse(const GemmShape& shape_, int bits, int sparsity)
      : shape(shape_), matrix{shape.n, shape.k, bits} {
    y.resize(static_cast<std::size_t>(shape.m * shape.n));
    scales = random_floats(shape.n);
    const Int8Shape rounded{shape.m, shape.k, shape.k};
    rows = int8_rows(rounded, memory.floats(int8_rows_bytes(rounded) / sizeof(float)));
    RandomSequence random(7, 1);
    std::vector<float> x(static_cast<std::size_t>(shape.m * shape.k));
    for (float& value : x) value = static_cast<float>(random.normal());
    round_rows(pool_of(1), x.data(), {}, rows);
    const std::vector<std::uint16_t> codes = random_codes(sparsity);
    const PackedMatrix dense{shape.n, shape.k, bits, static_cast<std::uint16_t>(1 << (bits - 1))};
    packed = Tensor::empty(DType::u8, {static_cast<std::int64_t>(packed_bytes(dense))});
    arrange(pool_of(1), dense, codes.data(), packed.data<std::uint8_t>());
    const std::int64_t entries = count_blocks(pool_of(1), matrix, codes.data()).entries;
    bytes = Tensor::empty(DType::u8, {static_cast<std::int64_t>(sparse_bytes(matrix, entries))});
    arrange(pool_of(1), matrix, codes.data(), bytes.data<std::uint8_t>());
  }
  std::vector<std::uint16_t> random_codes(int sparsity) const {
    RandomSequence random(7, 2);
    const int highest = (1 << (matrix.bits - 1)) - 1;
    std::vector<std::uint16_t> codes(static_cast<std::size_t>(shape.n * shape.k));
    std::vector<std::pair<int, std::size_t>> blocks;  // sum of squares, first code
    for (std::size_t i = 0; i < codes.size(); i += 4) {
      int squares = 0;
      for (std::size_t j = i; j < i + 4; ++j) {
        const double value = random.normal() * highest / 5;
        const auto code = static_cast<int>(std::clamp<double>(value, -highest, highest));
        codes[j] = static_cast<std::uint16_t>(code & (2 * highest + 1));
        squares += code * code;
      }
      blocks.emplace_back(squares, i);
    }
    std::sort(blocks.begin(), blocks.end());
    const std::size_t removed = blocks.size() * static_cast<std::size_t>(sparsity) / 100;
    for (std::size_t b = 0; b < removed; ++b)
      std::fill_n(codes.begin() + static_cast<std::ptrdiff_t>(blocks[b].second), 4,
                  std::uint16_t{0});
    return codes;
  }
};

void sparse_product(benchmark::State& state, GemmShape shape, int bits, int sparsity, int threads) {
  Sparse work(shape, bits, sparsity);
  const SparseInt8Weight weight{work.matrix, work.bytes.data<std::uint8_t>(), work.scales.data()};
  for (auto _ : state)
    sparse_int8_product(pool_of(threads), work.rows, weight, {}, work.y.data(), shape.n);
  report_integers(state, 2.0 * static_cast<double>(shape.m * shape.n * shape.k), threads);
  state.counters["bytes"] =
      static_cast<double>(work.bytes.size_bytes()) / static_cast<double>(work.packed.size_bytes());
}

void dense_product(benchmark::State& state, GemmShape shape, int bits, int threads) {
  Sparse work(shape, bits, 0);
  const Int8Weight weight{.rows = shape.n,
                          .columns = shape.k,
                          .bits = bits,
                          .codes = work.packed.data<std::uint8_t>(),
                          .scales = work.scales.data()};
  for (auto _ : state)
    int8_product(pool_of(threads), work.rows, weight, {}, work.y.data(), shape.n);
  report_integers(state, 2.0 * static_cast<double>(shape.m * shape.n * shape.k), threads);
}

}  // namespace

void register_sparse_int8() {
  const auto add = [](const std::string& name, auto function, auto... arguments) {
    benchmark::RegisterBenchmark(name.c_str(), function, arguments...)->UseRealTime();
  };
  for (const int threads : {1, 2}) {
    for (const GemmShape& shape : std::vector<GemmShape>{{1024, 768, 768},
                                                         {1024, 3072, 768},
                                                         {1024, 768, 3072},
                                                         {128, 768, 768},
                                                         {32, 512, 128},
                                                         {16, 768, 768},
                                                         {8, 768, 768},
                                                         {4, 768, 768},
                                                         {1, 768, 768}}) {
      const std::string name = std::to_string(threads) + "/" + name_of({shape, false, true});
      add("sparse/fp32/" + name, gemm_ours, Product{shape, false, true}, threads);
      for (const int bits : {8, 4}) {
        const std::string of_bits = "sparse/" + std::to_string(bits) + "bit/";
        add(of_bits + "dense/" + name, dense_product, shape, bits, threads);
        for (const int sparsity : {50, 70, 80, 90, 95})
          add(of_bits + std::to_string(sparsity) + "/" + name, sparse_product, shape, bits,
              sparsity, threads);
      }
    }
  }
}

}  // namespace hone::kernels
