#include <gtest/gtest.h>

#include <algorithm>

#include "fuzz/targets.h"
#include "hone/base/error.h"
#include "hone/base/file.h"

// Past findings stay fixed, and the seeds are useful starting points.
namespace hone::fuzz {
namespace {

std::vector<fs::path> sorted_entries(const fs::path& folder) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(folder)) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

bool accepts(const Target& target, const fs::path& path) {
  const std::string bytes = read_file(path);
  try {
    target.run(bytes);
    return true;
  } catch (const UserError&) {
    return false;
  }
}

class Seeds : public ::testing::TestWithParam<Target> {};

TEST_P(Seeds, AreReadOrRefused) {
  std::size_t accepted = 0;
  for (const fs::path& path : sorted_entries(fs::path(HONE_FUZZ_SEEDS) / GetParam().name)) {
    SCOPED_TRACE(path.string());
    EXPECT_NO_THROW(accepted += accepts(GetParam(), path) ? 1 : 0);
  }
  EXPECT_GT(accepted, 0u) << "no seed leads behind the first checks";
}

INSTANTIATE_TEST_SUITE_P(Fuzz, Seeds, ::testing::ValuesIn(kTargets),
                         [](const auto& target) { return std::string(target.param.name); });

TEST(FuzzTargets, HaveAFolderOfSeedsEach) {
  std::vector<std::string> folders, names;
  for (const fs::path& path : sorted_entries(HONE_FUZZ_SEEDS))
    folders.push_back(path.filename().string());
  for (const Target& target : kTargets) names.emplace_back(target.name);
  EXPECT_EQ(folders, names);
}

}  // namespace
}  // namespace hone::fuzz
