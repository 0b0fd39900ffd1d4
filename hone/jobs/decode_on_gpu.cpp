#include "hone/jobs/decode_on_gpu.h"

#include <algorithm>
#include <vector>

#include "hone/cuda/mxint8.h"
#include "hone/kernels/dequantize.h"

namespace hone {
namespace {

using kernels::MxintCodes;
using kernels::MxintDialect;

Tensor allocate_bytes(std::int64_t count, Device& device) {
  return Tensor::empty(DType::u8, {count}, device);
}

// A copy reads as much as it writes.
std::int64_t copied_bytes(const MxintCodes& array, std::int64_t value_bytes) {
  return decode_bytes(array, value_bytes) / 2;
}

}  // namespace

std::int64_t read_bytes(const MxintCodes& array) { return array.code_bytes() + array.groups(); }

std::int64_t decode_bytes(const MxintCodes& array, std::int64_t value_bytes) {
  return read_bytes(array) + array.count * value_bytes;
}

GpuDecoder::GpuDecoder(std::span<const MxintCodes> arrays, std::int64_t value_bytes,
                       cuda::CudaDevice& gpu)
    : gpu_(gpu), value_bytes_(value_bytes) {
  std::int64_t codes = 0, values = 0, moved = 0;
  for (const MxintCodes& array : arrays) {
    codes = std::max(codes, read_bytes(array));
    moved = std::max(moved, copied_bytes(array, value_bytes));
    values = std::max({values, array.count * value_bytes, moved});
  }
  codes_ = allocate_bytes(codes, gpu);
  values_ = allocate_bytes(values, gpu);
  moved_ = allocate_bytes(moved, gpu);
}

double GpuDecoder::needed_bytes(const MxintCodes& array, std::int64_t value_bytes) {
  return static_cast<double>(decode_bytes(array, value_bytes) + copied_bytes(array, value_bytes));
}

void GpuDecoder::load(const MxintCodes& array, ThreadPool& pool) {
  gpu_.upload(codes_.device_pointer(), {reinterpret_cast<const std::byte*>(array.codes),
                                        static_cast<std::size_t>(read_bytes(array))});
  array_ = array;
  array_.codes = reinterpret_cast<const std::uint8_t*>(codes_.device_pointer());
  array_.scales = array_.codes + array.code_bytes();
  check(array, pool);
}

void GpuDecoder::decode() const {
  if (value_bytes_ == 4) {
    cuda::dequantize_mxint(gpu_, array_, MxintDialect::ocp,
                           reinterpret_cast<float*>(values_.device_pointer()));
  } else {
    cuda::dequantize_mxint(gpu_, array_, MxintDialect::ocp,
                           reinterpret_cast<std::uint16_t*>(values_.device_pointer()));
  }
}

void GpuDecoder::move() const {
  gpu_.copy(values_.device_pointer(), moved_.device_pointer(),
            static_cast<std::size_t>(copied_bytes(array_, value_bytes_)));
}

void GpuDecoder::check(const MxintCodes& array, ThreadPool& pool) const {
  constexpr std::int64_t kChecked = 1 << 22;
  MxintCodes first = array;
  first.count = std::min(array.count, kChecked);
  const auto size = static_cast<std::size_t>(first.count * value_bytes_);
  const Tensor expected = Tensor::empty(DType::u8, {first.count * value_bytes_});
  auto* const values = expected.data<std::uint8_t>();
  if (value_bytes_ == 4) {
    kernels::dequantize(pool, first, MxintDialect::ocp, reinterpret_cast<float*>(values));
  } else {
    kernels::dequantize(pool, first, MxintDialect::ocp, reinterpret_cast<std::uint16_t*>(values));
  }
  decode();
  std::vector<std::byte> got(size);
  gpu_.download(got, values_.device_pointer());
  HONE_ASSERT(std::ranges::equal(got, std::span(expected.device_pointer(), size)),
              "{}: {} elements in groups of {} are decoded to other bits than on the CPU",
              to_string(gpu_), array.count, array.group);
}

}  // namespace hone
