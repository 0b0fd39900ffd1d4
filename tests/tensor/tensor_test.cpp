#include "hone/tensor/tensor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "tests/support/expect.h"

namespace hone {
namespace {

// Returns 0, 1, 2, … in row-major order.
Tensor counted(Sizes sizes) {
  std::vector<float> values(static_cast<std::size_t>(element_count(sizes)));
  std::iota(values.begin(), values.end(), 0.f);
  return Tensor::of<float>(sizes, values);
}

template <typename T>
std::vector<T> elements(const Tensor& tensor) {
  const Tensor whole = tensor.contiguous_copy();
  return {whole.values<T>().begin(), whole.values<T>().end()};
}

// A device whose memory only `upload` and `download` may access.
class FarDevice final : public Device {
 public:
  explicit FarDevice(int index = 0) : index_(index) {}
  std::string_view kind() const override { return "far"; }
  int index() const override { return index_; }
  bool host_accessible() const override { return false; }
  StoragePointer allocate(std::size_t size_bytes) override {
    StoragePointer memory = cpu().allocate(size_bytes);
    return {new Storage{this, memory->pointer, size_bytes},
            [memory](Storage* storage) { delete storage; }};
  }
  void upload(std::byte* to, std::span<const std::byte> from) override { cpu().upload(to, from); }
  void download(std::span<std::byte> to, const std::byte* from) override {
    cpu().download(to, from);
  }
  void copy(std::byte* to, const std::byte* from, std::size_t size_bytes) override {
    cpu().copy(to, from, size_bytes);
  }
  void copy_strided(const Tensor& from, const Tensor& to) override {
    std::int64_t next = 0;
    const auto width = static_cast<std::int64_t>(info(from.dtype()).size_bytes);
    for_each_element<1>(from.sizes(), {&from.strides()}, [&](const auto& at) {
      copy(to.device_pointer() + next++ * width, from.device_pointer() + at[0] * width,
           static_cast<std::size_t>(width));
    });
  }
  std::string description() const override { return "no hardware"; }
  std::optional<std::size_t> free_bytes() override { return std::nullopt; }
  void wait() override {}

 private:
  int index_ = 0;
};

TEST(Tensor, HoldsValuesInRowMajorOrder) {
  const Tensor x = counted({2, 3});
  EXPECT_TRUE(x.defined());
  EXPECT_EQ(x.rank(), 2);
  EXPECT_EQ(x.size(0), 2);
  EXPECT_EQ(x.size(-1), 3);
  EXPECT_EQ(x.count(), 6);
  EXPECT_EQ(x.size_bytes(), 24u);
  EXPECT_EQ(x.strides(), (Sizes{3, 1}));
  EXPECT_TRUE(x.contiguous());
  EXPECT_EQ(elements<float>(x), (std::vector<float>{0, 1, 2, 3, 4, 5}));
  EXPECT_FALSE(Tensor().defined());
}

TEST(Tensor, ScalarsHaveOneElement) {
  const Tensor x = Tensor::scalar(2.5f);
  EXPECT_EQ(x.rank(), 0);
  EXPECT_EQ(x.count(), 1);
  EXPECT_EQ(x.values<float>()[0], 2.5f);
}

TEST(Tensor, ZerosAreZero) {
  const Tensor x = Tensor::zeros(DType::i64, {3});
  EXPECT_EQ(elements<std::int64_t>(x), (std::vector<std::int64_t>{0, 0, 0}));
}

TEST(Tensor, MemoryIsAlignedForVectors) {
  for (const std::int64_t count : {0, 1, 100, 3'000'000}) {
    const Tensor x = Tensor::empty(DType::f32, {count});
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(x.device_pointer()) % 64, 0u) << count;
    std::memset(x.device_pointer(), 0xff, x.size_bytes());
  }
}

TEST(Tensor, SaysWhenMemoryIsNotEnough) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the allocators of sanitizers end the program instead";
#endif
  expect_user_error("not enough memory: 32768 TiB more were needed",
                    [] { Tensor::empty(DType::u8, {std::int64_t{1} << 55}); });
}

TEST(Tensor, RefusesSizesNoMemoryHolds) {
  expect_user_error("its shape is damaged or a size overflowed",
                    [] { Tensor::empty(DType::u8, {-1}); });
}

TEST(Tensor, CopiesShareTheStorage) {
  const Tensor x = counted({2});
  const Tensor y = x;
  y.data<float>()[0] = 7;
  EXPECT_EQ(x.values<float>()[0], 7);
}

