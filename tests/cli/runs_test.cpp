#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <map>

#include "hone/base/text.h"
#include "tests/cli/run_hone.h"
#include "tests/support/expect.h"
#include "tests/support/test_data.h"

namespace hone::testing {
namespace {

// Returns the rows by the last component of their folder, followed by the variant if there is one.
std::map<std::string, Json> by_name(const Json& result) {
  std::map<std::string, Json> rows;
  for (const Json& row : result["runs"]) {
    std::string name = fs::path(row["folder"].get<std::string>()).filename();
    if (!row["variant"].is_null()) name += " " + row["variant"].get<std::string>();
    EXPECT_FALSE(rows.contains(name)) << name;
    rows[name] = row;
  }
  return rows;
}

TEST(Runs, ReadsFoldersOfEveryKind) {
  const TemporaryFolder folder;
  const std::string data = workshop() / "reviews.csv";
  const auto run = [&](std::vector<std::string> line, const char* output) {
    line.insert(line.end(), {"--data", data, "-o", output});
    run_well(line, folder.path());
  };
  run({"train", "tiny", "--max_steps", "3", "--lr", "1e-3"}, "train");
  run({"train", "tiny", "--max_steps", "1", "--seeds", "2"}, "seeds");
  run({"eval", "train", "--split", "all"}, "eval");
  run({"quantize", "train", "--weight_format", "int(bits=4)"}, "quantize");
  run({"compare", "train", "quantize"}, "compare");
  run({"compare-formats", "train", "--candidate", "bf16"}, "formats");
  leave_interrupted(folder.path() / "train", folder.path() / "interrupted.partial");
  const auto rows = by_name(run_json({"runs", folder.path()}, folder.path()));
  std::vector<std::string> found;
  for (const auto& [name, row] : rows) found.push_back(name);
  ASSERT_EQ(found, (std::vector<std::string>{"compare", "eval", "formats bf16", "formats fp32",
                                             "interrupted.partial", "quantize", "seeds", "train"}));
  const auto result = [&](const char* name) {
    return read_json(folder.path() / name / "results.json");
  };
  EXPECT_EQ(rows.at("train")["command"], "train");
  EXPECT_EQ(rows.at("train")["split"], "validation");
  EXPECT_EQ(rows.at("train")["eval_loss"], result("train")["validation"]["eval_loss"]);
  EXPECT_EQ(rows.at("train")["settings"]["learning_rate"], 1e-3);
  EXPECT_EQ(rows.at("eval")["n"], result("eval")["n"]);
  EXPECT_EQ(rows.at("eval")["split"], "all");
  EXPECT_EQ(rows.at("quantize")["eval_loss"], result("quantize")["after"]["eval_loss"]);
  EXPECT_EQ(rows.at("compare")["model"], "quantize");
  EXPECT_EQ(rows.at("compare")["arithmetic"], "simulated");
  EXPECT_EQ(rows.at("compare")["flip_share"], result("compare")["comparison"]["flip_share"]);
  EXPECT_EQ(rows.at("seeds")["seeds"], 2);
  EXPECT_EQ(rows.at("seeds")["eval_accuracy"],
            result("seeds")["metric_spread"]["validation"]["mean"]);
  EXPECT_FALSE(rows.at("seeds").contains("eval_accuracy_interval")) << "two seeds have none";
  EXPECT_EQ(rows.at("formats bf16")["average_weight_bits"], 16);
  EXPECT_EQ(rows.at("formats bf16")["model"], "train");
  EXPECT_EQ(rows.at("interrupted.partial")["state"], "unfinished");
  EXPECT_EQ(rows.at("interrupted.partial")["step"], 3);
  EXPECT_TRUE(rows.at("interrupted.partial")["examples_hash"].is_null()) << "not recorded";
}

// With few seeds the row lists the value of each, like their accuracies.
TEST(Runs, TellsTheFlipsOfSeeds) {
  const TemporaryFolder folder;
  run_well({"quantize", workshop() / "model", "--format", "integer(width=8,frac=4)", "--qat",
            "--max_steps", "1", "--seeds", "2", "--data", workshop() / "reviews.csv", "-o", "qat"},
           folder.path());
  const Json row = run_json({"runs", "qat"}, folder.path())["runs"][0];
  const Json result = read_json(folder.path() / "qat/results.json");
  ASSERT_EQ(row["flip_share_values"].size(), 2u) << row;
  for (const std::size_t i : {0, 1})
    EXPECT_EQ(row["flip_share_values"][i], result["runs"][i]["comparison"]["flip_share"]);
  EXPECT_EQ(
      row["flip_share"].get<double>(),
      (row["flip_share_values"][0].get<double>() + row["flip_share_values"][1].get<double>()) / 2);
  const std::string text =
      run_well({"runs", "qat", "--columns", "flip_share"}, folder.path()).output;
  EXPECT_NE(text.find(", "), std::string::npos) << text;
  // Comparisons of seeds have a second model instead of "after".
  run_well({"compare", "qat", "qat", "--data", workshop() / "reviews.csv", "-o", "compared"},
           folder.path());
  const Json compared = run_json({"runs", "compared"}, folder.path())["runs"][0];
  EXPECT_EQ(compared["eval_accuracy"],
            read_json(folder.path() / "compared/results.json")["metric_spread"]["b"]["mean"]);
  EXPECT_EQ(compared["metric_values"].size(), 2u);
  EXPECT_EQ(compared["flip_share"], 0);
}

// Returns the rows of runs.csv with the given columns. Cells in these tests contain no commas.
std::vector<std::vector<std::string>> csv_rows(std::vector<std::string> folders,
                                               const std::string& columns, const fs::path& in) {
  folders.insert(folders.begin(), "runs");
  folders.insert(folders.end(), {"--columns", columns, "--html", "page", "--overwrite"});
  run_well(folders, in);
  std::vector<std::vector<std::string>> rows;
  for (const std::string& line : split(read_file(in / "page/runs.csv"), '\n'))
    if (!trim(line).empty()) rows.push_back(split(std::string(trim(line)), ','));
  return rows;
}

TEST(Runs, GiveAVerdictOnlyWhereALimitWasSet) {
  const TemporaryFolder folder;
  const auto quantize = [&](const char* output, std::vector<std::string> more) {
    more.insert(more.begin(), {"quantize", workshop() / "model", "--format", "int", "--data",
                               workshop() / "reviews.csv", "-o", output});
    run_well(more, folder.path());
  };
  quantize("usual", {});
  quantize("wide", {"--gate", "accuracy>=-99.5"});
  const auto rows = by_name(run_json({"runs", "usual", "wide"}, folder.path()));
  EXPECT_EQ(rows.at("usual")["margin"], 0.005);
  EXPECT_EQ(rows.at("wide")["margin"], 0.995);
  for (const auto& [name, row] : rows)
    EXPECT_EQ(row["margin"],
              read_json(folder.path() / name / "results.json")["comparison"]["margin"]);
  EXPECT_TRUE(rows.at("usual")["limit"].is_null());
  EXPECT_EQ(rows.at("wide")["limit"], "accuracy>=-99.5");
  // The column distinguishes the rows, and only the limit that was asked for has a verdict.
  const auto cells = csv_rows({"usual", "wide"}, "folder,limit,verdict", folder.path());
  EXPECT_EQ(cells.at(0), (std::vector<std::string>{"folder", "limit", "verdict"}));
  EXPECT_EQ(cells.at(1), (std::vector<std::string>{"usual", "", ""}));
  EXPECT_EQ(cells.at(2), (std::vector<std::string>{"wide", "accuracy>=-99.5", "within limit"}));
}

TEST(Runs, ShowSizeAndLatencyOfCompressedModels) {
  const TemporaryFolder folder;
  run_well({"trim", workshop() / "model", "--data", workshop() / "reviews.csv", "-o", "trimmed"},
           folder.path());
  const Json row = run_json({"runs", "trimmed"}, folder.path())["runs"][0];
  const Json result = read_json(folder.path() / "trimmed/results.json");
  EXPECT_EQ(row["size"], result["size"]["stored_bytes"]);
  EXPECT_EQ(row["size_before"], result["size_before"]["stored_bytes"]);
  EXPECT_DOUBLE_EQ(row["compression_ratio"].get<double>(),
                   result["size_before"]["stored_bytes"].get<double>() /
                       result["size"]["stored_bytes"].get<double>());
  const Json& one = result["times"].back();
  ASSERT_EQ(one["batch_size"], 1);
  EXPECT_EQ(row["latency"], one["after"]["median_ms"]);
  EXPECT_EQ(row["speedup"], one["speedup"]);
  EXPECT_EQ(row["speedup_interval"], one["speedup_interval"]);
  const std::string text = run_well({"runs", "trimmed"}, folder.path()).output;
  for (const char* header : {"Start", "File size", "Latency"})
    EXPECT_NE(text.find(header), std::string::npos) << header << "\n" << text;
  const std::string asked =
      run_well({"runs", "trimmed", "--columns", "compression_ratio,speedup"}, folder.path()).output;
  for (const char* header : {"Times smaller", "Speedup"}) {
    EXPECT_NE(asked.find(header), std::string::npos) << header << "\n" << asked;
    EXPECT_EQ(text.find(header), std::string::npos) << header << "\n" << text;
  }
}

TEST(Runs, OfAnInterruptedJobShowWhatIsKnown) {
  const TemporaryFolder folder;
  fs::create_directory(folder.path() / "small.partial");
  folder.file("small.partial/record.json",
              R"({"schema_version": 1, "program": "hone", "finished": false, "job":
                  {"split": "", "max_drop": 1, "the model": "fingerprint 1", "command": "shrink"},
                  "files": {}})");
  const Json row = run_json({"runs", "small"}, folder.path())["runs"][0];
  EXPECT_EQ(row["command"], "shrink");
  EXPECT_EQ(row["state"], "unfinished");
  EXPECT_TRUE(row["step"].is_null()) << "nothing was trained";
  EXPECT_FALSE(row["settings"].contains("command"));
  const std::string text = run_well({"runs", "small"}, folder.path()).output;
  for (const char* there : {"State", "unfinished", "Command", "shrink"})
    EXPECT_NE(text.find(there), std::string::npos) << there << "\n" << text;
  for (const char* absent : {"Step", "Split"})
    EXPECT_EQ(text.find(absent), std::string::npos) << absent << "\n" << text;
}

TEST(Runs, NameTheChosenRecipeOfASearch) {
  const TemporaryFolder folder;
  fs::create_directory(folder.path() / "small");
  folder.file("small/results.json",
              R"({"schema_version": 1, "command": "shrink", "candidate": 2, "candidates":
                  [{"candidate": 1, "recipe": "heads -50%"},
                   {"candidate": 2, "recipe": "neurons -75%, int(bits=4,per=row), QAT 9 steps"}]})");
  EXPECT_EQ(run_json({"runs", "small"}, folder.path())["runs"][0]["format"],
            "neurons -75%, int(bits=4,per=row), QAT 9 steps");
  const std::string text = run_well({"runs", "small"}, folder.path()).output;
  EXPECT_NE(text.find("neurons -75% and 2 more"), std::string::npos) << text;
}

