#include <gtest/gtest.h>

#include <signal.h>

#include <cmath>

#include "hone/tensor/safetensors.h"
#include "tests/cli/dialogue.h"
#include "tests/cli/run_hone.h"
#include "tests/support/expect.h"

namespace hone::testing {
namespace {

TEST(Predict, ShowsWhatTheModelSawAndSaid) {
  const Json said = run_json({"predict", "model", "a fine film"}, workshop());
  EXPECT_EQ(said["command"], "predict");
  EXPECT_EQ(said["model"], "model");
  EXPECT_EQ(said["text"], "a fine film");
  const std::vector<int> ids = said["input_ids"];
  ASSERT_GE(ids.size(), 3);
  EXPECT_EQ(ids.front(), 2);  // [CLS]
  EXPECT_EQ(ids.back(), 3);   // [SEP]
  const std::vector<double> logits = said["logits"], probabilities = said["probabilities"];
  ASSERT_EQ(logits.size(), 2);
  ASSERT_EQ(probabilities.size(), 2);
  EXPECT_NEAR(probabilities[0], 1 / (1 + std::exp(logits[1] - logits[0])), 1e-15);
  EXPECT_NEAR(probabilities[0] + probabilities[1], 1, 1e-15);
  EXPECT_EQ(said["label"], logits[0] > logits[1] ? "bad" : "good");
  EXPECT_EQ(said["score"], std::max(probabilities[0], probabilities[1]));
  EXPECT_EQ(said["labels"], Json({"bad", "good"}));
  EXPECT_EQ(said["cut"], false);
  EXPECT_TRUE(said["gold"].is_null());
}

TEST(Predict, ReadsManyTextsWithoutLabels) {
  const TemporaryFolder folder;
  folder.file("texts.csv", "id,review\n1,a fine film\n2,\"dull, long\"\n3,a fine film\n");
  const Ending ending = run_well(
      {"predict", workshop() / "model", "--data", "texts.csv", "--text_column", "review", "--json"},
      folder.path());
  const std::vector<Json> said = json_lines(ending.output);
  ASSERT_EQ(said.size(), 3);
  EXPECT_EQ(said[0]["text"], "a fine film");
  EXPECT_EQ(said[1]["text"], "dull, long");
  EXPECT_EQ(said[2]["id"], 3);
  // A text predicted alone gets the same bits.
  Json alone = run_json({"predict", workshop() / "model", "a fine film"}, workshop());
  for (const int row : {0, 2}) {
    alone["id"] = row + 1;
    Json of_file = said[static_cast<std::size_t>(row)];
    EXPECT_EQ(of_file["data"], Json({{"source", "texts.csv"}}));
    EXPECT_EQ(of_file["split"], "all");
    of_file["data"] = of_file["split"] = nullptr;
    EXPECT_EQ(of_file, alone);
  }
}

TEST(Predict, TakesATextThatLooksLikeAFlagAfterTwoDashes) {
  const Json said =
      json_lines(
          run_well({"predict", "model", "--json", "--", "--not-bad at all"}, workshop()).output)
          .at(0);
  EXPECT_EQ(said["text"], "--not-bad at all");
}

TEST(Predict, NotesATextThatIsCalledLikeADataFile) {
  const auto notes = [](const std::string& text) {
    return run_well({"predict", workshop() / "model", text}, workshop()).messages.find("--data") !=
           std::string::npos;
  };
  for (const char* file : {"missing.csv", "reviews.csv", "./films.JSONL"})
    EXPECT_TRUE(notes(file)) << file;
  for (const char* text : {"and/or", "not in reviews.csv", "missing"})
    EXPECT_FALSE(notes(text)) << text;
}

TEST(Predict, GivesNoLabelToWhatIsNoNumber) {
  const TemporaryFolder folder;
  fs::copy(workshop() / "model", folder.path() / "model", fs::copy_options::recursive);
  const fs::path weights = folder.path() / "model/model.safetensors";
  TensorMap tensors;
  for (const auto& [name, tensor] : read_safetensors(weights).tensors)
    tensors.emplace(name, tensor.contiguous_copy());
  std::ranges::fill(tensors.at("bert.encoder.layer.0.attention.self.query.weight").values<float>(),
                    3e38f);
  fs::remove(weights);
  write_safetensors(weights, tensors, {{"format", "pt"}});
  const Ending json = run_well({"predict", "model", "a fine film", "--json"}, folder.path());
  const Json said = json_lines(json.output).at(0);
  EXPECT_TRUE(said["label"].is_null());
  EXPECT_TRUE(said["probabilities"][0].is_null());
  EXPECT_NE(json.messages.find("warning: 1 of 1 examples have no prediction"), std::string::npos)
      << json.messages;
  const Ending table = run_well({"predict", "model", "a fine film"}, folder.path());
  EXPECT_NE(table.output.find("none (not a number)"), std::string::npos) << table.output;
}

// PyTorch allows a dropout of 1, although only biases can be learned then.
TEST(Predict, OpensAModelWhoseDropoutIsOne) {
  const TemporaryFolder folder;
  fs::copy(workshop() / "model", folder.path() / "model", fs::copy_options::recursive);
  Json config = read_json(folder.path() / "model/config.json");
  config["hidden_dropout_prob"] = 1.0;
  folder.file("model/config.json", to_document(config));
  EXPECT_EQ(run_json({"predict", "model", "a fine film"}, folder.path()),
            run_json({"predict", "model", "a fine film"}, workshop()));
  run_well(
      {"train", "model", "--data", workshop() / "reviews.csv", "--max_steps", "1", "-o", "out"},
      folder.path());
}

// Only messages replace the names of settings by options.
TEST(Predict, ShowsTextsAsTheyWereWritten) {
  const std::string shown = run_well({"predict", "model", "its `seed` is 42"}, workshop()).output;
  EXPECT_NE(shown.find("its `seed` is 42"), std::string::npos) << shown;
}

TEST(Predict, ShowsPeopleATable) {
  const Ending ending = run_well({"predict", "model", "a fine film"}, workshop());
  EXPECT_NE(ending.output.find("Probability"), std::string::npos);
  EXPECT_NE(ending.output.find("a fine film"), std::string::npos);
  EXPECT_EQ(ending.messages, "");
}

// Returns texts of many lengths, so that batching changes their order.
std::string many_texts(int count) {
  std::string lines;
  for (int i = 0; i < count; ++i) {
    lines += fmt::format("{}", i);
    for (int k = 0; k < i * 7 % 40; ++k) lines += " film";
    lines += '\n';
  }
  return lines;
}

TEST(Predict, AnswersALineAsSoonAsItComes) {
  Dialogue hone({"predict", "model", "-", "--json", "--fields", "id,text,label"}, workshop());
  for (int i = 1; i <= 3; ++i) {
    const std::string text = fmt::format("film {}", i);
    hone.say(text + "\n");
    const Json answer = parse_json(hone.answer(), "answer");
    EXPECT_EQ(answer["id"], i);
    EXPECT_EQ(answer["text"], text);
    EXPECT_TRUE(answer["label"] == "good" || answer["label"] == "bad");
    EXPECT_EQ(answer.size(), 3);
  }
  // An incomplete line is kept until the input ends.
  hone.say("half");
  hone.say(" a line");
  hone.finish();
  EXPECT_EQ(parse_json(hone.answer(), "answer")["text"], "half a line");
  EXPECT_EQ(hone.answer(), "");
  EXPECT_EQ(hone.wait(), 0);
}

TEST(Predict, ReadsLinesInAnotherEncoding) {
  Dialogue hone({"predict", "model", "-", "--json", "--encoding", "latin-1"}, workshop());
  hone.say("caf\xe9\n");
  hone.finish();
  EXPECT_EQ(parse_json(hone.answer(), "answer")["text"], "caf\u00e9");
  EXPECT_EQ(hone.wait(), 0);
  EXPECT_EQ(run_hone({"predict", "model", "film", "--encoding", "latin-1"}, workshop()).code, 2);
  EXPECT_EQ(run_hone({"predict", "model", "-", "--encoding", "utf-16"}, workshop()).code, 2);
}

TEST(Predict, AnswersPeopleLineByLineToo) {
  Dialogue hone({"predict", "model", "-"}, workshop());
  EXPECT_NE(hone.answer().find("Probability"), std::string::npos);
  hone.say("a fine film\n");
  const std::string answer = hone.answer();
  EXPECT_NE(answer.find("a fine film"), std::string::npos) << answer;
  EXPECT_EQ(answer.find("     1  "), 0u) << answer;
  hone.finish();
  EXPECT_EQ(hone.wait(), 0);
}

TEST(Predict, KeepsTheOrderOfTenThousandTexts) {
  constexpr int kTexts = 10'000;
  const TemporaryFolder folder;
  const std::string lines = many_texts(kTexts);
  folder.file("texts.txt", lines);
  run_well({"predict", workshop() / "model", "--data", "texts.txt", "-o", "said.jsonl"},
           folder.path());
  const std::vector<Json> said = json_lines(read_file(folder.path() / "said.jsonl"));
  ASSERT_EQ(said.size(), kTexts);
  std::string again;
  for (int i = 0; i < kTexts; ++i) {
    const Json& row = said[static_cast<std::size_t>(i)];
    ASSERT_EQ(row["id"], i + 1);
    again += row["text"].get<std::string>() + '\n';
  }
  EXPECT_TRUE(again == lines);
}

// Texts that arrive slowly are batched differently from those that are available at once.
TEST(Predict, SaysTheSameBitsHoweverTheTextsCome) {
  const std::string lines = many_texts(300);
  const TemporaryFolder folder;
  folder.file("texts.txt", lines);
  const fs::path model = workshop() / "model";
  const std::string of_file =
      run_well({"predict", model, "--data", "texts.txt", "--json"}, folder.path()).output;
  EXPECT_EQ(run_well({"predict", model, "--data", "texts.txt", "--json", "--batch_size", "5",
                      "--threads", "3"},
                     folder.path())
                .output,
            of_file);
  Dialogue hone({"predict", model, "-", "--json"}, folder.path());
  std::string of_stream;
  // Sends the first thirty one by one, the others at once.
  std::size_t begin = 0;
  for (int i = 0; i < 30; ++i) {
    const std::size_t end = lines.find('\n', begin) + 1;
    hone.say(lines.substr(begin, end - begin));
    of_stream += hone.answer() + '\n';
    begin = end;
  }
  hone.say(lines.substr(begin));
  hone.finish();
  for (std::string line = hone.answer(); !line.empty(); line = hone.answer())
    of_stream += line + '\n';
  EXPECT_EQ(hone.wait(), 0);
  // Only the file name differs.
  std::string elsewhere = of_file;
  const std::string named = R"("data":{"source":"texts.txt"},"split":"all",)";
  for (std::size_t at = elsewhere.find(named); at != std::string::npos; at = elsewhere.find(named))
    elsewhere.replace(at, named.size(), R"("data":null,"split":null,)");
  EXPECT_TRUE(of_stream == elsewhere);
}

TEST(Predict, TakesEmptyLinesForTexts) {
  const TemporaryFolder folder;
  folder.file("texts.txt",
              "\xEF\xBB\xBF"
              "a film\r\n\n  \nthe end");
  const Ending ending =
      run_well({"predict", workshop() / "model", "--data", "texts.txt", "--json"}, folder.path());
  const std::vector<Json> said = json_lines(ending.output);
  ASSERT_EQ(said.size(), 4);
  EXPECT_EQ(said[0]["text"], "a film");
  EXPECT_EQ(said[1]["text"], "");
  EXPECT_EQ(said[1]["input_ids"].size(), 2);
  EXPECT_EQ(said[2]["text"], "  ");
  EXPECT_EQ(said[3]["text"], "the end");
  EXPECT_NE(ending.messages.find("warning: 2 of 4 texts are empty"), std::string::npos)
      << ending.messages;
}

TEST(Predict, TakesAnEmptyTextOfTheCommandLine) {
  const Ending ending = run_well({"predict", "model", "", "--json"}, workshop());
  EXPECT_EQ(parse_json(ending.output, "output")["text"], "");
  EXPECT_NE(ending.messages.find("empty"), std::string::npos) << ending.messages;
}

TEST(Predict, EndsQuietlyWhenNobodyReadsOn) {
  const TemporaryFolder folder;
  folder.file("texts.txt", many_texts(5000));
  Dialogue hone({"predict", workshop() / "model", "--data", "texts.txt", "--json", "--quiet"},
                folder.path());
  EXPECT_NE(hone.answer(), "");
  hone.hang_up();
  EXPECT_EQ(hone.wait(), 128 + SIGPIPE);
  EXPECT_EQ(hone.messages(), "");
}

TEST(Predict, StopsWaitingOnCtrlC) {
  Dialogue hone({"predict", "model", "-", "--json"}, workshop());
  hone.say("a film\n");
  EXPECT_NE(hone.answer(), "");
  hone.interrupt();
  EXPECT_EQ(hone.wait(), 128 + SIGINT);
}

TEST(Predict, TellsIdGoldAndWhetherTheTextWasCut) {
  const TemporaryFolder folder;
  folder.file("texts.csv", "id,text,label\na7,a fine film,good\n12," + std::string(900, '!') +
                               ", Bad\n007,dull,\n");
  const std::vector<Json> said = json_lines(
      run_well({"predict", workshop() / "model", "--data", "texts.csv", "--json"}, folder.path())
          .output);
  ASSERT_EQ(said.size(), 3);
  EXPECT_EQ(said[0]["id"], "a7");
  EXPECT_EQ(said[0]["gold"], "good");
  EXPECT_EQ(said[0]["cut"], false);
  EXPECT_EQ(said[1]["id"], 12);
  EXPECT_EQ(said[1]["gold"], "bad");  // the model's name of the class
  EXPECT_EQ(said[1]["cut"], true);
  EXPECT_EQ(said[1]["input_ids"].size(), 512);
  EXPECT_EQ(said[2]["id"], "007");
  EXPECT_EQ(said[2]["gold"], Json());
}

// A row is identified by its id, and in several files also by the file.
TEST(Predict, NumbersTheRowsOfArraysAndOfEachFile) {
  const TemporaryFolder folder;
  folder.file("a.json", R"([{"text": "one"}, {"text": "two"},
{"text": "three"}])");
  folder.file("b.csv", "text\nfour\nfive\n");
  const auto said = [&](const std::string& data) {
    std::vector<std::pair<std::string, int>> places;
    for (const Json& row : json_lines(
             run_well({"predict", workshop() / "model", "--data", data, "--split", "all", "--json"},
                      folder.path())
                 .output))
      places.emplace_back(row["file"].is_null() ? "" : row["file"], row["id"].get<int>());
    return places;
  };
  using Places = std::vector<std::pair<std::string, int>>;
  EXPECT_EQ(said("a.json"), (Places{{"", 1}, {"", 2}, {"", 3}}));
  EXPECT_EQ(said("b.csv"), (Places{{"", 2}, {"", 3}}));
  folder.file("part-2.csv", "text\nsix\n");
  fs::rename(folder.path() / "b.csv", folder.path() / "part-1.csv");
  EXPECT_EQ(said("part-*.csv"), (Places{{"part-1.csv", 2}, {"part-1.csv", 3}, {"part-2.csv", 2}}));
}

TEST(Predict, RefusesBytesOfAStreamThatAreNoTextWhereAsked) {
  Dialogue hone({"predict", "model", "-", "--strict_utf8", "--json"}, workshop());
  hone.say("fine\n");
  EXPECT_NE(hone.answer(), "");
  hone.say("bad \xff\n");
  EXPECT_EQ(hone.answer(), "");
  EXPECT_EQ(hone.wait(), 1);
  EXPECT_NE(hone.messages().find("standard input: line 2: the text is not UTF-8"),
            std::string::npos)
      << hone.messages();
}

TEST(Predict, SaysOnceThatTheModelHasFewerPositions) {
  const std::string said =
      "warning: --max_seq_length 1000: the model has 512 positions; texts are truncated to 512 "
      "tokens\n";
  const std::vector<std::vector<std::string>> runs = {
      {"predict", "model", "a film"},
      {"predict", "model", "--data", "reviews.csv", "--batch_size", "2"},
      {"tokenize", "model", "--data", "reviews.csv"}};
  for (std::vector<std::string> words : runs) {
    const std::string silent = run_well(words, workshop()).messages;
    EXPECT_EQ(silent.find("--max_seq_length"), std::string::npos) << silent;
    words.insert(words.end(), {"--max_seq_length", "1000"});
    const std::string messages = run_well(words, workshop()).messages;
    const std::size_t first = messages.find(said);
    ASSERT_NE(first, std::string::npos) << words[0] << ": " << messages;
    EXPECT_EQ(messages.find("--max_seq_length", first + said.size()), std::string::npos)
        << messages;
  }
}

TEST(Predict, ShowsLabelsInOneLineAndGivesThemWhole) {
  const TemporaryFolder folder;
  std::string data = "text,label\n";
  for (int i = 0; i < 20; ++i)
    data += fmt::format("text {},{}\n", i, i % 2 ? "\"good\nindeed\"" : "\"bad\x1b[2J\"");
  folder.file("data.csv", data);
  const Ending trained = run_well({"train", "tiny", "--data", "data.csv", "--max_steps", "1",
                                   "--validation_split", "0.4", "-o", "model"},
                                  folder.path());
  const std::string shown =
      run_well({"predict", "model", "--data", "data.csv"}, folder.path()).output;
  EXPECT_EQ(std::ranges::count(shown, '\n'), 21) << "a header and twenty rows\n" << shown;
  EXPECT_NE(shown.find("good\\nindeed"), std::string::npos) << shown;
  EXPECT_NE(shown.find("bad\\x1b[2J"), std::string::npos) << shown;
  const Json first = json_lines(
      run_well({"predict", "model", "--data", "data.csv", "--json"}, folder.path()).output)[0];
  EXPECT_EQ(first["gold"], "bad\x1b[2J");
  const Ending measured = run_well({"eval", "model", "--data", "data.csv"}, folder.path());
  for (const std::string& text :
       {trained.output, trained.messages, measured.output, measured.messages}) {
    EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
    EXPECT_EQ(text.find("good\nindeed"), std::string::npos) << text;
  }
  EXPECT_NE(read_file(folder.path() / "model/README.md").find("`bad\\x1b[2J`"), std::string::npos);
}

TEST(Predict, AnswersSeveralTextsInTheirOrder) {
  const fs::path model = workshop() / "model";
  const std::vector<Json> said = json_lines(
      run_well({"predict", model, "[a, b]", "-5 degrees", "", "--json"}, workshop()).output);
  ASSERT_EQ(said.size(), 3);
  const char* const texts[] = {"[a, b]", "-5 degrees", ""};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(said[i]["text"], texts[i]);
    EXPECT_EQ(said[i]["id"], i + 1);
  }
  const std::vector<Json> pairs = json_lines(
      run_well({"predict", model, "a", "b", "--text_pair", "c", "--text_pair", "d", "--json"},
               workshop())
          .output);
  ASSERT_EQ(pairs.size(), 2);
  EXPECT_EQ(pairs[1]["text"], "b");
  EXPECT_EQ(pairs[1]["text_pair"], "d");
  const Ending one = run_hone({"predict", model, "a", "b", "--text_pair", "c"}, workshop());
  EXPECT_EQ(one.code, 2);
  EXPECT_NE(one.messages.find("--text_pair: one second text for 2 texts"), std::string::npos)
      << one.messages;
}

