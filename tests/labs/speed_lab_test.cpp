#include "hone/labs/speed_lab.h"

#include <gtest/gtest.h>

#include "tests/runtime/fake_device.h"
#include "tests/support/expect.h"

namespace hone {
namespace {

// What runs starts the program anew, so tests/cli/lab_test.cpp has that.
TEST(SpeedLab, HasARowForWorksWithoutKernelsOnTheDevice) {
  const TemporaryFolder folder;
  testing::FakeDevice device;
  Context context(/*threads=*/1, /*quiet=*/true, {}, {}, {}, [&](Context& made) {
    made.library = testing::fake_library();
    std::erase_if(made.library.kernels, [](const Kernel& kernel) { return kernel.op == "gelu"; });
    made.device = &device;
  });
  const Lab lab = speed_lab([](Fidelity) {
    return std::vector<TimedModel>{
        {.name = "tiny", .what = "BERT-tiny", .batches = {1}, .tokens = 8}};
  });
  const JobResult result =
      run_lab(lab, {.output = {.folder = (folder.path() / "lab").string()}}, context);
  const Json& rows = result.fields["overview"];
  ASSERT_EQ(rows.size(), 3u) << "inference and a training step, and the other device";
  for (const std::size_t i : {0, 1}) {
    EXPECT_EQ(rows[i]["device"], "fake:0, no hardware");
    EXPECT_EQ(rows[i]["why_not"], "not run: no kernel of gelu on fake:0");
    EXPECT_TRUE(rows[i]["executor"].is_null());
  }
  EXPECT_EQ(rows[2]["work"], "all");
  EXPECT_EQ(rows[2]["device"], "cpu");
  EXPECT_TRUE(result.fields["works"].empty());
  EXPECT_TRUE(result.fields["naive"].empty());
  EXPECT_NE(result.fields["summary"].get<std::string>().find("no kernel of gelu"),
            std::string::npos);
  EXPECT_TRUE(path_exists(folder.path() / "lab/report.html"));
}

}  // namespace
}  // namespace hone
