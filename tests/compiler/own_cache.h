#pragma once

#include <stdlib.h>

#include "hone/compiler/machine_code.h"
#include "tests/support/expect.h"

namespace hone::testing {

/// A private cache, as long as the object lives.
class OwnCache {
 public:
  OwnCache() : before_(environment()) { ::setenv("XDG_CACHE_HOME", folder_.path().c_str(), 1); }
  ~OwnCache() {
    before_.empty() ? ::unsetenv("XDG_CACHE_HOME") : ::setenv("XDG_CACHE_HOME", before_.c_str(), 1);
  }
  OwnCache(const OwnCache&) = delete;
  OwnCache& operator=(const OwnCache&) = delete;

  fs::path code() const { return folder_.path() / "hone" / "code"; }

 private:
  static std::string environment() {
    const char* const set = ::getenv("XDG_CACHE_HOME");
    return set == nullptr ? "" : set;
  }
  TemporaryFolder folder_;
  std::string before_;
};

/// A test of generated code with a private cache. Skipped if code cannot be generated.
class GeneratedCodeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string missing = compiler::code_generation_missing(); !missing.empty())
      GTEST_SKIP() << missing;
  }
  OwnCache cache_;
};

}  // namespace hone::testing
