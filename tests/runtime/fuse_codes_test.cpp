#include "hone/runtime/fuse_codes.h"

#include "hone/runtime/library.h"
#include "tests/passes/before_after.h"

namespace hone::testing {
namespace {

bool fuse_encoders(Graph& graph) {
  const Library library = builtin_library();
  ThreadPool pool(1);
  return fuse_codes(graph, {library, pool});
}

// Returns a product and operations that read its results: `encoders` of this format, with outputs.
std::string product_and(std::string_view encoders) {
  return fmt::format(R"(%c = input : u8[B, 76]
%w.codes = parameter codes frozen : u8[1024]
%w.shared = parameter codes frozen : u8[0]
%b = parameter bias trainable : f32[32]
%s = parameter format_state frozen : f32[]
%t = parameter format_state frozen : f32[32]
%y = native_linear(%c, %w.codes, %w.shared, %b, %t) {{format=int(bits=8,per=row,scale=static), shape=[32, 32], arrangement="panels", activation="gelu", residual=false, input_format=int(bits=8,per=tensor,scale=static)}} : f32[B, 32]
{})",
                     encoders);
}

TEST(FuseCodes, LetsAProductGiveTheCodesThatTheNextOneReads) {
  expect_after(
      product_and(
          R"(%z = encode_rows(%y, %s) {format=int(bits=8,per=tensor,scale=static)} : u8[B, 76]
output z = %z
)"),
      fuse_encoders, R"(%c = input : u8[B, 76]
%w.codes = parameter codes frozen : u8[1024]
%w.shared = parameter codes frozen : u8[0]
%b = parameter bias trainable : f32[32]
%s = parameter format_state frozen : f32[]
%t = parameter format_state frozen : f32[32]
%z = native_linear_codes(%c, %w.codes, %w.shared, %b, %s, %t) {format=int(bits=8,per=row,scale=static), shape=[32, 32], arrangement="panels", activation="gelu", residual=false, input_format=int(bits=8,per=tensor,scale=static), output_format=int(bits=8,per=tensor,scale=static)} : u8[B, 76]
output z = %z
)");
}

// Per-row scales are only known once the whole row is computed.
TEST(FuseCodes, LeavesScalesThatAreNotKnownBeforeAndFloatsThatOthersRead) {
  for (const std::string_view encoders :
       {R"(%z = encode_rows(%y) {format=int(bits=8,per=token,scale=dynamic)} : u8[B, 76]
output z = %z
)",
        R"(%z = encode_rows(%y, %s) {format=int(bits=8,per=tensor,scale=static)} : u8[B, 76]
output y = %y
output z = %z
)",
        R"(%z = encode_rows(%y, %s) {format=int(bits=8,per=tensor,scale=static)} : u8[B, 76]
%v = relu(%y) : f32[B, 32]
output z = %z
output v = %v
)"}) {
    const std::string text = product_and(encoders);
    expect_after(text, fuse_encoders, text);
  }
}

}  // namespace
}  // namespace hone::testing
