// The steps of an epilogue, for products that finish one piece of C at a time. Compiled once per Highway target.
#if defined(HONE_KERNELS_EPILOGUE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HONE_KERNELS_EPILOGUE_INL_H_
#undef HONE_KERNELS_EPILOGUE_INL_H_
#else
#define HONE_KERNELS_EPILOGUE_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "hone/kernels/activation-inl.h"
#include "hone/kernels/epilogue.h"
#include "hone/kernels/vector_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hone::kernels {
namespace HWY_NAMESPACE {

// A piece of C that begins at `row` and `column`.
struct Piece {
  float* c;
  std::int64_t c_stride;
  std::int64_t row, column;
  std::int64_t rows, columns;
};

// Adds sums to the piece: to the values of C if the epilogue accumulates or these are not the first sums, and to the
// bias with the first sums.
inline void add_sums(const float* sums, std::int64_t sums_stride, const Piece& piece,
                     const Epilogue& epilogue, bool first) {
  const Floats d;
  const float* const bias =
      first && epilogue.bias != nullptr ? epilogue.bias + piece.column : nullptr;
  const bool add_c = !first || epilogue.accumulate;
  for (std::int64_t i = 0; i < piece.rows; ++i, sums += sums_stride) {
    float* const c = piece.c + i * piece.c_stride;
    for_vectors(d, piece.columns, [&](std::int64_t j, auto part) HWY_ATTR {
      auto value = load(d, sums + j, part);
      if (bias != nullptr) value = hn::Add(value, load(d, bias + j, part));
      if (add_c) value = hn::Add(load(d, c + j, part), value);
      store(value, d, c + j, part);
    });
  }
}

template <class F>
HWY_INLINE void finish_rows(const Piece& piece, const Epilogue& epilogue, F&& activated) {
  const Floats d;
  for (std::int64_t i = 0; i < piece.rows; ++i) {
    float* const c = piece.c + i * piece.c_stride;
    if (epilogue.residual == nullptr) {
      for_vectors(d, piece.columns, [&](std::int64_t j, auto part) HWY_ATTR {
        store(activated(d, load(d, c + j, part)), d, c + j, part);
      });
      continue;
    }
    const float* const residual =
        epilogue.residual + (piece.row + i) * epilogue.residual_stride + piece.column;
    for_vectors(d, piece.columns, [&](std::int64_t j, auto part) HWY_ATTR {
      const auto value = activated(d, load(d, c + j, part));
      store(hn::Add(value, load(d, residual + j, part)), d, c + j, part);
    });
  }
}

// Calls body(f), where f applies the activation to a vector.
template <class Body>
HWY_INLINE void with_activation(Activation activation, Body&& body) {
  switch (activation) {
    case Activation::none:
      return body([](Floats, FloatVector x) HWY_ATTR { return x; });
    case Activation::relu:
      return body([](Floats d, FloatVector x) HWY_ATTR { return relu_of(d, x); });
    case Activation::gelu_erf:
      return body([](Floats d, FloatVector x) HWY_ATTR { return gelu_erf_of(d, x); });
    case Activation::gelu_tanh:
      return body([](Floats d, FloatVector x) HWY_ATTR { return gelu_tanh_of(d, x); });
    case Activation::tanh:
      return body([](Floats d, FloatVector x) HWY_ATTR { return tanh(d, x); });
  }
}

// Applies activation and residual to a piece that holds sums and bias.
inline void finish_piece(const Piece& piece, const Epilogue& epilogue) {
  with_activation(epilogue.activation,
                  [&](auto activated) HWY_ATTR { finish_rows(piece, epilogue, activated); });
}

}  // namespace HWY_NAMESPACE
}  // namespace hone::kernels
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