/// Returns a folder with three training runs: two learning rates, two datasets.
const fs::path& trainings() {
  static const TemporaryFolder folder;
  if (!fs::exists(folder.path() / "third")) {
    fs::copy(workshop() / "reviews.csv", folder.path());
    const auto train = [&](const char* rate, const char* data, const char* name) {
      run_well({"train", "tiny", "--data", data, "--max_steps", "4", "--eval_steps", "2", "--lr",
                rate, "-o", name},
               folder.path());
    };
    train("1e-3", "reviews.csv", "first");
    train("2e-3", "reviews.csv", "second");
    train("1e-3", "synth:lookup?n=300&test=60", "third");
  }
  return folder.path();
}

TEST(Runs, ShowsWhatTellsThemApart) {
  const std::string text = run_well({"runs", "first", "second"}, trainings()).output;
  for (const char* there :
       {"Folder", "Accuracy", "learning_rate", "0.001", "0.002", "first", "second",
        "The same in all runs: ", "validation of reviews.csv, n = 4", "Command: train"})
    EXPECT_NE(text.find(there), std::string::npos) << there << "\n" << text;
  for (const char* same : {"max_steps", "weight_decay", "output_dir", "group", "honest"})
    EXPECT_EQ(text.find(same), std::string::npos) << same << "\n" << text;
}

