#include "hone/passes/pack.h"

#include "hone/base/random.h"
#include "tests/passes/before_after.h"
#include "tests/support/expect.h"
#include "tests/support/refusal.h"

namespace hone::testing {
namespace {

constexpr std::string_view kQuantized = R"(%x = input : f32[B, 32]
%w = parameter weight trainable : f32[33, 32]
%b = parameter bias trainable : f32[33]
%w.quantizer.scale = parameter format_state frozen : f32[33]
%w.quantizer = quantize(%w, %w.quantizer.scale) {format=int(bits=8,per=row,scale=static)} : f32[33, 32]
%b.quantizer = quantize(%b) {format=mxint(bits=8,block=32,axis=-1)} : f32[33]
%y = linear(%x, %w.quantizer, %b.quantizer) : f32[B, 33]
output y = %y
)";

constexpr std::string_view kPackedText = R"(%x = input : f32[B, 32]
%w.codes = parameter codes frozen : u8[2048]
%w.shared = parameter codes frozen : u8[0]
%b.codes = parameter codes frozen : u8[33]
%b.shared = parameter codes frozen : u8[2]
%w.quantizer.scale = parameter format_state frozen : f32[33]
%w.quantizer = unpack(%w.codes, %w.shared, %w.quantizer.scale) {format=int(bits=8,per=row,scale=static), shape=[33, 32], arrangement="panels", role="weight", packing=1} : f32[33, 32]
%b.quantizer = unpack(%b.codes, %b.shared) {format=mxint(bits=8,block=32,axis=-1), shape=[33], arrangement="rows", role="bias", packing=1} : f32[33]
%y = linear(%x, %w.quantizer, %b.quantizer) : f32[B, 33]
output y = %y
)";

Tensor drawn(const Sizes& sizes, std::uint64_t seed) {
  RandomSequence random(seed, 1);
  Tensor tensor = Tensor::empty(DType::f32, sizes);
  for (float& value : tensor.values<float>()) value = static_cast<float>(random.normal());
  return tensor;
}

ParameterStore weights() {
  ParameterStore store;
  store.set("w", drawn({33, 32}, 1));
  store.set("b", drawn({33}, 2));
  Tensor scales = Tensor::empty(DType::f32, {33});
  for (float& scale : scales.values<float>()) scale = 0.03f;
  store.set("w.quantizer.scale", scales);
  return store;
}

auto packing(ParameterStore& store) {
  return [&store](Graph& graph) {
    ThreadPool pool(2);
    return pack_weights(graph, store, pool);
  };
}

TEST(PackWeights, PutsCodesWhereQuantizedParametersWereAndBack) {
  ParameterStore store = weights();
  expect_after(kQuantized, packing(store), kPackedText);
  EXPECT_FALSE(store.contains("w"));
  expect_after(
      kPackedText,
      [&](Graph& graph) {
        ThreadPool pool(2);
        check_packed_weights(graph, store, pool);
        return unpack_weights(graph, store, pool);
      },
      kQuantized);
  EXPECT_FALSE(store.contains("w.codes"));
  // Unpacking gives the quantized values: the nearest whole multiples of the scale.
  const ParameterStore before = weights();
  const auto from = before.at("w").values<float>(), to = store.at("w").values<float>();
  for (std::size_t i = 0; i < from.size(); ++i) {
    EXPECT_EQ(to[i], std::clamp(std::nearbyint(from[i] * (1 / 0.03f)), -127.0f, 127.0f) * 0.03f);
  }
}

