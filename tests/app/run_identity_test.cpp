#include "hone/app/run_identity.h"

#include <gtest/gtest.h>

#include "tests/app/app_testing.h"
#include "tests/support/expect.h"

namespace hone::testing {
namespace {

const EncodedSplits& splits() {
  static const EncodedSplits all{tiny_texts(12, 1), tiny_texts(6, 2), tiny_texts(6, 3)};
  return all;
}

Json identity(const EncodedSplits& data = splits(), const Model& model = tiny_model(),
              const Json& settings = {{"learning_rate", 1e-3}, {"seed", 42}}) {
  return run_identity(settings, model.parameters, data);
}

// The message when a run that began as `identity()` goes on as `now`; "" when it may.
std::string difference(const Json& now) {
  const TemporaryFolder folder;
  check_identity(identity(), folder.path(), /*resume=*/false);
  try {
    check_identity(now, folder.path(), /*resume=*/true);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(RunIdentity, IsThatOfTheSameRun) { EXPECT_EQ(difference(identity()), ""); }

TEST(RunIdentity, SeesEverySingleChangeOfTheData) {
  const auto changed = [](auto change) {
    EncodedSplits data = splits();
    change(data);
    return difference(identity(data));
  };
  const char* training = "\n  the training texts: 12 texts, checksum ";
  EXPECT_NE(changed([](auto& d) { d.train.ids[11].back() = 9; }).find(training), std::string::npos);
  EXPECT_NE(changed([](auto& d) { d.train.labels[0] ^= 1; }).find(training), std::string::npos);
  EXPECT_NE(changed([](auto& d) { std::swap(d.train.ids[0], d.train.ids[1]); }).find(training),
            std::string::npos);
  EXPECT_NE(changed([](auto& d) { d.train.second_begins.assign(12, 2); }).find(training),
            std::string::npos);
  // A token that moves over the end of a text.
  EXPECT_NE(changed([](auto& d) {
              d.train.ids[1].insert(d.train.ids[1].begin(), d.train.ids[0].back());
              d.train.ids[0].pop_back();
            }).find(training),
            std::string::npos);
  EXPECT_NE(changed([](auto& d) { d.validation.labels[0] ^= 1; }).find("the validation texts"),
            std::string::npos);
  EXPECT_NE(changed([](auto& d) { d.test.labels[0] ^= 1; }).find("the test texts"),
            std::string::npos);
}

TEST(RunIdentity, SeesOneWeight) {
  Model model = tiny_model();
  model.parameters.writable("classifier.bias").data<float>()[1] = 0x1p-20f;
  EXPECT_NE(difference(identity(splits(), model)).find("\n  the model: "), std::string::npos);
}

TEST(RunIdentity, NamesSettingsWithBothValues) {
  const std::string message = difference(identity(splits(), tiny_model(), {{"seed", 7}}));
  EXPECT_NE(message.find("\n  learning_rate: 0.001 when it began, not there now"),
            std::string::npos)
      << message;
  EXPECT_NE(message.find("\n  seed: 42 when it began, 7 now"), std::string::npos) << message;
}

}  // namespace
}  // namespace hone::testing