TEST(Runs, SortsByAColumnOrASetting) {
  const auto order = [](std::vector<std::string> words) {
    words.insert(words.begin(), "runs");
    std::vector<std::string> names;
    const Json result = run_json(words, trainings());
    for (const Json& row : result["runs"]) names.push_back(row["folder"]);
    return names;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(order({"second", "first"}), (Names{"second", "first"}));
  EXPECT_EQ(order({"second", "first", "--sort", "learning_rate"}), (Names{"first", "second"}));
  EXPECT_EQ(order({"first", "second", "--sort", "learning_rate", "--reverse"}),
            (Names{"second", "first"}));
  Names by_loss = order({"first", "second", "--sort", "loss"});
  Names reversed = order({"first", "second", "--sort", "loss", "--reverse"});
  std::ranges::reverse(reversed);
  EXPECT_EQ(by_loss, reversed);
  // A leading minus reverses the order.
  for (const std::vector<std::string>& falling :
       {std::vector<std::string>{"--sort", "-learning_rate"}, {"--sort=-learning_rate"}}) {
    std::vector<std::string> words = {"first", "second"};
    words.insert(words.end(), falling.begin(), falling.end());
    EXPECT_EQ(order(words), (Names{"second", "first"}));
    words.emplace_back("--reverse");
    EXPECT_EQ(order(words), (Names{"first", "second"}));
  }
  const Ending refused = run_hone({"runs", "first", "--sort", "learning_rat"}, trainings());
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.messages.find("; did you mean 'learning_rate'?"), std::string::npos)
      << refused.messages;
  EXPECT_EQ(refused.messages.find("weight_decay"), std::string::npos)
      << "lists names that are not near: " << refused.messages;
}