TEST(Predict, WarnsOfTextsAloneWhereTheModelKnowsPairs) {
  const TemporaryFolder folder;
  std::string data = "question,answer,label\n";
  for (int i = 0; i < 20; ++i) data += fmt::format("text {},and {},{}\n", i, i, i % 2);
  folder.file("pairs.csv", data);
  run_well({"train", "tiny", "--data", "pairs.csv", "--text_column", "question",
            "--text_pair_column", "answer", "--max_steps", "1", "-o", "model"},
           folder.path());
  constexpr std::string_view kWarning = "trained on pairs of texts";
  const Ending alone = run_well({"predict", "model", "text"}, folder.path());
  EXPECT_NE(alone.messages.find(kWarning), std::string::npos) << alone.messages;
  EXPECT_NE(alone.messages.find("--text_pair"), std::string::npos) << alone.messages;
  const Ending pair = run_well({"predict", "model", "text", "--text_pair", "b"}, folder.path());
  EXPECT_EQ(pair.messages.find(kWarning), std::string::npos) << pair.messages;
  folder.file("alone.csv", "text,label\na,0\nb,1\n");
  const Ending measured = run_well({"eval", "model", "--data", "alone.csv"}, folder.path());
  EXPECT_NE(measured.messages.find(kWarning), std::string::npos) << measured.messages;
}