TEST(Tensor, ViewsFollowTheirStrides) {
  const Tensor x = counted({2, 3, 4});
  EXPECT_EQ(elements<float>(counted({2, 3}).transpose({1, 0})),
            (std::vector<float>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(elements<float>(x.slice(1, 1, 3).slice(2, 3, 4)), (std::vector<float>{7, 11, 19, 23}));
  EXPECT_EQ(elements<float>(x.slice(-1, 0, 1)), (std::vector<float>{0, 4, 8, 12, 16, 20}));
  const Tensor turned = x.transpose({2, 0, 1});
  EXPECT_EQ(turned.sizes(), (Sizes{4, 2, 3}));
  EXPECT_EQ(turned.strides(), (Sizes{1, 12, 4}));
  EXPECT_EQ(turned.slice(0, 1, 2).offset(), 1);
  EXPECT_EQ(turned.storage(), x.storage());
}

TEST(Tensor, SlicesMayBeEmpty) {
  const Tensor x = counted({2, 3}).slice(0, 2, 2);
  EXPECT_EQ(x.sizes(), (Sizes{0, 3}));
  EXPECT_EQ(elements<float>(x), std::vector<float>{});
}

TEST(Tensor, RepeatsElementsWithStrideZero) {
  const Tensor row = counted({3});
  const Tensor x = Tensor::view_of(row.storage(), DType::f32, {2, 3}, {0, 1}, 0);
  EXPECT_EQ(elements<float>(x), (std::vector<float>{0, 1, 2, 0, 1, 2}));
}

TEST(Tensor, KnowsWhetherItIsContiguous) {
  const Tensor x = counted({2, 3});
  EXPECT_TRUE(x.slice(0, 1, 2).contiguous());
  EXPECT_FALSE(x.slice(1, 0, 2).contiguous());
  EXPECT_FALSE(x.transpose({1, 0}).contiguous());
  // The stride of an axis of extent 1 is never used.
  EXPECT_TRUE(Tensor::view_of(x.storage(), DType::f32, {1, 3}, {99, 1}, 0).contiguous());
}

TEST(Tensor, ReshapesWithoutCopying) {
  const Tensor x = counted({2, 6}).slice(0, 1, 2);
  const Tensor y = x.reshape({3, 2});
  EXPECT_EQ(y.storage(), x.storage());
  EXPECT_EQ(elements<float>(y), (std::vector<float>{6, 7, 8, 9, 10, 11}));
}

TEST(Tensor, WrongUseIsOurFault) {
  const Tensor x = counted({2, 3});
  EXPECT_THROW(x.data<double>(), InternalError);
  EXPECT_THROW(x.transpose({1, 0}).values<float>(), InternalError);
  EXPECT_THROW(x.transpose({1, 0}).reshape({6}), InternalError);
  EXPECT_THROW(x.reshape({5}), InternalError);
  EXPECT_THROW(x.slice(0, 0, 3), InternalError);
  EXPECT_THROW(x.slice(0, 2, 1), InternalError);
  EXPECT_THROW(x.slice(2, 0, 0), InternalError);
  EXPECT_THROW(x.transpose({0}), InternalError);
  EXPECT_THROW(Tensor().data<float>(), InternalError);
  EXPECT_THROW(Tensor::of<float>({3}, {1, 2}), InternalError);
}

TEST(TensorCast, ConvertsBetweenAllTypes) {
  // 0, 1 and 5 are values of every type except boolean, where every value but 0 is true.
  const Tensor source = Tensor::of<float>({3}, {0, 1, 5});
  for (const DTypeInfo& from : kDTypes) {
    for (const DTypeInfo& to : kDTypes) {
      const Tensor result = source.cast(from.dtype).cast(to.dtype).cast(DType::f64);
      const bool boolean = from.dtype == DType::boolean || to.dtype == DType::boolean;
      EXPECT_EQ(elements<double>(result), (std::vector<double>{0, 1, boolean ? 1. : 5.}))
          << from.name << " to " << to.name;
    }
  }
}

TEST(TensorCast, RoundsOnceFromDoubles) {
  // The nearest f32 values are ties of the smaller types. Rounding a second time would give the even neighbour, 1.
  const double above_half_tie = 1 + 0x1p-11 + 0x1p-40;
  const double above_bfloat_tie = 1 + 0x1p-8 + 0x1p-40;
  const Tensor x = Tensor::of<double>({2}, {above_half_tie, -above_half_tie});
  EXPECT_EQ(elements<float>(x.cast(DType::f16).cast(DType::f32)),
            (std::vector<float>{1 + 0x1p-10f, -1 - 0x1p-10f}));
  const Tensor y = Tensor::of<double>({2}, {above_bfloat_tie, 1 + 0x1p-8});
  EXPECT_EQ(elements<float>(y.cast(DType::bf16).cast(DType::f32)),
            (std::vector<float>{1 + 0x1p-7f, 1}));
  EXPECT_EQ(
      elements<float>(Tensor::of<double>({2}, {1e300, 1e-300}).cast(DType::f16).cast(DType::f32)),
      (std::vector<float>{std::numeric_limits<float>::infinity(), 0}));
}

TEST(TensorCast, KeepsNanAndInfinity) {
  const Tensor x = Tensor::of<double>({2}, {NAN, -INFINITY});
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    const std::vector<double> got = elements<double>(x.cast(dtype).cast(DType::f64));
    EXPECT_TRUE(std::isnan(got[0])) << info(dtype).name;
    EXPECT_EQ(got[1], -INFINITY) << info(dtype).name;
  }
}

TEST(TensorCast, CutsFractionsOff) {
  const Tensor x = Tensor::of<float>({4}, {1.9f, -1.9f, 0.5f, -0.5f});
  EXPECT_EQ(elements<std::int32_t>(x.cast(DType::i32)), (std::vector<std::int32_t>{1, -1, 0, 0}));
}

TEST(TensorCast, ReadsStridedTensors) {
  const Tensor x = counted({2, 3}).transpose({1, 0}).cast(DType::f64);
  EXPECT_EQ(elements<double>(x), (std::vector<double>{0, 3, 1, 4, 2, 5}));
  EXPECT_TRUE(x.contiguous());
}

TEST(TensorCast, ToTheSameTypeIsTheSameTensor) {
  const Tensor x = counted({2});
  EXPECT_EQ(x.cast(DType::f32).storage(), x.storage());
}

TEST(TensorDevice, CopiesThereAndBack) {
  FarDevice far;
  const Tensor x = counted({2, 3});
  const Tensor there = x.on(far);
  EXPECT_EQ(&there.device(), &far);
  EXPECT_EQ(there.on(far).storage(), there.storage());
  EXPECT_NE(there.copy_to(far).storage(), there.storage());
  EXPECT_EQ(elements<float>(there.copy_to(far).on(cpu())), elements<float>(x));
  EXPECT_EQ(elements<float>(Tensor::zeros(DType::f32, {2}, far).on(cpu())),
            (std::vector<float>{0, 0}));
}

TEST(TensorDevice, HostAccessElsewhereIsOurFault) {
  FarDevice far;
  const Tensor there = counted({2}).on(far);
  EXPECT_THROW(there.data<float>(), InternalError);
  EXPECT_THROW(there.values<float>(), InternalError);
  EXPECT_THROW(counted({2, 2}).transpose({1, 0}).on(far), InternalError);
}

TEST(TensorDevice, CopiesBetweenDevicesGoThroughTheHost) {
  FarDevice one, other(1);
  expect_user_error("copy from far:0 to far:1: go through the host",
                    [&] { counted({2}).on(one).on(other); });
}

TEST(ForEachElement, WalksRowMajorOverAllOperands) {
  const Sizes a = {3, 1}, b = {1, 2};
  std::vector<std::array<std::int64_t, 2>> seen;
  for_each_element<2>({2, 3}, {&a, &b}, [&](const auto& offsets) { seen.push_back(offsets); });
  const std::vector<std::array<std::int64_t, 2>> expected = {{0, 0}, {1, 2}, {2, 4},
                                                             {3, 1}, {4, 3}, {5, 5}};
  EXPECT_EQ(seen, expected);
}

TEST(ForEachElement, HandlesScalarsAxesOfOneAndEmptyShapes) {
  const auto count = [](const Sizes& sizes) {
    const Sizes strides = contiguous_strides(sizes);
    std::vector<std::int64_t> seen;
    for_each_element<1>(sizes, {&strides},
                        [&](const auto& offsets) { seen.push_back(offsets[0]); });
    return seen;
  };
  EXPECT_EQ(count({}), std::vector<std::int64_t>{0});
  EXPECT_EQ(count({2, 1, 2, 1}), (std::vector<std::int64_t>{0, 1, 2, 3}));
  EXPECT_EQ(count({2, 0}), std::vector<std::int64_t>{});
}

}  // namespace
}  // namespace hone
