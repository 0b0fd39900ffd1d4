#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

/// cuBLASLt's answer to the question how to compute a product, laid out as in its library.
namespace hone::cuda {

/// cublasLtMatmulAlgo_t
struct Algorithm {
  std::array<std::uint64_t, 8> data;
};

/// cublasLtMatmulHeuristicResult_t
struct Heuristic {
  Algorithm algorithm;
  std::size_t workspace_bytes;
  int state;
  float waves;
  std::array<int, 4> reserved;
};

}  // namespace hone::cuda
