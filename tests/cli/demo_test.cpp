#include <gtest/gtest.h>

#include "hone/base/text.h"
#include "tests/cli/run_hone.h"
#include "tests/support/expect.h"

namespace hone::testing {
namespace {

// All seven widths, with next to no training: what is written is looked at, not how good it is.
Ending small_demo(const TemporaryFolder& folder) {
  return run_well({"demo", "--max_steps", "4", "--qat_steps", "1", "--data", "synth:negation?n=200",
                   "--max_seq_length", "16", "-o", "demo"},
                  folder.path());
}

TEST(Demo, LeavesTablesFigureAndModel) {
  const TemporaryFolder folder;
  const Ending ending = small_demo(folder);
  const fs::path demo = folder.path() / "demo";
  EXPECT_EQ(entries(folder.path()), std::vector<std::string>{"demo"});
  EXPECT_EQ(entries(demo), (std::vector<std::string>{"fixed_point.gp",
                                                     "fixed_point.png",
                                                     "fixed_point.svg",
                                                     "fixed_point.tsv",
                                                     "learning_curve.csv",
                                                     "learning_curve.gp",
                                                     "learning_curve.png",
                                                     "learning_curve.svg",
                                                     "learning_curve.tsv",
                                                     "machine.json",
                                                     "model",
                                                     "native",
                                                     "record.json",
                                                     "report.html",
                                                     "results.csv",
                                                     "results.json",
                                                     "results.txt",
                                                     "run.log",
                                                     "settings.json",
                                                     "training_log.jsonl"}));
  // fp32, then PTQ and QAT of six widths, in each of the three forms.
  EXPECT_EQ(read_json(demo / "results.json")["models"].size(), 13);
  EXPECT_EQ(split(trim(read_file(demo / "results.csv")), '\n').size(), 1 + 13);
  EXPECT_TRUE(ending.output.starts_with(read_file(demo / "results.txt")));
  EXPECT_NE(ending.output.find("Weights: "), std::string::npos);
  EXPECT_TRUE(read_file(demo / "fixed_point.png").starts_with("\x89PNG"));
  EXPECT_NE(read_file(demo / "fixed_point.svg").find("</svg>"), std::string::npos);
  const std::string page = read_page(demo / "report.html");
  for (const char* part : {"Fixed point is shown to keep the accuracy ", "a bag of words gets ",
                           "simulated fixed point", "synth:negation?n=200", "set aside by seed 42",
                           "hone demo --data"})
    EXPECT_NE(page.find(part), std::string::npos) << part;
  // The models are ones that every other command takes.
  for (const char* model : {"model", "native"}) {
    const Json said = run_json({"predict", demo / model, "not bad"}, folder.path());
    EXPECT_EQ(said["logits"].size(), 2);
  }
  const Json native = read_json(demo / "results.json")["native"];
  EXPECT_LT(native["size"]["memory_bytes"], native["size_before"]["memory_bytes"]);
  EXPECT_TRUE(path_exists(demo / "native/native.png"));
  EXPECT_NE(ending.output.find("ms a text"), std::string::npos);
}

}  // namespace
}  // namespace hone::testing