TEST(PackWeights, LeavesWhatOthersReadAndWhatHasNoPackedForm) {
  const std::string text = R"(%x = input : f32[B, 2]
%w = parameter weight trainable : f32[2, 2]
%v = parameter weight trainable : f32[2, 2]
%w.quantizer = quantize(%w) {format=mxint(bits=8,block=32,axis=-1)} : f32[2, 2]
%h = linear(%x, %w.quantizer) : f32[B, 2]
%t = linear(%h, %w) : f32[B, 2]
%v.quantizer = quantize(%v) {format=minifloat_ieee(width=20,exponent_width=5,exponent_bias=15)} : f32[2, 2]
%y = linear(%t, %v.quantizer) : f32[B, 2]
output y = %y
)";
  ParameterStore store;
  store.set("w", drawn({2, 2}, 1));
  store.set("v", drawn({2, 2}, 2));
  expect_after(text, packing(store), text);
  const std::vector<UnpackedParameter> left = unpackable(parse(text));
  ASSERT_EQ(left.size(), 2u);
  EXPECT_EQ(left[0].parameter, "w");
  EXPECT_EQ(left[0].reason, "another operation reads the unquantized values");
  EXPECT_EQ(left[1].reason,
            "minifloat_ieee(width=20,exponent_width=5,exponent_bias=15) has no packed "
            "form: its codes have 20 bits, and packing supports up to 16");
}

TEST(Unpack, RefusesCodesThatDoNotFit) {
  const auto node = [](std::string_view codes, std::string_view attributes) {
    return fmt::format(
        "%c = input : {}\n%s = input : u8[1]\n%y = unpack(%c, %s) {{{}}} : f32[1, 32]\noutput y = "
        "%y",
        codes, attributes);
  };
  const std::string good = "arrangement=\"rows\", format=mxint(bits=8), shape=[1, 32]";
  EXPECT_NO_THROW(parse(node("u8[32]", good)));
  const auto refused = [&](const std::string& text) -> std::string {
    try {
      parse(text);
    } catch (const UserError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(refused(node("u8[31]", good)).find("codes must be u8[32], got u8[31]"),
            std::string::npos);
  EXPECT_NE(refused(node("u8[32]", good + ", packing=2")).find("packing must be 1"),
            std::string::npos);
  EXPECT_NE(refused(node("u8[32]", "arrangement=\"tiles\", format=mxint(bits=8), shape=[1, 32]"))
                .find("unknown arrangement 'tiles'"),
            std::string::npos);
  EXPECT_NE(refused(node("u8[32]", "arrangement=\"rows\", format=integer(width=17), shape=[1, 32]"))
                .find("its codes have 17 bits"),
            std::string::npos);
  for (const char* shape : {"[B, 32]", "[0, 32]", "[4611686018427387904, 4]"})
    EXPECT_NE(
        refused(node("u8[32]",
                     fmt::format("arrangement=\"rows\", format=mxint(bits=8), shape={}", shape)))
            .find("shape must be of numbers of at least 1, and of 2^48 elements at most"),
        std::string::npos)
        << shape;
}

// No packer writes these: the codes of another weight, of two weights, or of none.
TEST(CheckPackedWeights, RefusesCodesThatAreNoWeightsOwn) {
  const auto check = [](std::string_view inputs, std::string_view more = "") {
    const Graph graph = parse(fmt::format(R"(%x = input : u8[1]
%w.codes = parameter codes frozen : u8[32]
%w.shared = parameter codes frozen : u8[1]
%v.shared = parameter codes frozen : u8[1]
%y = unpack({}) {{arrangement="rows", format=mxint(bits=8), shape=[1, 32]}} : f32[1, 32]
{}output y = %y
)",
                                          inputs, more));
    ParameterStore store;
    store.set("w.codes", Tensor::zeros(DType::u8, {32}));
    for (const char* name : {"w.shared", "v.shared"})
      store.set(name, Tensor::zeros(DType::u8, {1}));
    ThreadPool pool(1);
    check_packed_weights(graph, store, pool);
  };
  check("%w.codes, %w.shared");
  expect_user_error("y: reads x, which is not a parameter; the graph is damaged",
                    [&] { check("%w.codes, %x"); });
  expect_user_error(
      "y: expected NAME.codes and NAME.shared that only it reads, got w.codes and "
      "v.shared",
      [&] { check("%w.codes, %v.shared"); });
  expect_user_error(
      "y: expected NAME.codes and NAME.shared that only it reads, got w.codes and "
      "w.shared",
      [&] {
        check("%w.codes, %w.shared",
              "%z = unpack(%w.codes, %v.shared) {arrangement=\"rows\", format=mxint(bits=8), "
              "shape=[1, 32]} : f32[1, 32]\noutput z = %z\n");
      });
}

}  // namespace
}  // namespace hone::testing
