#include "hone/ir/parse.h"

#include <gtest/gtest.h>

#include <cmath>

#include "hone/ir/print.h"
#include "hone/ir/verify.h"
#include "hone/ops/list.h"
#include "tests/support/message.h"

namespace hone::testing {
namespace {

const FormatTable& formats() {
  static const FormatTable table = builtin_formats();
  return table;
}

// An operation with an attribute of every kind.
OpDef everything() {
  return {.name = "everything",
          .summary = "for tests",
          .inputs = {"x", "more..."},
          .attributes = {{"flag", false},
                         {"whole", std::int64_t{0}},
                         {"real", 0.0},
                         {"text", std::string()},
                         {"shape", Shape{}},
                         {"format", {}}},
          .infer = [](const TypeContext& context) { return context.inputs; },
          .reference = nullptr};
}

const OpTable& extended_ops() {
  static const OpTable table = [] {
    OpTable extended = builtin_ops();
    extended.emplace("everything", everything());
    return extended;
  }();
  return table;
}

std::string reprinted(const std::string& text) {
  const Graph graph = parse_graph(text, extended_ops(), formats());
  verify(graph);
  return to_string(graph);
}

std::string refusal(const std::string& text) {
  return message_of([&] { parse_graph(text, extended_ops(), formats()); });
}

const std::string kEverything = R"(%x = input : f32[B, S, 128]
%ids = input : i64[]
%layer.0/w-1 = parameter weight trainable : f32[0, 2]
%frozen = parameter weight frozen : bf16[3]
%all = everything(%x, %ids, %x) {flag=true, whole=-3, real=1e-12, text="a \"b\",\x0a\\}", shape=[B, -1, 0], format=integer(width=8,frac=auto)} : f32[B, S, 128], i64[], f32[B, S, 128]
%"a name, \"quoted\": é\x09%" = add(%all, %all:2) : f32[B, S, 128]
%y = relu(%"a name, \"quoted\": é\x09%") : f32[B, S, 128]
output "" = %"a name, \"quoted\": é\x09%"
output logits = %y
output ids.1 = %all:1
)";

TEST(GraphText, ReadsWhatItPrintsWithAttributesOfEveryKind) {
  EXPECT_EQ(reprinted(kEverything), kEverything);
}

TEST(GraphText, KeepsEveryRealNumber) {
  for (const double value : {0.0, -0.0, 1.0, -2.5, 0.1, 1e300, 5e-324, 1e16, 123456789.0,
                             double{INFINITY}, -double{INFINITY}}) {
    const Attributes given = {{"factor", value}};
    Graph graph(extended_ops());
    graph.add("scale", {graph.add_input("x", {DType::f32, {}})}, given, "y");
    const Graph read = parse_graph(to_string(graph), extended_ops(), formats());
    const double got = read.find("y")->attributes().get<double>("factor");
    EXPECT_EQ(got, value);
    EXPECT_EQ(std::signbit(got), std::signbit(value));
  }
}

TEST(GraphText, SkipsEmptyLinesCommentsAndWhiteSpace) {
  EXPECT_EQ(reprinted("\n# a comment\n  %x=input:f32[ 2,3 ]\r\n\t%y = relu( %x ) : f32[2, 3] \n"),
            "%x = input : f32[2, 3]\n%y = relu(%x) : f32[2, 3]\n");
}

TEST(GraphText, FillsInDefaults) {
  EXPECT_EQ(reprinted("%x = input : f32[2]\n%y = gelu(%x) : f32[2]\n"),
            "%x = input : f32[2]\n%y = gelu(%x) {approximate=\"none\"} : f32[2]\n");
}

TEST(GraphText, NamesTheLineOfAnError) {
  EXPECT_EQ(refusal("%x = input : f32[2]\n\n%y = relu(%z) : f32[2]"),
            "graph text, line 3: %z is used before it is defined");
  EXPECT_EQ(refusal("%x = input : f32[2]\n%y = rellu(%x) : f32[2]"),
            "graph text, line 2: unknown operation 'rellu'; did you mean 'relu'?");
  EXPECT_EQ(refusal("%x = input : i64[2]\n%y = relu(%x) : f32[2]"),
            "graph text, line 2: at node %y (relu): input must be f32, bf16 or f16, got i64[2]");
}

struct Malformed {
  const char* line;
  const char* message;
};

TEST(GraphText, SaysWhatItExpected) {
  constexpr Malformed kMalformed[] = {
      {"x = input : f32[2]", "expected '%' at 'x = input : f32[2]'"},
      {"% = input : f32[2]", "expected a name at '= input : f32[2]'"},
      {"%y input : f32[2]", "expected '=' at 'input : f32[2]'"},
      {"%y = input f32[2]", "expected ':' at 'f32[2]'"},
      {"%y = input : f31[2]",
       "'f31' is not an element type; expected one of f32, f16, bf16, f64, i64, i32, i8, u8, bool"},
      {"%y = input : f32[two]", "expected a whole number, got 'two'"},
      {"%y = input : f32[-2]", "f32[-2] has a negative extent"},
      {"%y = input : f32[2", "expected ',' at ''"},
      {"%y = input : f32[2] 3", "more text than expected at the end of the line"},
      {"%x = input : f32[2]", "the graph has two nodes called 'x'"},
      {"%y = parameter weight thawed : f32[2]", "expected 'trainable' or 'frozen', got 'thawed'"},
      {"%y = parameter weigth frozen : f32[2]",
       "unknown role 'weigth' of a parameter; roles are weight, gain, bias, mask, adapter, "
       "format_state, codes, moment, buffer; did you mean 'weight'?"},
      {"%\"y = input : f32[2]", "a quoted text has no closing quote"},
      {"%\"y\\n\" = input : f32[2]", "expected \\\", \\\\ or \\xNN in a quoted text, got '\\n'"},
      {"%\"y\\xg0\" = input : f32[2]",
       "expected two hexadecimal digits after \\x in a quoted text"},
      {"%y = relu(x) : f32[2]", "expected '%' at 'x) : f32[2]'"},
      {"%y = relu(%x : f32[2]", "expected a whole number, got 'f32'"},
      {"%y = relu(%x:1) : f32[2]", "%x has no result 1"},
      {"%y = relu(%x) : f32[3]", "result 0 of %y is f32[2], the text says f32[3]"},
      {"%y = relu(%x)", "expected ':' at ''"},
      {"%x = relu(%x) : f32[2]", "the graph has two nodes called 'x'"},
      {"%y = scale(%x) {factor=fast} : f32[2]", "'fast' is not an attribute value"},
      {"%y = scale(%x) {factor=1e999} : f32[2]", "'1e999' is not an attribute value"},
      {"%y = scale(%x) {factor} : f32[2]", "expected '=' at '} : f32[2]'"},
      {"%y = scale(%x) {factor=1.0 : f32[2]", "expected ',' at ': f32[2]'"},
      {"%y = gelu(%x) {approximate=\"none} : f32[2]", "a quoted text has no closing quote"},
      {"%y = gelu(%x) {approximate=\"none\\", "a quoted text has no closing quote"},
      {"%y = quantize(%x) {format=integer(width=8} : f32[2]",
       "expected ',' at '(width=8} : f32[2]'"},
      {"%y = quantize(%x) {format=intger(width=8)} : f32[2]",
       "unknown format 'intger'; did you mean 'integer'?"},
      {"%y = quantize(%x) {format=integer(width=80)} : f32[2]",
       "integer(width=80): width=80 is outside 1 … 32 (total bits)"},
      {"output y = %z", "%z is used before it is defined"},
      {"output = %x", "expected a name at '= %x'"},
      {"output y %x", "expected '=' at '%x'"},
  };
  for (const auto& [line, message] : kMalformed) {
    EXPECT_EQ(refusal(std::string("%x = input : f32[2]\n") + line),
              std::string("graph text, line 2: ") + message)
        << line;
  }
}

TEST(GraphText, RefusesDimensionsWithoutEnd) {
  std::string shape = "[1";
  for (int i = 1; i < 9; ++i) shape += ", 1";
  EXPECT_EQ(refusal("%x = input : f32" + shape + "]"),
            "graph text, line 1: more than 8 dimensions");
}

// Any bytes give a graph or an error message.
TEST(GraphText, SurvivesEveryCutAndEveryChangedByte) {
  for (std::size_t i = 0; i < kEverything.size(); ++i) {
    refusal(kEverything.substr(0, i));
    for (const char byte : {'\0', '\n', '%', '"', '\\', '(', ']', '9', 'B', '\xff'}) {
      std::string changed = kEverything;
      changed[i] = byte;
      refusal(changed);
    }
  }
}

}  // namespace
}  // namespace hone::testing