TEST(Runs, OfOtherTextsAreNotRankedTogether) {
  const Json result = run_json(
      {"runs", "third", "first", "second", "--sort", "accuracy", "--reverse"}, trainings());
  ASSERT_EQ(result["groups"].size(), 2u);
  EXPECT_EQ(result["groups"][0]["data"], "synth:lookup?n=300&test=60");
  EXPECT_EQ(result["groups"][1]["split"], "validation");
  EXPECT_EQ(result["runs"][0]["group"], 1);
  EXPECT_EQ(result["runs"][0]["folder"], "third");
  EXPECT_EQ(result["runs"][1]["group"], 2);
  EXPECT_EQ(result["runs"][2]["group"], 2);
  const std::string text = run_well({"runs", "first", "second", "third"}, trainings()).output;
  for (const char* there : {"Group", "cannot be ranked across groups",
                            "group 1 is validation of "
                            "reviews.csv, n = 4",
                            "group 2 is test of synth:lookup?n=300&test=60"})
    EXPECT_NE(text.find(there), std::string::npos) << there << "\n" << text;
}

TEST(Runs, OfJobsWithoutMetricsHaveNoGroup) {
  const TemporaryFolder folder;
  fs::create_directory(folder.path() / "exported");
  folder.file("exported/results.json", R"({"schema_version": 1, "command": "export"})");
  const std::vector<std::string> words = {"runs", folder.path() / "exported", "first", "second"};
  const std::string text = run_well(words, trainings()).output;
  for (const char* absent : {"unknown", "Group", "across groups"})
    EXPECT_EQ(text.find(absent), std::string::npos) << absent << "\n" << text;
  EXPECT_EQ(run_json(words, trainings())["groups"][0]["split"], "validation");
}

TEST(Runs, OfTheSameTextsAreRankedTogetherWhateverTheyWereCalled) {
  const TemporaryFolder folder;
  fs::copy(workshop() / "reviews.csv", folder.path() / "reviews.csv");
  std::vector<std::string> lines = split(read_file(folder.path() / "reviews.csv"), '\n');
  std::reverse(lines.begin() + 1, lines.end() - 1);
  folder.file("reversed.csv", fmt::format("{}", fmt::join(lines, "\n")));
  const auto evaluate = [&](const char* data, const char* name, std::vector<std::string> flags) {
    std::vector<std::string> words = {"eval",   workshop() / "model", "--data", data, "-o", name,
                                      "--split"};
    words.insert(words.end(), flags.begin(), flags.end());
    run_well(words, folder.path());
  };
  evaluate("reviews.csv", "all", {"all"});
  evaluate("reversed.csv", "reversed", {"all"});
  evaluate("reviews.csv", "some", {"all", "--max_eval_samples", "10", "--seed", "1"});
  evaluate("reviews.csv", "others", {"all", "--max_eval_samples", "10", "--seed", "2"});
  const std::vector<std::string> words = {"runs", "all", "reversed", "some", "others"};
  const Json result = run_json(words, folder.path());
  std::vector<int> groups;
  for (const Json& row : result["runs"]) groups.push_back(row["group"]);
  EXPECT_EQ(groups, (std::vector<int>{1, 1, 2, 3}));
  EXPECT_NE(result["runs"][0]["data_hash"], result["runs"][1]["data_hash"]);
  const std::string text = run_well(words, folder.path()).output;
  for (const char* there : {"group 1 is all of reviews.csv, n = 40, most frequent class 50.0%; ",
                            "group 2 is all of reviews.csv, n = 10, most frequent class 60.0%; ",
                            "group 3 is all of reviews.csv, n = 10, most frequent class 60.0% "
                            "(other examples than group "
                            "2)."})
    EXPECT_NE(text.find(there), std::string::npos) << there << "\n" << text;
  // The table does not repeat the properties of groups in every row.
  for (const char* header : {"  n  ", "Majority"})
    EXPECT_EQ(text.find(header), std::string::npos) << text;
}

