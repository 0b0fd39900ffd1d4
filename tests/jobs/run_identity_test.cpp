#include "hone/jobs/run_identity.h"

#include <gtest/gtest.h>

#include "hone/jobs/job_output.h"
#include "tests/support/expect.h"
#include "tests/support/tiny_jobs.h"

namespace hone::testing {
namespace {

const EncodedSplits& splits() {
  static const EncodedSplits all{tiny_texts(12, 1), tiny_texts(6, 2), tiny_texts(6, 3)};
  return all;
}

const Json kSettings = {{"MODEL", "tiny"},
                        {"data", "texts.csv"},
                        {"learning_rate", 1e-3},
                        {"seed", 42},
                        {"threads", 2}};
const Json kDefaults = {{"learning_rate", 5e-5}, {"seed", 42}, {"new_flag", 0}};

OutputFolder resumed(const fs::path& destination) {
  return OutputFolder(destination, JobOutput{destination.string()}.resumable({.resume = true}));
}

// Returns whether there is something left to do.
bool begin(OutputFolder& output, const EncodedSplits& data = splits(),
           const Model& model = tiny_model(), const Json& settings = kSettings) {
  Invocation invocation;
  invocation.name = "train";
  invocation.settings = settings;
  invocation.defaults = kDefaults;
  return begin_run(invocation, model.parameters, data, output);
}

/// A folder with an interrupted or finished run.
class Begun {
 public:
  explicit Begun(bool finished = false) {
    OutputFolder output = resumed(destination());
    EXPECT_TRUE(begin(output));
    if (finished) {
      output.commit();
    } else {
      fs::create_directory(output.path() / "checkpoint-1");
      write_file(output.path() / "checkpoint-1/trainer_state.json", "{}");
    }
  }
  fs::path destination() const { return folder_.path() / "model"; }
  // Returns the error of resuming the run with other inputs, or "" if that is allowed.
  std::string difference(const EncodedSplits& data, const Model& model = tiny_model(),
                         const Json& settings = kSettings) const {
    OutputFolder output = resumed(destination());
    try {
      EXPECT_TRUE(begin(output, data, model, settings));
      return "";
    } catch (const UserError& error) {
      return error.what();
    }
  }

