#include "hone/runtime/fuse_unpack.h"

#include "hone/runtime/library.h"
#include "tests/passes/before_after.h"

namespace hone::testing {
namespace {

bool fuse(Graph& graph) {
  const Library library = builtin_library();
  ThreadPool pool(1);
  return fuse_unpack(graph, {library, pool});
}

TEST(FuseUnpack, LetsLinearsAndEmbeddingsReadCodes) {
  expect_after(R"(%ids = input : i64[B]
%r = input : f32[B, 32]
%t.codes = parameter codes frozen : u8[1280]
%t.shared = parameter codes frozen : u8[40]
%w.codes = parameter codes frozen : u8[1024]
%w.shared = parameter codes frozen : u8[0]
%b = parameter bias trainable : f32[32]
%s = parameter format_state frozen : f32[32]
%t = unpack(%t.codes, %t.shared) {format=mxint(bits=8,block=32,axis=-1), shape=[40, 32], arrangement="rows", role="weight", packing=1} : f32[40, 32]
%w = unpack(%w.codes, %w.shared, %s) {format=int(bits=8,per=row,scale=static), shape=[32, 32], arrangement="panels", role="weight", packing=1} : f32[32, 32]
%x = embedding(%ids, %t) {padding=-1} : f32[B, 32]
%q = quantize(%x) {format=int(bits=8,per=token,scale=dynamic)} : f32[B, 32]
%y = fused_linear(%q, %w, %b, %r) {activation="gelu"} : f32[B, 32]
%z = relu(%y) : f32[B, 32]
output z = %z
)",
               fuse, R"(%ids = input : i64[B]
%r = input : f32[B, 32]
%t.codes = parameter codes frozen : u8[1280]
%t.shared = parameter codes frozen : u8[40]
%w.codes = parameter codes frozen : u8[1024]
%w.shared = parameter codes frozen : u8[0]
%b = parameter bias trainable : f32[32]
%s = parameter format_state frozen : f32[32]
%x = packed_embedding(%ids, %t.codes, %t.shared) {format=mxint(bits=8,block=32,axis=-1), shape=[40, 32]} : f32[B, 32]
%q.codes = encode_rows(%x) {format=int(bits=8,per=token,scale=dynamic)} : u8[B, 76]
%y = native_linear(%q.codes, %w.codes, %w.shared, %b, %r, %s) {format=int(bits=8,per=row,scale=static), shape=[32, 32], arrangement="panels", activation="gelu", residual=true, input_format=int(bits=8,per=token,scale=dynamic)} : f32[B, 32]
%z = relu(%y) : f32[B, 32]
output z = %z
)");
}

// Position embeddings are read like this. Slices of other axes need all rows.
TEST(FuseUnpack, LetsSlicesOfRowsReadTheirCodesAlone) {
  constexpr std::string_view
      kTables = R"(%t.codes = parameter codes frozen : u8[1280]
%t.shared = parameter codes frozen : u8[40]
%u.codes = parameter codes frozen : u8[1280]
%u.shared = parameter codes frozen : u8[40]
)",
      kOther =
          R"(%u = unpack(%u.codes, %u.shared) {format=mxint(bits=8,block=32,axis=-1), shape=[40, 32], arrangement="rows", role="weight", packing=1} : f32[40, 32]
)",
      kEnd = R"(%z = slice(%u) {axis=1, begin=0, size=[8]} : f32[40, 8]
output y = %y
output z = %z
)";
  expect_after(
      fmt::format(
          R"({}%t = unpack(%t.codes, %t.shared) {{format=mxint(bits=8,block=32,axis=-1), shape=[40, 32], arrangement="rows", role="weight", packing=1}} : f32[40, 32]
{}%y = slice(%t) {{axis=0, begin=2, size=[S]}} : f32[S, 32]
{})",
          kTables, kOther, kEnd),
      fuse,
      fmt::format(
          R"({}{}%y = packed_rows(%t.codes, %t.shared) {{format=mxint(bits=8,block=32,axis=-1), shape=[40, 32], begin=2, size=[S]}} : f32[S, 32]
{})",
          kTables, kOther, kEnd));
}

