#pragma once

#include <cstdint>

#include "hone/kernels/epilogue.h"
#include "hone/kernels/int8_rows.h"

/// Results of products of integers.
namespace hone::kernels {

/// The destination of results: floats, or codes for the next product, rounded by the grid.
struct Int8Target {
  Epilogue epilogue;
  float* y = nullptr;
  std::int64_t y_stride = 0;
  Int8Grid grid = {};
  const Int8Rows* rows = nullptr;  ///< null: floats
};

}  // namespace hone::kernels
