#include "hone/frontends/huggingface/hub_cache.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/support/expect.h"

namespace hone {
namespace {

// Sets environment variables and restores the old values.
class Environment {
 public:
  void set(const char* name, const char* value) {
    const char* old = std::getenv(name);
    before_.emplace_back(name, old == nullptr ? std::nullopt : std::optional<std::string>(old));
    value == nullptr ? ::unsetenv(name) : ::setenv(name, value, 1);
  }
  ~Environment() {
    for (auto at = before_.rbegin(); at != before_.rend(); ++at)
      at->second ? ::setenv(at->first.c_str(), at->second->c_str(), 1)
                 : ::unsetenv(at->first.c_str());
  }

 private:
  std::vector<std::pair<std::string, std::optional<std::string>>> before_;
};

// A cache with two snapshots of one model; "abc1" is main.
class Cache : public TemporaryFolder {
 public:
  Cache() {
    const fs::path model = path() / "models--prajjwal1--bert-tiny";
    for (const char* hash : {"abc1", "abd2"}) fs::create_directories(model / "snapshots" / hash);
    fs::create_directories(model / "refs/refs/pr");
    write_file(model / "snapshots/abc1/config.json", R"({"model_type": "bert"})");
    write_file(model / "refs/main", "abc1\n");
    write_file(model / "refs/refs/pr/3", "abd2");
    write_file(model / "refs/gone", "eee");
  }
  std::string find(const std::string& name) const {
    return find_in_hub_cache(*parse_hub_name(name), path()).filename().string();
  }
};

TEST(HubCacheFolder, IsNamedByTheEnvironment) {
  Environment environment;
  environment.set("HF_HUB_CACHE", "/caches/hub");
  environment.set("HF_HOME", "/hf");
  environment.set("XDG_CACHE_HOME", "/xdg");
  environment.set("HOME", "/home/me");
  EXPECT_EQ(hub_cache_folder(), "/caches/hub");
  environment.set("HF_HUB_CACHE", nullptr);
  EXPECT_EQ(hub_cache_folder(), "/hf/hub");
  environment.set("HF_HOME", nullptr);
  EXPECT_EQ(hub_cache_folder(), "/xdg/huggingface/hub");
  environment.set("XDG_CACHE_HOME", "");
  EXPECT_EQ(hub_cache_folder(), "/home/me/.cache/huggingface/hub");
}

TEST(HubName, HasOneOrTwoPartsAndARevision) {
  EXPECT_EQ(parse_hub_name("prajjwal1/bert-tiny")->repository, "prajjwal1/bert-tiny");
  EXPECT_EQ(parse_hub_name("bert-base-uncased")->revision, "main");
  EXPECT_EQ(parse_hub_name("a/b@refs/pr/3")->revision, "refs/pr/3");
  for (const char* text : {"", "/a", "a/b/c", "../a", "a/..", "a b", "a/b@", "a/b@../x", "./a"})
    EXPECT_FALSE(parse_hub_name(text).has_value()) << text;
}

TEST(HubCache, FindsBranchesAndHashes) {
  const Cache cache;
  EXPECT_EQ(cache.find("prajjwal1/bert-tiny"), "abc1");
  EXPECT_EQ(cache.find("prajjwal1/bert-tiny@refs/pr/3"), "abd2");
  EXPECT_EQ(cache.find("prajjwal1/bert-tiny@abd2"), "abd2");
  EXPECT_EQ(cache.find("prajjwal1/bert-tiny@abd"), "abd2");
}

TEST(HubCache, SaysWhereItLooked) {
  const Cache cache;
  EXPECT_TRUE(is_in_hub_cache({"prajjwal1/bert-tiny"}, cache.path()));
  EXPECT_FALSE(is_in_hub_cache({"prajjwal1/bert-tyni"}, cache.path()));
  const std::string model = (cache.path() / "models--prajjwal1--bert-tiny").string();
  expect_user_error(
      "prajjwal1/bert-tyni: no such model folder, nor a folder prajjwal1; for a model of the "
      "Hugging Face hub, run `hf download prajjwal1/bert-tyni` first, as it is not in the local "
      "cache " +
          cache.path().string() + "; did you mean 'prajjwal1/bert-tiny'?",
      [&] { cache.find("prajjwal1/bert-tyni"); });
  const fs::path other = cache.path() / "models--prajjwal1--gert-tiny";
  fs::create_directories(other / "snapshots/ace3");
  write_file(other / "refs/main", "ace3");
  write_file(other / "snapshots/ace3/config.json", R"({"model_type": "gpt2"})");
  expect_user_error(
      "did you mean 'prajjwal1/bert-tiny'?",  // not a message about a file that could not be opened
      [&] { cache.find("prajjwal1/gert-tyny"); });
  expect_user_error("revision 'v2' is not in the Hugging Face cache: checked " + model +
                        "/refs/v2 and " + model +
                        "/snapshots/v2; available: abc1, abd2. hone downloads nothing",
                    [&] { cache.find("prajjwal1/bert-tiny@v2"); });
  expect_user_error("revision 'gone' is not in the Hugging Face cache",
                    [&] { cache.find("prajjwal1/bert-tiny@gone"); });
  expect_user_error("revision 'ab' is ambiguous: it could be abc1, abd2; give more of the hash",
                    [&] { cache.find("prajjwal1/bert-tiny@ab"); });
}

}  // namespace
}  // namespace hone