// Only some of several files may have labels or ids.
TEST(Predict, NeedsNoLabelsInAnyOfItsFiles) {
  const TemporaryFolder folder;
  fs::create_directory(folder.path() / "data");
  folder.file("data/train.csv", "id,text,target\n7,a fine film,good\n8,a film,bad\n");
  folder.file("data/test.csv", "text\na dull film\n");
  const auto rows_with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"predict", workshop() / "model", "--data", "data", "--json"});
    return json_lines(run_well(more, folder.path()).output);
  };
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{"--split", "all"},
        std::vector<std::string>{"--split", "all", "--label_column", "target"}}) {
    const std::vector<Json> rows = rows_with(more);
    ASSERT_EQ(rows.size(), 3);
    EXPECT_EQ(rows[0]["gold"], "good");
    EXPECT_EQ(rows[0]["id"], 7);
    EXPECT_EQ(rows[2]["gold"], Json());
  }
  EXPECT_EQ(rows_with({}).size(), 1);
}

TEST(Predict, TakesGoldLabelsTheModelDoesNotKnow) {
  const TemporaryFolder folder;
  folder.file("texts.jsonl",
              "{\"text\": \"a\", \"label\": \"spam\"}\n{\"text\": \"b\", \"label\": 0.5}\n"
              "{\"text\": \"c\", \"label\": null}\n");
  const Ending ending =
      run_well({"predict", workshop() / "model", "--data", "texts.jsonl", "--json"}, folder.path());
  const std::vector<Json> said = json_lines(ending.output);
  ASSERT_EQ(said.size(), 3);
  EXPECT_EQ(said[0]["gold"], "spam");
  EXPECT_EQ(said[1]["gold"], "0.5");
  EXPECT_EQ(said[2]["gold"], Json());
  EXPECT_NE(ending.messages.find("note: gold labels are shown as they are written: "),
            std::string::npos)
      << ending.messages;
}

