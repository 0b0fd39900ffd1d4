// Element-wise formulas (hone/ir/formula.h). READ loads one element of each operand as the floats x0, x1, …, STEPS
// evaluates the formulas, and WRITE stores results at element `i`.
#include "nest.cuh"
#include "numbers.cuh"

inline float to_float(bool x) { return x ? 1.0f : 0.0f; }

constexpr int kMaxOperands = 8, kMaxResults = 8;

struct Operands {
  const void* at[kMaxOperands];
};
struct Results {
  VALUE* at[kMaxResults];
};

template <typename T>
inline float value_of(const void* from, std::int64_t offset) {
  return to_float(static_cast<const T*>(from)[offset]);
}

extern "C" __global__ void formula(const __grid_constant__ LoopNest<kMaxOperands> nest,
                                   const __grid_constant__ Operands operands,
                                   const __grid_constant__ Results results, std::int64_t count) {
  for (std::int64_t i = thread_number(); i < count; i += all_threads()) {
    std::int64_t at[kMaxOperands] = {};
    add_offsets(nest, nest.rank, i, at);
    READ
    STEPS
    WRITE
  }
}
