#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <set>

#include "hone/base/process.h"
#include "hone/base/text.h"
#include "tests/support/expect.h"
#include "tests/support/test_data.h"

// Uses an installed hone as another project does: by find_package(hone), from folders outside the checkout.
namespace hone::testing {
namespace {

// Returns the home folder of a user who ran `make install PREFIX=~/.local`.
const fs::path& home() {
  static const TemporaryFolder folder;
  static const std::string installed = run_program(
      {HONE_CMAKE, "--install", HONE_BUILD, "--prefix", folder.path() / ".local"}, "/", "cmake");
  return folder.path();
}
fs::path prefix() { return home() / ".local"; }

fs::path source(const std::string& name) { return test_data().parent_path() / name; }

// Returns the output of a shell command of that user.
std::string type(const std::string& line, const fs::path& folder) {
  return run_program(
      {"env", "HOME=" + home().string(), std::string("CXX=") + HONE_COMPILER, "sh", "-c", line},
      folder, "coreutils");
}

// Returns the lines of a document's ```sh blocks that begin with one of these words.
std::vector<std::string> lines_of(const std::string& document,
                                  const std::vector<std::string>& words) {
  std::vector<std::string> lines;
  bool shell = false;
  for (const std::string& line : split(read_file(source(document)), '\n')) {
    if (line.starts_with("```")) shell = line == "```sh";
    const auto begins = [&](const std::string& word) { return line.starts_with(word); };
    if (shell && std::ranges::any_of(words, begins)) lines.push_back(line);
  }
  return lines;
}

// Runs them in a folder that has the checkout's examples. Returns the output of the last one.
std::string type_all(const std::vector<std::string>& lines, const fs::path& folder) {
  fs::create_directory_symlink(source("examples"), folder / "examples");
  std::string said;
  for (const std::string& line : lines) said = type(line, folder);
  return said;
}

std::vector<fs::path> installed_headers() {
  std::vector<fs::path> headers;
  for (const auto& entry : fs::recursive_directory_iterator(prefix() / "include"))
    if (entry.is_regular_file()) headers.push_back(entry.path());
  return headers;
}

TEST(Installed, ProgramOutsideTrainsQuantizesAndReadsBack) {
  const TemporaryFolder folder;
  const std::vector<std::string> lines = lines_of("README.md", {"cmake ", "build-vectors/"});
  ASSERT_EQ(lines.size(), 3u);
  const std::string output = type_all(lines, folder.path());
  const std::regex line(
      "(.+): ([0-9.]+)% of 2000 points are right, 95% interval ([0-9.]+) to ([0-9.]+)");
  std::vector<double> accuracies;
  std::vector<std::string> figures;
  for (std::sregex_iterator it(output.begin(), output.end(), line), end; it != end; ++it) {
    accuracies.push_back(std::stod((*it)[2]));
    EXPECT_LT(std::stod((*it)[3]), accuracies.back());
    EXPECT_GT(std::stod((*it)[4]), accuracies.back());
    figures.push_back(it->str().substr((*it)[1].length()));
  }
  ASSERT_EQ(accuracies.size(), 3u) << output;
  EXPECT_GT(accuracies[0], 90) << output;
  EXPECT_GT(accuracies[1], 80) << output;
  EXPECT_LT(accuracies[1], accuracies[0]) << "4 bits cost nothing?\n" << output;
  EXPECT_EQ(figures[2], figures[1]) << output;
}

TEST(Installed, PluginIsBuiltWithTheHeadersAlone) {
  const TemporaryFolder folder;
  const std::vector<std::string> lines = lines_of(
      "docs/developers/adding-a-format.md", {"cmake ", "~/.local/bin/hone formats apot 0.3 --p"});
  ASSERT_EQ(lines.size(), 2u);
  const std::string shown = type_all(lines, folder.path());
  EXPECT_NE(shown.find("apot(block=64)"), std::string::npos) << shown;
}

// CUDA is not needed to build a GPU kernel.
TEST(Installed, KernelOfOnesOwnIsBuiltWithTheHeadersAlone) {
  const TemporaryFolder folder;
  const std::vector<std::string> lines = lines_of("docs/developers/adding-a-kernel.md", {"cmake "});
  ASSERT_EQ(lines.size(), 1u);
  type_all(lines, folder.path());
  type("~/.local/bin/hone formats --plugin build-gelu/gelu.so", folder.path());
}

// Runs the commands of docs/developers/adding-a-pass.md and compares the output that it shows.
TEST(Installed, PassesOfOnesOwnRunAsProgramAndAsPlugin) {
  const TemporaryFolder folder;
  const std::string document = "docs/developers/adding-a-pass.md";
  const std::string counted =
      type_all(lines_of(document, {"cmake ", "build-dropouts/"}), folder.path());
  const std::string page = read_file(source(document));
  EXPECT_NE(page.find("```\n" + counted + "```"), std::string::npos) << counted;
  EXPECT_NE(counted.find("8 dropouts, 6 of them outside attention\n0 dropouts, 0 of them"),
            std::string::npos);
  std::vector<std::string> said;
  for (const std::string& line : lines_of(document, {"~/.local/bin/hone "}))
    said.push_back(type(line, folder.path()));
  ASSERT_EQ(said.size(), 4u);
  EXPECT_NE(said[0].find("glob of those that go"), std::string::npos) << said[0];
  EXPECT_NE(said[1].find("dropouts: 8\noutside_attention: 6\n"), std::string::npos) << said[1];
  EXPECT_NE(said[2].find("operations 69 → 65"), std::string::npos) << said[2];
  EXPECT_NE(said[3].find("dropouts: 4\noutside_attention: 4\n"), std::string::npos) << said[3];
}

// Our headers include only those headers of other libraries that hone::headers provides.
TEST(Installed, HeadersNameOnlyWhatIsInstalledToo) {
  const std::regex include("\n *#include ([<\"])([^>\"]+)[>\"]");
  std::set<std::string> folders;
  for (const fs::path& header : installed_headers()) {
    folders.insert(
        header.parent_path().lexically_relative(prefix() / "include/hone").begin()->string());
    const std::string text = "\n" + read_file(header);
    for (std::sregex_iterator it(text.begin(), text.end(), include), end; it != end; ++it) {
      const std::string name = (*it)[2];
      if ((*it)[1] == "\"") {
        EXPECT_TRUE(path_exists(prefix() / "include" / name)) << header << " includes " << name;
      } else {
        const bool known = name.starts_with("fmt/") || name.starts_with("nlohmann/");
        EXPECT_TRUE(known || name.find_first_of("/.") == std::string::npos)
            << header << " includes " << name;
      }
    }
  }
  EXPECT_EQ(folders, (std::set<std::string>{
                         "analysis", "autodiff", "base",    "compiler",  "compressed_tensors",
                         "cuda",     "data",     "formats", "frontends", "ir",
                         "jobs",     "kernels",  "labs",    "metrics",   "models",
                         "onnx",     "ops",      "passes",  "report",    "runtime",
                         "search",   "study",    "tensor",  "text",      "train"}));
}

TEST(LongInstalled, EveryHeaderCompilesAlone) {
  const TemporaryFolder folder;
  type(fmt::format("cmake -S {} -B . -G Ninja -DCMAKE_PREFIX_PATH=$HOME/.local "
                   "-DHEADERS=$HOME/.local/include && cmake --build . -- -k 0",
                   source("tests/install/headers").string()),
       folder.path());
}

TEST(Installed, PackageSaysWhichLibraryItMisses) {
  const TemporaryFolder folder;
  const std::string message = user_error_of([&] {
    type_all({"PKG_CONFIG_LIBDIR=/nowhere cmake -S examples/vectors -B build "
              "-DCMAKE_PREFIX_PATH=$HOME/.local"},
             folder.path());
  });
  EXPECT_NE(
      std::regex_replace(message, std::regex("\\s+"), " ")
          .find("needs libzstd, which pkg-config does not find; Debian has it as libzstd-dev"),
      std::string::npos)
      << message;
}

// hone's own compiler options and build paths do not reach its users.
TEST(Installed, PackageAsksForNoOptionsOfOurs) {
  std::string package;
  for (const auto& entry : fs::directory_iterator(prefix() / "lib/cmake/hone"))
    package += read_file(entry.path());
  EXPECT_NE(package.find("cxx_std_20"), std::string::npos);
  for (const std::string& own :
       {std::string("-W"), std::string("-ffp-contract"), std::string("COMPILE_OPTIONS"),
        source("").string(), std::string(HONE_BUILD), prefix().string()})
    EXPECT_EQ(package.find(own), std::string::npos) << own;
}

TEST(Installed, PackageNamesTheVersionOfTheProgram) {
  const std::string version = run_program({prefix() / "bin/hone", "--version"}, "/", "hone");
  std::smatch number;
  ASSERT_TRUE(std::regex_search(version, number, std::regex("[0-9]+\\.[0-9]+\\.[0-9]+")))
      << version;
  const std::string file = read_file(prefix() / "lib/cmake/hone/honeConfigVersion.cmake");
  EXPECT_NE(file.find("set(PACKAGE_VERSION \"" + number.str() + "\")"), std::string::npos);
}

TEST(Installed, LicencesOfAllThatIsCompiledInAreThere) {
  const fs::path documents = prefix() / "share/doc/hone";
  const std::string notice = read_file(documents / "THIRD_PARTY.md");
  EXPECT_EQ(notice, read_file(source("THIRD_PARTY.md")));
  EXPECT_EQ(read_file(documents / "LICENSE"), read_file(source("LICENSE")));
  const std::regex row("\\| (lib[a-z0-9-]+|[a-z0-9-]+-dev) \\| [^|\n]*compiled in \\|");
  std::set<std::string> compiled_in, there;
  for (std::sregex_iterator it(notice.begin(), notice.end(), row), end; it != end; ++it)
    if (path_exists(fs::path("/usr/share/doc") / (*it)[1].str() / "copyright"))
      compiled_in.insert((*it)[1]);
  if (path_exists(documents / "licences"))
    for (const auto& entry : fs::directory_iterator(documents / "licences"))
      there.insert(entry.path().filename());
  EXPECT_EQ(there, compiled_in);
}

}  // namespace
}  // namespace hone::testing