TEST(FuseUnpack, LeavesRoundingToTheQuantizerWhereNoKernelTakesIt) {
  expect_after(R"(%x = input : f32[B, 32]
%u.codes = parameter codes frozen : u8[1024]
%u.shared = parameter codes frozen : u8[32]
%w.codes = parameter codes frozen : u8[1024]
%w.shared = parameter codes frozen : u8[32]
%b = parameter bias trainable : f32[32]
%u = unpack(%u.codes, %u.shared) {format=mxint(bits=8,block=32,axis=-1), shape=[32, 32], arrangement="panels", role="weight", packing=1} : f32[32, 32]
%w = unpack(%w.codes, %w.shared) {format=mxint(bits=8,block=32,axis=-1), shape=[32, 32], arrangement="panels", role="weight", packing=1} : f32[32, 32]
%q = quantize(%x) {format=int(bits=8,per=token,scale=dynamic)} : f32[B, 32]
%y = linear(%q, %u, %b) : f32[B, 32]
%z = linear(%q, %w, %b) : f32[B, 32]
output y = %y
output z = %z
)",
               fuse, R"(%x = input : f32[B, 32]
%u.codes = parameter codes frozen : u8[1024]
%u.shared = parameter codes frozen : u8[32]
%w.codes = parameter codes frozen : u8[1024]
%w.shared = parameter codes frozen : u8[32]
%b = parameter bias trainable : f32[32]
%q = quantize(%x) {format=int(bits=8,per=token,scale=dynamic)} : f32[B, 32]
%y = packed_linear(%q, %u.codes, %u.shared, %b) {format=mxint(bits=8,block=32,axis=-1), shape=[32, 32], arrangement="panels", activation="none", residual=false} : f32[B, 32]
%z = packed_linear(%q, %w.codes, %w.shared, %b) {format=mxint(bits=8,block=32,axis=-1), shape=[32, 32], arrangement="panels", activation="none", residual=false} : f32[B, 32]
output y = %y
output z = %z
)");
}

TEST(FuseUnpack, LeavesWhatOthersReadTooAndWhatHasNoRowsOfItsOwn) {
  for (const std::string_view format :
       {"mxint(bits=8,block=32,axis=-1)", "mxint(bits=8,block=32,axis=0)"}) {
    const bool by_columns = format.ends_with("axis=0)");
    const std::string text = to_string(parse(fmt::format(
        R"(%x = input : f32[B, 32]
%c = parameter codes frozen : u8[1024]
%h = parameter codes frozen : u8[32]
%b = parameter bias trainable : f32[32]
%w = unpack(%c, %h) {{format={}, shape=[32, 32], arrangement="panels"}} : f32[32, 32]
%y = linear(%x, %w, %b) : f32[B, 32]
output y = %y
{})",
        format, by_columns ? "" : "output w = %w\n")));
    expect_after(text, fuse, text);
  }
}

TEST(FuseUnpack, LetsLinearsReadCodesThatLieInRows) {
  expect_after(R"(%x = input : f32[B, 32]
%c = parameter codes frozen : u8[192]
%h = parameter codes frozen : u8[0]
%b = parameter bias trainable : f32[3]
%w = unpack(%c, %h) {format=bf16, shape=[3, 32], arrangement="rows", role="weight", packing=1} : f32[3, 32]
%q = quantize(%x) {format=bf16} : f32[B, 32]
%y = linear(%q, %w, %b) : f32[B, 3]
output y = %y
)",
               fuse, R"(%x = input : f32[B, 32]
%c = parameter codes frozen : u8[192]
%h = parameter codes frozen : u8[0]
%b = parameter bias trainable : f32[3]
%q = quantize(%x) {format=bf16} : f32[B, 32]
%y = packed_linear(%q, %c, %h, %b) {format=bf16, shape=[3, 32], arrangement="rows", activation="none", residual=false} : f32[B, 3]
output y = %y
)");
}

}  // namespace
}  // namespace hone::testing
