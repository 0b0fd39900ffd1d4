#include <cmath>

#include "bench/kernels_bench.h"
#include "hone/kernels/packed_matrix.h"
#include "hone/kernels/weight_only_product.h"
#include "hone/tensor/tensor.h"

namespace hone::kernels {
namespace {

// Properties of a format's codes that matter for its products.
struct CodeKind {
  const char* name;
  int bits;
  std::int64_t block;  // 0: one scale per row
  bool counted;        // values are consecutive; else they are small floats
  bool offsets;
  int scale_bytes = 1;  // of a block
};
constexpr CodeKind kKinds[] = {{"int8", 8, 0, true, false},
                               {"int7", 7, 0, true, false},
                               {"int6", 6, 0, true, false},
                               {"int5", 5, 0, true, false},
                               {"int4", 4, 0, true, false},
                               {"int3", 3, 0, true, false},
                               {"int2", 2, 0, true, false},
                               {"affine8", 8, 0, true, true},
                               {"affine4", 4, 0, true, true},
                               {"mxint8", 8, 32, true, false},
                               {"mxint6", 6, 32, true, false},
                               {"mxint4", 4, 32, true, false},
                               {"mxint4g16", 4, 16, true, false},
                               {"mxfp8", 8, 32, false, false},
                               {"mxfp6", 6, 32, false, false},
                               {"mxfp4", 4, 32, false, false},
                               {"minifloat8", 8, 0, false, false},
                               {"ternary", 2, 0, false, false},
                               {"int4group32", 4, 32, true, false, 2},
                               {"affine4group32", 4, 32, true, false, 3},
                               {"nf4", 4, 64, false, false, 2},
                               {"binary", 1, 0, false, false}};

// Weights of some layers.
struct CodedLayers {
  GemmShape shape;
  CodeKind kind;
  std::vector<float> x, y, scales, values, offsets;
  std::int64_t code_bytes, scale_bytes;
  Tensor codes, block_scales;

  CodedLayers(const GemmShape& shape_, const CodeKind& kind_, std::int64_t layers)
      : shape(shape_), kind(kind_) {
    x = random_floats(shape.m * shape.k);
    y.resize(static_cast<std::size_t>(shape.m * shape.n));
    scales = random_floats(shape.n);
    offsets.resize(static_cast<std::size_t>(shape.n), -7.0f);
    for (int code = 0; code < 1 << kind.bits; ++code)
      values.push_back(kind.counted ? static_cast<float>(code)
                                    : std::ldexp(static_cast<float>(16 + code % 16), code / 16));
    code_bytes = static_cast<std::int64_t>(packed_bytes({shape.n, shape.k, kind.bits}));
    if (kind.block > 0)
      scale_bytes = static_cast<std::int64_t>(
          packed_scale_bytes(shape.n, shape.k / kind.block * kind.scale_bytes));
    else
      scale_bytes = 0;
    codes = Tensor::empty(DType::u8, {layers, code_bytes});
    for (std::int64_t i = 0; i < codes.count(); ++i)
      codes.data<std::uint8_t>()[i] = static_cast<std::uint8_t>(i * 2654435761 >> 13);
    block_scales = Tensor::empty(DType::u8, {layers, scale_bytes});
    std::fill_n(block_scales.data<std::uint8_t>(), block_scales.count(),
                kind.scale_bytes == 1 ? std::uint8_t{120} : std::uint8_t{0x0c});
  }
  void multiply(ThreadPool& pool, std::int64_t layer) {
    CodedWeight weight{.rows = shape.n,
                       .columns = shape.k,
                       .bits = kind.bits,
                       .codes = codes.data<std::uint8_t>() + layer * code_bytes,
                       .values = values.data()};
    if (kind.offsets) weight.offsets = offsets.data();
    if (kind.block > 0) {
      weight.block_scales = block_scales.data<std::uint8_t>() + layer * scale_bytes;
      weight.block = kind.block;
      weight.scale_bytes = kind.scale_bytes;
    } else {
      weight.scales = scales.data();
    }
    weight_only_product(pool, {x.data(), shape.m, shape.k}, weight, {}, y.data(), shape.n);
  }
};

// Compared with the float product of the same size. The weights of one layer stay in a cache.
void weight_only(benchmark::State& state, GemmShape shape, CodeKind kind, int threads) {
  CodedLayers work(shape, kind, 1);
  for (auto _ : state) work.multiply(pool_of(threads), 0);
  report_flops(state, 2.0 * static_cast<double>(shape.m * shape.n * shape.k), threads);
}

// Weights of enough layers to exceed all caches. The share is relative to reading.
void weight_only_few_rows(benchmark::State& state, std::int64_t rows, CodeKind kind, int threads) {
  constexpr std::int64_t kBytes = 96 << 20, n = 1536, k = 768;
  const std::int64_t layers = kBytes * 8 / (n * k * kind.bits);
  CodedLayers work({rows, n, k}, kind, layers);
  for (auto _ : state) {
    for (std::int64_t layer = 0; layer < layers; ++layer) work.multiply(pool_of(threads), layer);
  }
  const std::int64_t bytes = layers * (work.code_bytes + work.scale_bytes);
  report_read(state, static_cast<double>(bytes), threads);
  const double products = static_cast<double>(layers * rows * n * k) * 1e-9;
  state.counters["GMAC/s"] = benchmark::Counter(products * static_cast<double>(state.iterations()),
                                                benchmark::Counter::kIsRate);
}

}  // namespace

void register_weight_only() {
  const auto add = [](const std::string& name, auto function, auto... arguments) {
    benchmark::RegisterBenchmark(name.c_str(), function, arguments...)->UseRealTime();
  };
  for (const int threads : {1, 2}) {
    const std::string with = "/" + std::to_string(threads) + "/";
    for (const std::int64_t rows : {1, 16, 1024}) {
      const GemmShape shape{rows, 3072, 768};
      const std::string size = name_of({shape, false, true});
      add("weight_only/fp32" + with + size, gemm_ours, Product{shape, false, true}, threads);
      for (const CodeKind& kind : kKinds)
        add("weight_only/" + std::string(kind.name) + with + size, weight_only, shape, kind,
            threads);
    }
    for (const CodeKind& kind : kKinds) {
      for (const std::int64_t rows : {1, 4})
        add("weight_only_few_rows/" + std::string(kind.name) + with + std::to_string(rows),
            weight_only_few_rows, rows, kind, threads);
    }
  }
}

}  // namespace hone::kernels
