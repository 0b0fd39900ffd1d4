#include "hone/runtime/run_passes.h"

#include <gtest/gtest.h>

#include "hone/ir/print.h"
#include "tests/support/evaluate.h"
#include "tests/support/message.h"

namespace hone::testing {
namespace {

constexpr std::string_view kDropped = R"(%key = input : i64[]
%x = input : f32[4]
%d = dropout(%x, %key) {p=0.5, stream=1} : f32[4]
%unread = relu(%x) : f32[4]
output y = %d
)";

// A pass that puts a node before one of its inputs.
bool put_out_of_order(Graph& graph, ParameterStore&, const Attributes&, const Session&) {
  Node& first = *graph.find("first");
  graph.set_input(first, 0, {graph.find("second"), 0});
  return true;
}

TEST(RunPasses, RunsOneAfterTheOtherAndTellsOfEach) {
  Graph graph = parse(kDropped);
  ThreadPool pool(1);
  std::vector<PassRun> runs;
  std::vector<std::string> left;
  PassWatch watch;
  watch.on_pass = [&](const PassRun& run, const Graph& after) {
    runs.push_back(run);
    left.push_back(to_string(after));
  };
  ParameterStore none;
  const Session session{.library = references(), .pool = pool, .watch = &watch};
  EXPECT_TRUE(
      run_passes(graph, none, session, {"remove_dropout", "remove_dead_code", "remove_dead_code"}));
  EXPECT_EQ(to_string(graph), "%x = input : f32[4]\noutput y = %x\n");
  ASSERT_EQ(runs.size(), 3u);
  EXPECT_EQ(runs[0].pass, "remove_dropout");
  EXPECT_EQ(runs[0].nodes_before, 4u);
  EXPECT_EQ(runs[0].nodes_after, 2u);  // the random key is removed too
  EXPECT_GT(runs[0].seconds, 0);
  EXPECT_TRUE(runs[1].changed);
  EXPECT_FALSE(runs[2].changed);
  EXPECT_EQ(left[1], to_string(graph));
}

TEST(RunPasses, LeavesOutWhatIsToBeSkipped) {
  Graph graph = parse(kDropped);
  ThreadPool pool(1);
  std::vector<bool> skipped;
  PassWatch watch{{"remove_dropout"},
                  [&](const PassRun& run, const Graph&) { skipped.push_back(run.skipped); }};
  ParameterStore none;
  run_passes(graph, none, {.library = references(), .pool = pool, .watch = &watch},
             {"remove_dropout", "remove_dead_code"});
  EXPECT_NE(graph.find("d"), nullptr);
  EXPECT_EQ(graph.find("unread"), nullptr);
  EXPECT_EQ(skipped, (std::vector<bool>{true, false}));
}

TEST(RunPasses, NameThePassThatRefuses) {
  Graph graph = parse(kDropped);
  ThreadPool pool(1);
  ParameterStore none;
  EXPECT_EQ(message_of([&] {
              run_passes(graph, none, {references(), pool}, {"freeze(names=w)"});
            }),
            "in the pass freeze(names=\"w\"): no parameter matches 'w' of `freeze`; `hone "
            "inspect` lists them");
}

TEST(RunPasses, CatchWhatAPassBreaks) {
  Library library = references();
  library.passes.emplace("disorder",
                         PassDef{.name = "disorder", .summary = "", .run = put_out_of_order});
  Graph graph = parse_graph(
      "%x = input : f32[4]\n%first = relu(%x) : f32[4]\n%second = relu(%x) : f32[4]\n"
      "output y = %first\noutput z = %second\n",
      library.ops, library.formats);
  ThreadPool pool(1);
  ParameterStore none;
  try {
    run_passes(graph, none, {library, pool}, {"disorder"});
    FAIL() << "the graph is broken";
  } catch (const InternalError& error) {
    EXPECT_TRUE(std::string_view(error.what()).starts_with("in the pass disorder: "))
        << error.what();
    EXPECT_NE(std::string_view(error.what()).find("first"), std::string_view::npos) << error.what();
  }
}

}  // namespace
}  // namespace hone::testing