TEST(Runs, OfUnlikeCommandsShowSettingsOnlyWhenAsked) {
  const TemporaryFolder folder;
  run_well({"eval", workshop() / "model", "--data", workshop() / "reviews.csv", "--batch_size", "4",
            "-o", "measured"},
           folder.path());
  const fs::path measured = folder.path() / "measured";
  const std::string text = run_well({"runs", "first", measured}, trainings()).output;
  EXPECT_NE(text.find("Command"), std::string::npos) << text;
  for (const char* setting : {"per_device_eval_batch_size", "max_seq_length", "validation_split"})
    EXPECT_EQ(text.find(setting), std::string::npos) << setting << "\n" << text;
  const std::string asked =
      run_well({"runs", "first", measured, "--columns", "folder,per_device_eval_batch_size"},
               trainings())
          .output;
  EXPECT_NE(asked.find("per_device_eval_batch_size"), std::string::npos) << asked;
}

TEST(Runs, ShowsTheColumnsThatAreAskedFor) {
  const std::string text =
      run_well({"runs", "fir*", "--columns", "max_steps, seed,loss"}, trainings()).output;
  const std::vector<std::string> lines = split(text, '\n');
  EXPECT_EQ(lines[0], "1 run");
  EXPECT_NE(text.find("\nmax_steps  Seed    Loss"), std::string::npos) << text;
  EXPECT_EQ(text.find("Accuracy"), std::string::npos) << text;
}

TEST(Runs, OfSeedsSayWhatTheirIntervalIsOfBesideAllElse) {
  const TemporaryFolder folder;
  std::string rows = "text,label\n";
  for (int i = 0; i < 40; ++i)
    for (int copy = 0; copy < 2; ++copy)
      rows += fmt::format("film {}, {}\n", i, i % 2 == 0 ? "bad" : "good");
  folder.file("twice.csv", rows);
  run_well(
      {"train", "tiny", "--data", "twice.csv", "--seeds", "5", "--max_steps", "1", "-o", "seeds"},
      folder.path());
  // After so few steps all seeds may have equal metrics, which gives no interval.
  const fs::path file = folder.path() / "seeds/results.json";
  Json result = read_json(file);
  result["metric_spread"]["validation"]["mean_interval"] = {0.4, 0.6};
  write_file(file, to_document(result));
  const Json row = run_json({"runs", "seeds"}, folder.path())["runs"][0];
  EXPECT_EQ(row["metric_values"].size(), 5u);
  EXPECT_EQ(row["cautions"], Json({"effective n = 4", "interval: other seeds, the same texts"}));
}

TEST(Runs, AreNotWaitedFor) {
  const TemporaryFolder folder;
  fs::create_directory(folder.path() / "run");
  ASSERT_EQ(::mkfifo((folder.path() / "run/results.json").c_str(), 0600), 0);
  const Ending ending = run_hone({"runs", "run"}, folder.path());
  EXPECT_EQ(ending.code, 1);
  EXPECT_NE(ending.messages.find("run/results.json: expected a file, found a pipe"),
            std::string::npos)
      << ending.messages;
}

TEST(Runs, SkipsWhatIsNoneAndSaysSo) {
  const TemporaryFolder folder;
  fs::create_directories(folder.path() / "holiday");
  fs::create_directories(folder.path() / "foreign");
  fs::create_directories(folder.path() / "broken");
  folder.file("holiday/photo.jpg", "");
  folder.file("foreign/results.json", R"({"accuracy": "good", "runs": 3, "models": {"a": []}})");
  folder.file("broken/results.json", "{\"eval_accuracy\": ");
  folder.file("notes.txt", "");
  const Ending ending = run_well(
      {"runs", trainings() / "first", "holiday", "foreign", "broken", "notes.txt", "--json"},
      folder.path());
  const Json result = json_lines(ending.output).at(0);
  EXPECT_EQ(result["runs"].size(), 1u);
  ASSERT_EQ(result["skipped"].size(), 4u);
  EXPECT_NE(ending.messages.find("warning: skipped holiday: not an output folder"),
            std::string::npos)
      << ending.messages;
  EXPECT_NE(ending.messages.find("warning: skipped broken: "), std::string::npos)
      << ending.messages;
  EXPECT_NE(ending.messages.find("malformed JSON"), std::string::npos) << ending.messages;
  EXPECT_NE(ending.messages.find("warning: skipped notes.txt: not a folder"), std::string::npos)
      << ending.messages;
  const Ending none = run_hone({"runs", "holiday"}, folder.path());
  EXPECT_EQ(none.code, 1);
  EXPECT_NE(none.messages.find("there is no output folder among them"), std::string::npos);
  const Ending missing = run_hone({"runs", "nowhere-*"}, folder.path());
  EXPECT_EQ(missing.code, 1);
  EXPECT_NE(missing.messages.find("nowhere-*: no such folder"), std::string::npos)
      << missing.messages;
}