 private:
  TemporaryFolder folder_;
};

TEST(RunIdentity, IsThatOfTheSameRun) {
  EXPECT_EQ(Begun().difference(splits()), "");
  Json elsewhere = kSettings;
  elsewhere["threads"] = 7;
  elsewhere["MODEL"] = "./tiny";
  elsewhere["new_flag"] = 0;  // a new option since the run began
  EXPECT_EQ(Begun().difference(splits(), tiny_model(), elsewhere), "");
}

TEST(RunIdentity, SeesEverySingleChangeOfTheData) {
  const Begun begun;
  const auto changed = [&](auto change) {
    EncodedSplits data = splits();
    change(data);
    return begun.difference(data);
  };
  const char* training = "\n  the training texts: 12 texts, fingerprint ";
  EXPECT_NE(changed([](auto& d) { d.train.ids[11].back() = 9; }).find(training), std::string::npos);
  EXPECT_NE(changed([](auto& d) { d.train.labels[0] ^= 1; }).find(training), std::string::npos);
  EXPECT_NE(changed([](auto& d) { std::swap(d.train.ids[0], d.train.ids[1]); }).find(training),
            std::string::npos);
  EXPECT_NE(changed([](auto& d) { d.train.type_1_begins.assign(12, 2); }).find(training),
            std::string::npos);
  // A token moves across the boundary of two texts.
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
  EXPECT_NE(Begun().difference(splits(), model).find("\n  the model: "), std::string::npos);
}

TEST(RunIdentity, NamesSettingsWithBothValues) {
  const std::string message =
      Begun().difference(splits(), tiny_model(), {{"seed", ""}, {"new_flag", 3}});
  for (const char* line : {"\n  `learning_rate`: 0.001 then, not given now",
                           "\n  `seed`: 42 then, not given now", "\n  `new_flag`: 0 then, 3 now"})
    EXPECT_NE(message.find(line), std::string::npos) << line << message;
}

TEST(BeginRun, HasNothingToDoWhereTheSameRunIsFinished) {
  const Begun begun(/*finished=*/true);
  {
    OutputFolder output = resumed(begun.destination());
    EXPECT_FALSE(begin(output));
  }
  const std::string message = begun.difference(splits(), tiny_model(), {{"seed", 7}});
  EXPECT_NE(message.find("model: contains another finished run:"), std::string::npos) << message;
  EXPECT_NE(message.find("\n  `seed`: 42 then, 7 now"), std::string::npos) << message;
}

TEST(CommandOf, IsInTheRecordOrInTheSettings) {
  const TemporaryFolder folder;
  EXPECT_EQ(command_of({.job = {{"command", "train"}}}, folder.path()), "train");
  EXPECT_EQ(command_of({}, folder.path()), "");
  for (const auto& [settings, command] : {std::pair("{\"command\": \"eval\"}", "eval"),
                                          std::pair("{\"command\": 7}", ""), std::pair("{", "")}) {
    folder.file("settings.json", settings);
    EXPECT_EQ(command_of({}, folder.path()), command) << settings;
  }
}

TEST(BeginRun, SaysWhatAFinishedRunHasLost) {
  const TemporaryFolder folder;
  const fs::path model = folder.path() / "model";
  {
    OutputFolder output = resumed(model);
    EXPECT_TRUE(begin(output));
    for (const char* name : {"config.json", "model.safetensors", "results.json", "vocab.txt"})
      write_file(output.path() / name, "text");
    output.commit();
  }
  { write_file(model / "notes.txt", "of no concern"); }
  {
    OutputFolder output = resumed(model);
    EXPECT_FALSE(begin(output));
  }
  fs::remove(model / "model.safetensors");
  write_file(model / "vocab.txt", "other");
  write_file(model / "config.json", "test");  // of the same size as before
  OutputFolder output = resumed(model);
  EXPECT_EQ(user_error_of([&] { begin(output); }),
            model.string() +
                ": this run is finished, but its files were changed since:\n  config.json: was "
                "changed\n  model.safetensors: is missing\n  vocab.txt: was changed\nRestore them, "
                "or run it again with `overwrite`, which keeps changed files as NAME.kept");
}

// The run was killed after it recorded that it was finished, before the folder was renamed.
TEST(BeginRun, MovesAFinishedRunIntoPlace) {
  const Begun begun(/*finished=*/true);
  const fs::path partial = fs::path(begun.destination()).concat(".partial");
  fs::rename(begun.destination(), partial);
  fs::create_directory(partial / "checkpoint-1");
  write_file(partial / "checkpoint-1/optimizer.safetensors", "moments");
  write_file(partial / kWrittenFiles, "checkpoint-1/optimizer.safetensors");
  OutputFolder output = resumed(begun.destination());
  EXPECT_FALSE(begin(output));
  EXPECT_FALSE(fs::exists(partial));
  EXPECT_FALSE(fs::exists(begun.destination() / "checkpoint-1/optimizer.safetensors"));
  EXPECT_TRUE(read_record(begun.destination())->finished);
}

// Sets the numerics version in the record of `folder`. Null imitates a version that did not record it.
void set_numerics(const fs::path& folder, const Json& numerics) {
  FolderRecord record = *read_record(folder);
  record.job.erase("numerics");
  if (!numerics.is_null()) record.job["numerics"] = numerics;
  write_record(record, folder);
}

TEST(BeginRun, RefusesToGoOnWithCheckpointsOfOtherNumerics) {
  for (const Json& numerics : {Json(), Json(1), Json(kNumerics + 1)}) {
    const Begun begun;
    set_numerics(fs::path(begun.destination()).concat(".partial"), numerics);
    const std::string message = begun.difference(splits());
    EXPECT_NE(message.find(fmt::format("model.partial: this run was started by a version of hone "
                                       "whose arithmetic rounds differently (numerics {}, here {})",
                                       numerics.is_null() ? 0 : numerics.get<int>(), kNumerics)),
              std::string::npos)
        << message;
    EXPECT_NE(message.find("start again with `overwrite`"), std::string::npos) << message;
  }
}

TEST(BeginRun, TakesAFinishedRunOfAnyNumericsForDone) {
  const Begun begun(/*finished=*/true);
  set_numerics(begun.destination(), nullptr);
  {
    OutputFolder output = resumed(begun.destination());
    EXPECT_FALSE(begin(output));
  }
  const fs::path partial = fs::path(begun.destination()).concat(".partial");
  fs::rename(begun.destination(), partial);  // not yet renamed
  OutputFolder output = resumed(begun.destination());
  EXPECT_FALSE(begin(output));
  EXPECT_TRUE(read_record(begun.destination())->finished);
}

}  // namespace
}  // namespace hone::testing
