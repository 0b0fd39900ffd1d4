#include <gtest/gtest.h>

#include "hone/tensor/safetensors.h"
#include "tests/cli/run_hone.h"
#include "tests/support/expect.h"

// Tests that models record their training data, and that results say which texts are new to them.
namespace hone::testing {
namespace {

using Words = std::vector<std::string>;

std::string review(int i) {
  return fmt::format("\"review {} is {}\",{}\n", i, i % 2 ? "fine" : "dull",
                     i % 2 ? "good" : "bad");
}

std::string reviews(int from, int to) {
  std::string text = "text,label\n";
  for (int i = from; i < to; ++i) text += review(i);
  return text;
}

bool says(const Ending& ending, const std::string& text) {
  return ending.messages.find(text) != std::string::npos;
}

// Makes reviews.csv, and a model trained on nine tenths of it.
class TrainedModel : public ::testing::Test {
 protected:
  TrainedModel() {
    folder_.file("reviews.csv", reviews(0, 200));
    train("model");
  }
  Ending train(const std::string& out, const Words& more = {}) const {
    Words words = {"train", "tiny", "--data", "reviews.csv", "--max_steps", "2", "-o", out};
    words.insert(words.end(), more.begin(), more.end());
    return run_well(words, path());
  }
  Json eval(const Words& more) const {
    Words words = {"eval", "model", "--data"};
    words.insert(words.end(), more.begin(), more.end());
    return run_json(words, path());
  }
  Ending eval_messages(const Words& more) const {
    Words words = {"eval", "model", "--data"};
    words.insert(words.end(), more.begin(), more.end());
    return run_well(words, path());
  }
  const fs::path& path() const { return folder_.path(); }