TEST(Runs, AreDrawnOverEachOtherOnOnePage) {
  const TemporaryFolder out;
  const fs::path page = out.path() / "page.html";
  leave_interrupted(trainings() / "third", out.path() / "interrupted.partial");
  run_well({"runs", "first", "second", out.path() / "interrupted.partial", "--html", page},
           trainings());
  fs::remove_all(out.path() / "interrupted.partial");
  const std::string text = read_file(page);
  for (const char* there : {"<svg", "Trainings on reviews.csv", "first", "second",
                            "interrupted.<wbr>partial", "cannot be ranked"})
    EXPECT_NE(text.find(there), std::string::npos) << there;
  EXPECT_EQ(entries(out.path()), std::vector<std::string>{"page.html"});
  const Ending again = run_hone({"runs", "first", "--html", page}, trainings());
  EXPECT_EQ(again.code, 1);
  EXPECT_NE(again.messages.find("exists already; give another name or --overwrite"),
            std::string::npos)
      << again.messages;
  EXPECT_EQ(read_file(page), text);
  run_well({"runs", "first", "--html", page, "--overwrite"}, trainings());
  EXPECT_NE(read_file(page), text);
  run_well({"runs", "first", "second", "--html", out.path() / "folder"}, trainings());
  EXPECT_EQ(entries(out.path() / "folder"),
            (std::vector<std::string>{"record.json", "report.html", "runs.csv", "runs.gp",
                                      "runs.png", "runs.svg", "runs.tsv"}));
}

TEST(Runs, AreDrawnApartWhereTheyWereValidatedOnOtherExamples) {
  const TemporaryFolder out;
  run_well({"runs", "first", "second", "third", "--html", out.path() / "folder"}, trainings());
  const std::vector<std::string> files = entries(out.path() / "folder");
  for (const char* file : {"runs-1.svg", "runs-2.svg"})
    EXPECT_TRUE(std::ranges::find(files, file) != files.end()) << file;
  // Each point has the epoch of its own run.
  for (const char* file : {"runs-1.tsv", "runs-2.tsv"}) {
    const std::vector<std::string> lines = split(read_file(out.path() / "folder" / file), '\n');
    int points = 0;
    for (const std::string& line : lines) {
      const std::vector<std::string> cells = split(line, '\t');
      if (line.starts_with('#') || cells.size() < 8) continue;
      EXPECT_EQ(cells[2], cells[6]) << line;
      ++points;
    }
    EXPECT_GT(points, 0) << file;
  }
}

TEST(Runs, FindsFoldersInAFolder) {
  EXPECT_EQ(run_json({"runs", "."}, trainings())["runs"].size(), 3u);
}

TEST(Runs, AreOnesOwnAndTakenOnce) {
  const TemporaryFolder folder;
  fs::copy(trainings() / "first", folder.path() / "z-first", fs::copy_options::recursive);
  fs::create_directory_symlink("z-first", folder.path() / "a-link");
  fs::create_directories(folder.path() / "new.partial");  // not a folder of hone
  folder.file("new.partial/chapter.txt", "");
  const Json result = run_json({"runs", "."}, folder.path());
  ASSERT_EQ(result["runs"].size(), 1u) << result["runs"];
  EXPECT_EQ(fs::path(result["runs"][0]["folder"].get<std::string>()).filename(), "z-first");
  ASSERT_EQ(result["skipped"].size(), 1u) << result["skipped"];
  EXPECT_EQ(result["skipped"][0]["reason"], "the same folder as ./z-first");
  const Json both = run_json({"runs", "z-first", "a-link", "new.partial"}, folder.path());
  EXPECT_EQ(both["runs"].size(), 1u);
  EXPECT_EQ(both["skipped"].size(), 2u);
}

}  // namespace
}  // namespace hone::testing