TEST(Predict, WritesFilesWholeAndOverNoOther) {
  const TemporaryFolder folder;
  const fs::path model = workshop() / "model";
  folder.file("texts.txt", "a \"fine\" film\nso, so\n");
  const auto predict = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"predict", model, "--data", "texts.txt"});
    return run_hone(more, folder.path());
  };
  EXPECT_EQ(predict({"-o", "said.csv"}).output, "");
  const std::string csv = read_file(folder.path() / "said.csv");
  EXPECT_TRUE(csv.starts_with("id,text,label,score,cut\n1,\"a \"\"fine\"\" film\",")) << csv;
  EXPECT_NE(csv.find("\n2,\"so, so\","), std::string::npos) << csv;
  Ending ending = predict({"-o", "said.csv", "--fields", "id,label"});
  EXPECT_EQ(ending.code, 1);
  EXPECT_NE(ending.messages.find("said.csv: exists already; give another name or --overwrite"),
            std::string::npos)
      << ending.messages;
  EXPECT_EQ(read_file(folder.path() / "said.csv"), csv);
  EXPECT_EQ(predict({"-o", "said.csv", "--fields", "label,id", "--overwrite"}).code, 0);
  EXPECT_TRUE(read_file(folder.path() / "said.csv").starts_with("label,id\n"));
  ending = predict({"-o", "texts.txt", "--overwrite"});
  EXPECT_EQ(ending.code, 1);
  EXPECT_NE(ending.messages.find("texts.txt is the data texts.txt, which this command reads"),
            std::string::npos)
      << ending.messages;
  ending = predict({"-o", "said.csv/said.csv"});
  EXPECT_EQ(ending.code, 1);
  EXPECT_NE(ending.messages.find("said.csv/said.csv: cannot write there: said.csv is not a folder"),
            std::string::npos)
      << ending.messages;
  EXPECT_EQ(entries(folder.path()), (std::vector<std::string>{"said.csv", "texts.txt"}));
  EXPECT_EQ(predict({"-o", "new/deep/said.csv"}).code, 0);
  EXPECT_TRUE(fs::exists(folder.path() / "new/deep/said.csv"));
}

