#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "hone/base/process.h"
#include "hone/base/text.h"
#include "tests/cli/run_hone.h"
#include "tests/support/expect.h"
#include "tests/support/test_data.h"

// Tests of files next to the sources: licences, package lists, the CI workflow.
namespace hone::testing {
namespace {

fs::path root() { return test_data().parent_path(); }
std::string file(const std::string& name) { return read_file(root() / name); }

std::set<std::string> packages_to(const std::string& purpose) {
  const std::string printed =
      run_program({root() / "tools/install-dependencies", "--print", purpose}, root(), "bash");
  const std::vector<std::string> lines = split(std::string(trim(printed)), '\n');
  return {lines.begin(), lines.end()};
}

TEST(ProjectFiles, LicenceIsTheWholeApacheLicence) {
  const std::string text = file("LICENSE");
  EXPECT_NE(text.find("Apache License\n"), std::string::npos);
  EXPECT_NE(text.find("TERMS AND CONDITIONS FOR USE, REPRODUCTION, AND DISTRIBUTION"),
            std::string::npos);
  EXPECT_NE(text.find("END OF TERMS AND CONDITIONS"), std::string::npos);
  EXPECT_NE(text.find("limitations under the License."), std::string::npos);
}

TEST(ProjectFiles, NoticeHasEveryLibrary) {
  const std::string notice = file("THIRD_PARTY.md");
  const std::map<std::string, std::string> packages = {{"fmt", "libfmt-dev"},
                                                       {"nlohmann_json", "nlohmann-json3-dev"},
                                                       {"CLI11", "libcli11-dev"},
                                                       {"ZLIB", "zlib1g-dev"},
                                                       {"Snappy", "libsnappy-dev"},
                                                       {"PNG", "libpng-dev"},
                                                       {"JPEG", "libjpeg-dev"},
                                                       {"Protobuf", "libprotobuf-dev"},
                                                       {"ONNX", "libonnx-dev"},
                                                       {"zstd", "libzstd-dev"},
                                                       {"xxhash", "libxxhash-dev"},
                                                       {"utf8proc", "libutf8proc-dev"},
                                                       {"yaml-cpp", "libyaml-cpp-dev"},
                                                       {"hwy", "libhwy-dev"},
                                                       {"LLVM", "llvm-19-dev"},
                                                       {"tomlplusplus", "libtomlplusplus-dev"},
                                                       {"sqlite3", "libsqlite3-dev"},
                                                       {"pq", "libpq-dev"},
                                                       {"Random123", "librandom123-dev"}};
  const std::string build = file("CMakeLists.txt");
  const std::regex wanted("(?:find_package|pkg_check_modules)\\(([\\w-]+) REQUIRED");
  for (std::sregex_iterator it(build.begin(), build.end(), wanted), end; it != end; ++it) {
    const std::string name = (*it)[1];
    if (name == "Threads" || name == "PkgConfig") continue;
    EXPECT_TRUE(packages.contains(name)) << name << " is linked: THIRD_PARTY.md and this test";
  }
  const std::set<std::string> installed = packages_to("run");
  for (const auto& [name, package] : packages) {
    EXPECT_NE(notice.find(" | " + package + " | "), std::string::npos) << package;
    EXPECT_TRUE(installed.contains(package)) << package;
  }
}

TEST(ProjectFiles, RunningNeedsNoToolsOfDevelopers) {
  const std::set<std::string> run = packages_to("run"), test = packages_to("test");
  for (const char* package : {"libgtest-dev", "libbenchmark-dev", "libdnnl-dev", "clang-format",
                              "clang-tidy-19", "clang", "ccache", "git"})
    EXPECT_FALSE(run.contains(package)) << package;
  EXPECT_TRUE(test.contains("libgtest-dev"));
  for (const char* package : {"libdnnl-dev", "clang-tidy-19"}) EXPECT_FALSE(test.contains(package));
  EXPECT_TRUE(packages_to("bench").contains("libdnnl-dev"));
  EXPECT_TRUE(packages_to("lint").contains("clang-tidy-19"));
  EXPECT_TRUE(packages_to("fuzz").contains("clang"));
  expect_user_error("give run, test, bench", [] { packages_to("everything"); });
  // Every target of the Makefile that installs packages names an existing purpose.
  const std::string makefile = file("Makefile");
  const std::regex purpose("packages-to-(\\w+)");
  int named = 0;
  for (std::sregex_iterator it(makefile.begin(), makefile.end(), purpose), end; it != end; ++it)
    named += static_cast<int>(packages_to((*it)[1]).size() > 0);
  EXPECT_GT(named, 5);
}

// The image in the guide contains only the listed packages and those of the base system.
TEST(ProjectFiles, ContainerHasTheLibrariesOfTheProgram) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizers' libraries are not in it";
#endif
  if (!path_exists("/usr/bin/dpkg") || !path_exists("/usr/bin/readelf"))
    GTEST_SKIP() << "needs dpkg and readelf";
  const std::string headers = run_program({"readelf", "-d", hone_program()}, root(), "binutils");
  const std::regex needed("NEEDED.*\\[(lib.*)\\]");
  std::set<std::string> packages;
  for (std::sregex_iterator it(headers.begin(), headers.end(), needed), end; it != end; ++it) {
    const std::string owner =
        run_program({"dpkg", "-S", "*/x86_64-linux-gnu/" + (*it)[1].str()}, root(), "dpkg");
    packages.insert(owner.substr(0, owner.find(':')));
  }
  for (const char* base : {"libc6", "libgcc-s1", "libstdc++6"}) packages.erase(base);
  EXPECT_GT(packages.size(), 10U);
  const std::string guide = file("docs/guides/ship.md");
  for (const std::string& package : packages)
    EXPECT_NE(guide.find(" " + package + " "), std::string::npos) << package;
}

TEST(ProjectFiles, AreInstalledAndLinked) {
  const std::string build = file("hone/cli/CMakeLists.txt");
  for (const char* name : {"LICENSE", "THIRD_PARTY.md"})
    EXPECT_NE(build.find("${PROJECT_SOURCE_DIR}/" + std::string(name)), std::string::npos) << name;
  EXPECT_NE(file(".github/workflows/ci.yml").find("run: .ci/run\n"), std::string::npos);
  EXPECT_NE(file("CONTRIBUTING.md").find("make test"), std::string::npos);
  EXPECT_NE(file("SECURITY.md").find("--plugin"), std::string::npos);
}

}  // namespace
}  // namespace hone::testing