  TemporaryFolder folder_;
};

TEST_F(TrainedModel, IsMeasuredOnWhatTrainingSetAside) {
  const Json trained = read_json(path() / "model/results.json")["validation"];
  for (const Words& more : {Words{}, Words{"--seed", "7"}, Words{"--validation_split", "0.4"}}) {
    Words words = {"reviews.csv"};
    words.insert(words.end(), more.begin(), more.end());
    const Json result = eval(words);
    EXPECT_EQ(result["split"], "validation");
    EXPECT_EQ(result["n"], 20);
    EXPECT_EQ(result["trained_on_rows"], 0);
    EXPECT_EQ(result["chosen_on_rows"], 20);
    for (const char* key : {"eval_loss", "eval_accuracy", "eval_samples"})
      EXPECT_EQ(result[key], trained[key]) << key;
  }
  const Ending ending = eval_messages({"reviews.csv"});
  EXPECT_TRUE(
      says(ending,
           "note: measured on validation, n = 20: the 20 of 200 examples that training set aside"))
      << ending.messages;
}

TEST_F(TrainedModel, KnowsItsTextsInAnotherOrderAndAmongNewOnes) {
  std::string reversed = "text,label\n";
  for (int i = 200; i-- > 0;) reversed += review(i);
  folder_.file("reversed.csv", reversed);
  const Json backwards = eval({"reversed.csv"}), forwards = eval({"reviews.csv"});
  EXPECT_EQ(backwards["eval_confusion"], forwards["eval_confusion"]);
  // The sum of twenty losses of about one in another order.
  EXPECT_NEAR(backwards["eval_loss"], forwards["eval_loss"], 20 * 0x1p-52);
  folder_.file("grown.csv", reviews(0, 260));
  const Json grown = eval({"grown.csv"});
  EXPECT_EQ(grown["split"], "validation");
  EXPECT_EQ(grown["n"], 80);
  EXPECT_EQ(grown["trained_on_rows"], 0);
  EXPECT_EQ(grown["chosen_on_rows"], 20);
}

TEST_F(TrainedModel, SaysHowMuchOfItsTrainingTextsItIsMeasuredOn) {
  const Json train = eval({"reviews.csv", "--split", "train"});
  EXPECT_EQ(train["split"], "train");
  EXPECT_EQ(train["n"], 180);
  EXPECT_EQ(train["trained_on_rows"], 180);
  EXPECT_TRUE(says(eval_messages({"reviews.csv", "--split", "train"}),
                   "warning: train: the model was trained on all 180 examples"));
  const Json all = eval({"reviews.csv", "--split", "all"});
  EXPECT_EQ(all["n"], 200);
  EXPECT_EQ(all["trained_on_rows"], 180);
}

// The caution appears wherever the metrics do, also for gates.
TEST_F(TrainedModel, SaysItBesideEveryFigure) {
  const std::string said = eval_messages({"reviews.csv", "--split", "train"}).output;
  EXPECT_NE(said.find("train, n = 180, all of them trained on"), std::string::npos) << said;
  const Json all = eval({"reviews.csv", "--split", "all"});
  EXPECT_EQ(all["cautions"], Json({"180 of them trained on", "20 of them used for choices"}));
  EXPECT_EQ(eval({"reviews.csv"})["cautions"], Json({"all of them used for choices"}));

  const Ending gate = run_well({"compare", "model", "model", "--data", "reviews.csv", "--split",
                                "train", "--max_drop", "50", "-o", "gate"},
                               path());
  EXPECT_NE(gate.output.find("Train, n = 180, all of them trained on: accuracy changed by"),
            std::string::npos)
      << gate.output;
  EXPECT_NE(
      read_page(path() / "gate/report.html")
          .find("drop by up to 50 points) on train, n = 180, all of them trained on: passed."),
      std::string::npos);

  run_well({"eval", "model", "--data", "reviews.csv", "-o", "honest"}, path());
  const std::string runs = run_well({"runs", "gate", "honest"}, path()).output;
  EXPECT_NE(runs.find("Caution"), std::string::npos) << runs;
  EXPECT_NE(runs.find("all of them trained on"), std::string::npos) << runs;
}

// Three copies of each text are no more evidence than one.
TEST_F(TrainedModel, IsNoSurerByTextsThatRepeat) {
  std::string rows = reviews(200, 230);
  folder_.file("once.csv", rows);
  const std::string lines = rows.substr(rows.find('\n') + 1);
  folder_.file("thrice.csv", rows + lines + lines);
  const Json once = eval({"once.csv", "--split", "all"}),
             thrice = eval({"thrice.csv", "--split", "all"});
  EXPECT_EQ(thrice["n"], 90);
  EXPECT_EQ(thrice["effective_n"], 30);
  EXPECT_EQ(thrice["repeated_rows"], 60);
  EXPECT_EQ(thrice["eval_accuracy"], once["eval_accuracy"]);
  for (int end = 0; end < 2; ++end)
    EXPECT_NEAR(thrice["eval_accuracy_interval"][end].get<double>(),
                once["eval_accuracy_interval"][end].get<double>(), 1e-14);
  EXPECT_TRUE(says(eval_messages({"thrice.csv", "--split", "all"}),
                   "warning: all: 60 of 90 rows repeat an earlier one; intervals and "
                   "verdicts use an effective sample size of 30: "));
}

TEST_F(TrainedModel, SaysHowManyTextsOfOtherDataItWasTrainedOn) {
  folder_.file("other.csv", reviews(190, 500));
  const Json other = eval({"other.csv"});
  EXPECT_EQ(other["split"], "all");
  EXPECT_EQ(other["n"], 310);
  const int trained = other["trained_on_rows"], chosen = other["chosen_on_rows"];
  EXPECT_GT(trained, 0);
  EXPECT_EQ(trained + chosen, 10);
  EXPECT_TRUE(
      says(eval_messages({"other.csv"}),
           fmt::format("warning: all: the model was trained on {} of 310 examples", trained)));
}

TEST_F(TrainedModel, PassesItsMemoryOn) {
  const Words data = {"--data", "reviews.csv"};
  const Json quantized = run_json({"quantize", "model", "--format", "int(bits=8)", data[0], data[1],
                                   "--seed", "7", "-o", "quantized"},
                                  path());
  EXPECT_EQ(quantized["split"], "validation");
  EXPECT_EQ(quantized["n"], 20);
  EXPECT_EQ(quantized["trained_on_rows"], 0);
  EXPECT_EQ(quantized["calibration_examples"], 180);
  const Json trained = run_json({"quantize", "model", "--format", "int(bits=8)", "--qat",
                                 "--max_steps", "1", data[0], data[1], "-o", "trained"},
                                path());
  EXPECT_EQ(trained["n"], 20);
  for (const char* model : {"quantized", "trained"}) {
    const Json again = run_json({"eval", model, data[0], data[1]}, path());
    EXPECT_EQ(again["split"], "validation") << model;
    EXPECT_EQ(again["n"], 20) << model;
    EXPECT_EQ(again["trained_on_rows"], 0) << model;
    EXPECT_EQ(again["calibrated_on_rows"], 0) << model;
    EXPECT_EQ(again["eval_loss"],
              (model == std::string("quantized") ? quantized : trained)["after"]["eval_loss"]);
  }
  const Json compared = run_json({"compare", "model", "quantized", data[0], data[1]}, path());
  EXPECT_EQ(compared["split"], "validation");
  EXPECT_EQ(compared["n"], 20);
  const Json more = run_json(
      {"train", "model", data[0], data[1], "--seed", "9", "--max_steps", "1", "-o", "further"},
      path());
  EXPECT_EQ(more["train_samples"], 180);
  EXPECT_EQ(more["validation"]["trained_on_rows"], 0);
}

TEST_F(TrainedModel, CarriesItsMemoryInCheckpointsAndThroughConvert) {
  train("saving", {"--save_steps", "1"});
  const std::string record = read_file(path() / "model/trained_on.safetensors");
  EXPECT_EQ(read_file(path() / "saving/trained_on.safetensors"), record);
  bool found = false;
  for (const std::string& name : entries(path() / "saving")) {
    if (!name.starts_with("checkpoint-")) continue;
    found = true;
    EXPECT_EQ(read_file(path() / "saving" / name / "trained_on.safetensors"), record) << name;
  }
  EXPECT_TRUE(found);
  run_well({"convert", "model", "-o", "converted"}, path());
  EXPECT_EQ(read_file(path() / "converted/trained_on.safetensors"), record);
}

TEST_F(TrainedModel, MayForget) {
  train("forgetful", {"--no_row_hashes"});
  EXPECT_FALSE(fs::exists(path() / "forgetful/trained_on.safetensors"));
  const Json result = run_json({"eval", "forgetful", "--data", "reviews.csv"}, path());
  EXPECT_EQ(result["split"], "all");
  EXPECT_EQ(result["n"], 200);
  for (const char* key : {"trained_on_rows", "chosen_on_rows"})
    EXPECT_TRUE(result[key].is_null()) << key;
  const Ending ending = run_well({"eval", "forgetful", "--data", "reviews.csv"}, path());
  EXPECT_TRUE(says(ending,
                   "note: there is no record of the training data of forgetful, which may include "
                   "these examples"))
      << ending.messages;
  run_well({"quantize", "model", "--format", "int(bits=8)", "--data", "reviews.csv",
            "--no_row_hashes", "-o", "quantized"},
           path());
  EXPECT_FALSE(fs::exists(path() / "quantized/trained_on.safetensors"));
}

// Two columns could be the text, so reading the file requires a choice.
TEST_F(TrainedModel, RemembersItsColumns) {
  std::string rows = "title,body,grade\n";
  for (int i = 0; i < 200; ++i) rows += fmt::format("t{},{}", i, review(i));
  folder_.file("mail.csv", rows);
  const Words data = {"--data", "mail.csv", "--max_steps", "1"};
  const auto with = [&](Words words, const Words& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  const std::string note =
      "note: the text is column 'body', the label 'grade', as when the model "
      "was trained";
  for (const Words& kept : {Words{}, Words{"--no_row_hashes"}}) {
    run_well(with(with({"train", "tiny", "-o", "mail", "--text_column", "body", "--label_column",
                        "grade", "--overwrite"},
                       data),
                  kept),
             path());
    EXPECT_TRUE(says(run_well({"eval", "mail", "--data", "mail.csv"}, path()), note));
    EXPECT_TRUE(
        says(run_well({"eval", "mail", "--data", "mail.csv", "--split", "all"}, path()), note));
  }
  EXPECT_TRUE(says(run_well(with({"train", "mail", "-o", "more"}, data), path()), note));
  run_well({"quantize", "more", "--format", "int(bits=8)", "--data", "mail.csv", "-o", "q"},
           path());
  const Json row = json_lines(
      run_well({"predict", "q", "--data", "mail.csv", "--split", "all", "--json"}, path())
          .output)[0];
  EXPECT_EQ(row["text"], "review 0 is dull");
  EXPECT_EQ(row["gold"], "bad");
  run_well({"tokenize", "q", "--data", "mail.csv"}, path());
  const Json title =
      run_json({"eval", "q", "--data", "mail.csv", "--text_column", "title"}, path());
  EXPECT_EQ(title["trained_on_rows"], Json()) << "the record began without rows";
  EXPECT_EQ(title["n"], 200);
}

TEST_F(TrainedModel, NamesTheRowsThatStandInTwoParts) {
  fs::create_directory(path() / "parts");
  folder_.file("parts/train.csv", reviews(0, 100));
  folder_.file("parts/test.csv", reviews(98, 150));
  const Words words = {"train", "tiny", "--data", "parts", "--max_steps", "1", "-o", "of_parts"};
  EXPECT_TRUE(
      says(run_well(words, path()),
           "warning: 2 of 52 test examples are also in the training split, so the metrics are too "
           "optimistic: parts/test.csv: line 2 is parts/train.csv: line 100; and 1 more"));
  const Json of_parts = read_json(path() / "of_parts/results.json");
  for (const Json& part : of_parts["data"]["splits"]) {
    if (part["split"] != "test") continue;
    EXPECT_EQ(part["duplicates"]["parts/test.csv: line 3"], "parts/train.csv: line 101");
  }
}

TEST_F(TrainedModel, TellsOfPredictionsWhichDataTheyAreOf) {
  const auto row = [&](const Words& more) {
    Words words = {"predict", "model", "--json"};
    words.insert(words.end(), more.begin(), more.end());
    return json_lines(run_well(words, path()).output)[0];
  };
  const Json whole = row({"--data", "reviews.csv"}),
             part = row({"--data", "reviews.csv", "--split", "validation"}), one = row({"a text"});
  EXPECT_EQ(whole["data"], Json({{"source", "reviews.csv"}}));
  EXPECT_EQ(whole["split"], "all");
  EXPECT_EQ(part["split"], "validation");
  EXPECT_TRUE(one["data"].is_null() && one["split"].is_null());
}

// --quiet omits notes, so the results themselves carry the caution.
TEST_F(TrainedModel, OfWhichNothingIsKnownSaysSoBesideItsFigures) {
  fs::remove(path() / "model/trained_on.safetensors");
  const Json unknown = eval({"reviews.csv"});
  EXPECT_EQ(unknown["cautions"], Json({"may be trained on"}));
  const Ending ending = eval_messages({"reviews.csv", "--quiet"});
  EXPECT_NE(ending.output.find("all, n = 200, may be trained on"), std::string::npos)
      << ending.output;
  run_well({"quantize", "model", "--format", "int(bits=8)", "--data", "reviews.csv", "-o", "q"},
           path());
  EXPECT_EQ(read_json(path() / "q/results.json")["cautions"], Json({"may be trained on"}));
  EXPECT_NE(read_file(path() / "q/README.md").find("may be trained on"), std::string::npos);
  // A caution about both splits of a training is printed once, with the first metric.
  fs::create_directory(path() / "parts");
  folder_.file("parts/train.csv", reviews(0, 100));
  folder_.file("parts/test.csv", reviews(140, 200));
  const Ending further = run_well(
      {"train", "model", "--data", "parts", "--max_steps", "1", "--quiet", "-o", "further"},
      path());
  EXPECT_NE(further.output.find("Both splits: may be trained on."), std::string::npos)
      << further.output;
  EXPECT_EQ(further.output.rfind(", may be trained on"), further.output.find(", may be trained on"))
      << further.output;
}

TEST_F(TrainedModel, IsNamedWhereOneOfTwoHasNoRecord) {
  run_well({"convert", "model", "-o", "other"}, path());
  fs::remove(path() / "other/trained_on.safetensors");
  const Ending ending = run_well({"compare", "model", "other", "--data", "reviews.csv"}, path());
  EXPECT_TRUE(says(ending, "note: there is no record of the training data of other"))
      << ending.messages;
  EXPECT_FALSE(says(ending, "model: there is no record")) << ending.messages;
  EXPECT_FALSE(says(ending, "model or other")) << ending.messages;
}

// Weights without a classifier get a random one, which the saved model contains.
TEST_F(TrainedModel, WithoutAHeadIsRememberedAsUntrained) {
  Safetensors weights = read_safetensors(path() / "model/model.safetensors");
  std::erase_if(weights.tensors,
                [](const auto& tensor) { return tensor.first.starts_with("classifier."); });
  fs::remove(path() / "model/trained_on.safetensors");
  write_safetensors(path() / "model/model.safetensors", weights.tensors, {{"format", "pt"}});
  const std::string warning = "q is not trained: its head is random";
  for (const Words& more : {Words{}, Words{"--no_row_hashes", "--overwrite"}}) {
    Words words = {"quantize", "model",       "--format", "int(bits=8)",
                   "--data",   "reviews.csv", "-o",       "q"};
    words.insert(words.end(), more.begin(), more.end());
    run_well(words, path());
    EXPECT_NE(read_file(path() / "q/README.md").find("untrained head"), std::string::npos);
    const Words measure = {"eval", "q", "--data", "reviews.csv"};
    EXPECT_EQ(run_json(measure, path())["cautions"], Json({"untrained head"}));
    const Ending ending = run_well(measure, path());
    EXPECT_TRUE(says(ending, warning)) << ending.messages;
    EXPECT_NE(ending.output.find("n = 200, untrained head"), std::string::npos) << ending.output;
    EXPECT_TRUE(says(run_well({"predict", "q", "some text"}, path()), warning));
  }
  run_well({"train", "model", "--data", "reviews.csv", "--max_steps", "1", "-o", "trained"},
           path());
  EXPECT_FALSE(says(run_well({"eval", "trained", "--data", "reviews.csv"}, path()), "not trained"));
}

// A damaged record cannot prove what the model was trained on.
TEST_F(TrainedModel, InAFolderWithADamagedRecordIsOneOfWhichNothingIsKnown) {
  const std::string whole = read_file(path() / "model/record.json");
  folder_.file("model/record.json", whole.substr(0, whole.size() / 2));
  const std::string warning = "the training data of the model in model counts as unknown";
  const Json result = eval({"reviews.csv"});
  EXPECT_EQ(result["n"], 200);
  EXPECT_EQ(result["cautions"], Json({"may be trained on"}));
  const Ending ending = eval_messages({"reviews.csv", "--quiet"});
  EXPECT_TRUE(says(ending, "warning: model/record.json")) << ending.messages;
  EXPECT_TRUE(says(ending, warning)) << ending.messages;
  EXPECT_TRUE(says(run_well({"convert", "model", "-o", "copy"}, path()), warning));
  EXPECT_FALSE(fs::exists(path() / "copy/trained_on.safetensors"));
  const Words again = {"train", "model", "--data", "reviews.csv", "--max_steps", "1", "-o", "more"};
  EXPECT_TRUE(says(run_well(again, path()), warning));
  EXPECT_EQ(run_json({"eval", "more", "--data", "reviews.csv"}, path())["cautions"],
            Json({"may be trained on", "all of them used for choices"}));
}

TEST_F(TrainedModel, WithADamagedMemoryIsRefused) {
  folder_.file("model/trained_on.safetensors", "no");
  const Ending ending = run_hone({"eval", "model", "--data", "reviews.csv"}, path());
  EXPECT_EQ(ending.code, 1);
  EXPECT_TRUE(says(ending, "model/trained_on.safetensors")) << ending.messages;
}

TEST_F(TrainedModel, LearnedFromASampleIsMeasuredOnTheRest) {
  const Json few = json_lines(train("few", {"--max_train_samples", "50", "--json"}).output).at(0);
  EXPECT_EQ(few["train_samples"], 50);
  EXPECT_EQ(few["validation"]["n"], 20);
  const Json result = run_json({"eval", "few", "--data", "reviews.csv"}, path());
  EXPECT_EQ(result["n"], 150);
  EXPECT_EQ(result["trained_on_rows"], 0);
  const Json sample =
      run_json({"eval", "few", "--data", "reviews.csv", "--max_eval_samples", "30"}, path());
  EXPECT_EQ(sample["n"], 30);
  EXPECT_EQ(sample["trained_on_rows"], 0);
}

TEST_F(TrainedModel, GivesTheIdentityOfTheData) {
  fs::copy_file(path() / "reviews.csv", path() / "copy.csv");
  const Json data = eval({"reviews.csv"})["data"], copy = eval({"copy.csv"})["data"];
  EXPECT_EQ(data["source"], "reviews.csv");
  EXPECT_EQ(data["rows"], 200);
  EXPECT_EQ(data["hash"], copy["hash"]);
  EXPECT_EQ(data["hash"], read_json(path() / "model/results.json")["data"]["hash"]);
  EXPECT_EQ(data["splits"], copy["splits"]);
  EXPECT_EQ(data["splits"][0]["split"], "train");
  EXPECT_EQ(data["splits"][0]["rows"], 180);
  folder_.file("other.csv", reviews(0, 199));
  EXPECT_NE(eval({"other.csv"})["data"]["hash"], data["hash"]);
}

// A model with a lower-case vocabulary sees the same texts.
TEST_F(TrainedModel, KnowsItsTextsInCapitals) {
  std::string capitals = reviews(0, 200);
  for (std::size_t at = capitals.find("review "); at != std::string::npos;
       at = capitals.find("review ", at))
    capitals.replace(at, 6, "REVIEW");
  folder_.file("capitals.csv", capitals);
  const Json result = eval({"capitals.csv"});
  EXPECT_EQ(result["split"], "validation");
  EXPECT_EQ(result["n"], 20);
  EXPECT_EQ(result["eval_accuracy"], eval({"reviews.csv"})["eval_accuracy"]);
}

TEST_F(TrainedModel, SaysWhatWasChosenOnAPartOfTheDataItself) {
  fs::create_directory(path() / "parts");
  folder_.file("parts/train.csv", reviews(0, 100));
  folder_.file("parts/validation.csv", reviews(100, 140));
  folder_.file("parts/test.csv", reviews(140, 200));
  run_well({"train", "tiny", "--data", "parts", "--max_steps", "2", "-o", "of_parts"}, path());
  const auto measured = [&](Words more) {
    more.insert(more.begin(), {"eval", "of_parts", "--data"});
    return std::pair(run_json(more, path()), run_well(more, path()));
  };
  for (const Words& words :
       {Words{"parts/validation.csv"}, Words{"parts", "--split", "validation"}}) {
    const auto [json, ending] = measured(words);
    EXPECT_EQ(json["n"], 40);
    EXPECT_EQ(json["cautions"], Json::array({"all of them used for choices"}));
    EXPECT_EQ(says(ending, "n = 40, all of them used for choices: "), words.size() == 1)
        << "the name of the validation split says so\n"
        << ending.messages;
  }
  EXPECT_TRUE(says(
      measured({"parts/validation.csv"}).second,
      "warning: all: 40 of 40 examples were used for choices, so the metrics are too optimistic"));
  const auto [json, ending] = measured({"parts"});
  EXPECT_EQ(json["cautions"], Json::array());
  EXPECT_FALSE(says(ending, "used for choices")) << ending.messages;
}

TEST_F(TrainedModel, PredictsWhatTrainingSetAside) {
  const auto predicted = [&](const Words& more) {
    Words words = {"predict", "model", "--json", "--fields", "id,text", "--data"};
    words.insert(words.end(), more.begin(), more.end());
    std::map<int, std::string> rows;
    for (const Json& row : json_lines(run_well(words, path()).output))
      rows[row["id"].get<int>()] = row["text"];
    return rows;
  };
  std::map<int, std::string> validation = predicted({"reviews.csv", "--split", "validation"});
  std::map<int, std::string> train = predicted({"reviews.csv", "--split", "train"});
  EXPECT_EQ(validation.size(), 20);
  EXPECT_EQ(train.size(), 180);
  EXPECT_EQ(
      validation.begin()->second.find(fmt::format("review {} is", validation.begin()->first - 2)),
      0)
      << "ids are lines of the file";
  const std::map<int, std::string> all = predicted({"reviews.csv"});
  EXPECT_EQ(predicted({"reviews.csv", "--split", "all"}), all);
  train.merge(validation);
  EXPECT_EQ(train, all);
  EXPECT_TRUE(
      says(run_well({"predict", "model", "--data", "reviews.csv", "--split", "validation"}, path()),
           "note: validation: the 20 of 200 examples that training set aside"));
  folder_.file("other.csv", reviews(300, 400));
  const Ending refused =
      run_hone({"predict", "model", "--data", "other.csv", "--split", "validation"}, path());
  EXPECT_EQ(refused.code, 1);
  EXPECT_TRUE(says(
      refused, "other.csv: there is no validation split, and the model is not known to be trained"))
      << refused.messages;
}

TEST_F(TrainedModel, WithoutARecordIsMeasuredOnAllAndSaysWhatIsUnknown) {
  fs::remove(path() / "model/trained_on.safetensors");
  const Json result = eval({"reviews.csv"});
  EXPECT_EQ(result["n"], 200);
  EXPECT_TRUE(result["trained_on_rows"].is_null());
  run_well({"quantize", "model", "--format", "int(bits=8)", "--data", "reviews.csv", "-o", "q"},
           path());
  EXPECT_TRUE(
      run_json({"eval", "q", "--data", "reviews.csv"}, path())["trained_on_rows"].is_null());
}

}  // namespace
}  // namespace hone::testing