TEST(Predict, RefusesWhatItCannotTell) {
  const TemporaryFolder folder;
  folder.file("texts.csv", "text\na\n");
  const auto refuses = [&](int code, std::string_view fragment, std::vector<std::string> more) {
    more.insert(more.begin(), {"predict", workshop() / "model"});
    const Ending ending = run_hone(more, folder.path());
    EXPECT_EQ(ending.code, code) << fragment;
    EXPECT_EQ(ending.output, "") << fragment;
    EXPECT_NE(ending.messages.find(fragment), std::string::npos) << ending.messages;
  };
  refuses(2, "--fields: expected some of id, file, text, text_pair, label, ",
          {"a film", "--json", "--fields", "id,lable"});
  refuses(2, "did you mean 'label'?", {"a film", "--json", "--fields", "id,lable"});
  refuses(1, "--fields: the data has no labels (gold)",
          {"--data", "texts.csv", "--json", "--fields", "gold"});
  refuses(1, "--fields: all texts come from one file",
          {"--data", "texts.csv", "--json", "--fields", "file"});
  refuses(2, "--fields: id is listed twice", {"a film", "--json", "--fields", "id,text,id"});
  refuses(2, "--fields selects fields of --json and --output FILE; add one of them",
          {"a film", "--fields", "id"});
  refuses(2, "-o: expected a file that ends in .jsonl or .csv, got 'said.xlsx'",
          {"a film", "-o", "said.xlsx"});
  refuses(2, "--text_pair: standard input has one text on each line", {"-", "--text_pair", "b"});
  refuses(1, "texts.csv: no column 'name'",
          {"--data", "texts.csv", "--json", "--id_column", "name"});
}

}  // namespace
}  // namespace hone::testing
