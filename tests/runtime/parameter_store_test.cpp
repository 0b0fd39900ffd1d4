#include "hone/tensor/parameter_store.h"

#include <gtest/gtest.h>

#include "tests/support/evaluate.h"
#include "tests/support/message.h"

namespace hone::testing {
namespace {

ParameterStore two_parameters() {
  ParameterStore store;
  store.set("w", Tensor::of<float>({2}, {1, 2}));
  store.set("b", Tensor::of<float>({1}, {3}));
  return store;
}

TEST(ParameterStore, CopiesShareTheirTensorsUntilOneWrites) {
  const ParameterStore original = two_parameters();
  ParameterStore copy = original;
  EXPECT_EQ(copy.at("w").storage(), original.at("w").storage());
  copy.writable("w").values<float>()[0] = 10;
  EXPECT_EQ(elements_of(original.at("w")), (std::vector<float>{1, 2}));
  EXPECT_EQ(elements_of(copy.at("w")), (std::vector<float>{10, 2}));
  EXPECT_EQ(copy.at("b").storage(), original.at("b").storage());
}

TEST(ParameterStore, WritesInPlaceWhatItOwnsAlone) {
  ParameterStore store = two_parameters();
  const std::byte* before = store.at("w").device_pointer();
  EXPECT_EQ(store.writable("w").device_pointer(), before);
}

TEST(ParameterStore, CopiesReadOnlyMemoryBeforeWriting) {
  ParameterStore store = two_parameters();
  store.at("w").storage()->read_only = true;
  const std::byte* before = store.at("w").device_pointer();
  EXPECT_NE(store.writable("w").device_pointer(), before);
  EXPECT_FALSE(store.at("w").storage()->read_only);
}

TEST(ParameterStore, StaysWhereItIsOnItsOwnDevice) {
  const ParameterStore store = two_parameters();
  EXPECT_EQ(store.on(cpu()).at("w").storage(), store.at("w").storage());
}

TEST(ParameterStore, SetsReplacesAndErases) {
  ParameterStore store = two_parameters();
  store.set("w", Tensor::scalar(5.0f));
  EXPECT_EQ(elements_of(store.at("w")), (std::vector<float>{5}));
  store.erase("w");
  store.erase("never there");
  EXPECT_FALSE(store.contains("w"));
  EXPECT_TRUE(store.contains("b"));
}

TEST(ParameterStore, NamesWhatItDoesNotHave) {
  ParameterStore store = two_parameters();
  EXPECT_EQ(message_of([&] { store.at("c"); }), "the model has no parameter called 'c'");
  EXPECT_EQ(message_of([&] { store.writable("c"); }), "the model has no parameter called 'c'");
}

}  // namespace
}  // namespace hone::testing
