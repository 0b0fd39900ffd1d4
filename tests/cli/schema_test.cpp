#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "hone/base/text.h"
#include "tests/cli/json_schema.h"
#include "tests/cli/run_hone.h"
#include "tests/support/expect.h"
#include "tests/support/test_data.h"

// What the program prints and writes for programs, held to what it says of it.
namespace hone::testing {
namespace {

Json schema_of(const std::string& document) {
  static std::map<std::string, Json> schemas;
  const auto [found, is_new] = schemas.try_emplace(document);
  if (is_new)
    found->second =
        parse_json(run_well({"schema", document}, fs::temp_directory_path()).output, document);
  return found->second;
}

// Of one line of JSON: the command, or else the document called so.
void expect_valid(const Json& value, const std::string& document) {
  const std::vector<std::string> problems = schema_problems(value, schema_of(document));
  EXPECT_TRUE(problems.empty()) << document << ":\n"
                                << fmt::format("{}", fmt::join(problems, "\n"));
}

// "" for a document of one form; else the title of the one that `value` has.
std::string form_of(const Json& value, const std::string& document) {
  const Json schema = schema_of(document);
  if (!schema.contains("anyOf")) return "";
  for (Json form : schema["anyOf"]) {
    form["$defs"] = schema["$defs"];
    if (schema_problems(value, form).empty()) return form["title"];
  }
  return "none";
}

/// A command line, and the folder with results.json that it leaves, if any.
struct SchemaRun {
  std::string line;
  std::string folder = {};
};

// Together they print every form of every document, and every key that is not always there.
const std::vector<SchemaRun>& runs() {
  static const std::vector<SchemaRun> all = {
      {"train tiny --data synth:lookup?n=300 --max_steps 2 --logging_steps 1 --eval_steps 1 -o "
       "trained",
       "trained"},
      {"train tiny --data reviews.csv --max_steps 1 --seeds 2 -o seeds", "seeds"},
      {"eval model --data reviews.csv -o measured", "measured"},
      {"compare model coarse --data reviews.csv --max_drop 100 -o compared", "compared"},
      {"compare seeds seeds --data reviews.csv --max_drop 100"},
      {"predict model --data reviews.csv"},
      {"predict model dull --text_pair fine"},
      {"quantize model --format integer(width=4,frac=3) --data reviews.csv --explain --max_drop "
       "100 -o coarse",
       "coarse"},
      {"quantize model --format integer(width=8,frac=4) --qat --max_steps 1 --seeds 2 --max_drop "
       "100 --data reviews.csv -o qat",
       "qat"},
      {"formats"},
      {"formats mxint(bits=8)"},
      {"formats int(bits=4,scale=learned)"},
      {"formats bf16 0.3 inf -7"},
      {"formats int(bits=4) --input model/model.safetensors --tensor *LayerNorm*"},
      {"formats --compare model --choice bf16 --choice ternary/none --data reviews.csv -o formats",
       "formats"},
      {"formats int(bits=4) --suggest model --data reviews.csv"},
      {"plan model --format integer(width=8,frac=4)"},
      {"widths model --widths 8.4 --max_steps 1 --data reviews.csv -o widths", "widths"},
      {"inspect model"},
      {"draw model -o graph.dot"},
      {"tokenize model --data reviews.csv"},
      {"bench model --batch 2 --tokens 8 --runs 1 --profile"},
      {"doctor"},
      {"convert model -o converted"},
      {"schema"},
      {"demo --max_steps 1 --qat_steps 1 --data synth:negation?n=100 --max_seq_length 16 -o demo",
       "demo"},
      {"runs trained seeds coarse widths formats demo"},
  };
  return all;
}

TEST(Schema, HoldsForWhatEveryCommandPrintsAndWrites) {
  const TemporaryFolder folder;
  fs::copy(workshop() / "model", folder.path() / "model", fs::copy_options::recursive);
  fs::copy(workshop() / "reviews.csv", folder.path());
  std::vector<SchemaRun> ordered = runs();
  // What others read comes first.
  std::ranges::stable_partition(ordered,
                                [](const SchemaRun& run) { return run.folder == "coarse"; });
  std::map<std::string, std::set<std::string>> forms;
  for (const SchemaRun& run : ordered) {
    std::vector<std::string> words = shell_words(run.line);
    words.emplace_back("--json");
    const Ending ending = run_hone(words, folder.path());
    ASSERT_TRUE(ending.code == 0 || ending.code == 3) << run.line << "\n" << ending.messages;
    const std::string& command = words[0];
    const std::vector<Json> lines = json_lines(ending.output);
    ASSERT_FALSE(lines.empty()) << run.line;
    SCOPED_TRACE(run.line);
    for (const Json& line : lines) {
      expect_valid(line, command);
      if (command != "predict") {
        EXPECT_EQ(line["command"], command);
      }
      EXPECT_EQ(line["schema_version"], 1);
      forms[command].insert(form_of(line, command));
    }
    if (run.folder.empty()) continue;
    EXPECT_EQ(read_json(folder.path() / run.folder / "results.json"), lines.front());
    for (const char* file : {"settings.json", "machine.json"})
      expect_valid(read_json(folder.path() / run.folder / file), file);
  }
  for (const Json& line : json_lines(read_file(folder.path() / "trained/training_log.jsonl"))) {
    expect_valid(line, "training_log.jsonl");
    forms["training_log.jsonl"].insert(form_of(line, "training_log.jsonl"));
  }
  for (const char* seed : {"seeds/seed-42", "qat/seed-43"})
    expect_valid(read_json(folder.path() / seed / "results.json"),
                 std::string_view(seed).starts_with("qat") ? "quantize" : "train");
  // No form without a run that prints it.
  for (const Json& row : run_json({"schema"}, folder.path())["documents"]) {
    const std::string name = row["document"];
    const Json schema = schema_of(name);
    if (!schema.contains("anyOf")) continue;
    for (const Json& form : schema["anyOf"])
      EXPECT_TRUE(forms[name].contains(form["title"])) << name << " " << form["title"];
  }
}

TEST(Schema, KnowsEveryCommandThatPrintsJson) {
  std::set<std::string> documents, tried;
  for (const Json& row : run_json({"schema"}, fs::temp_directory_path())["documents"])
    documents.insert(row["document"]);
  for (const SchemaRun& run : runs()) tried.insert(shell_words(run.line)[0]);
  for (const std::string& name : command_names()) {
    const bool prints =
        run_well({name, "--help"}, fs::temp_directory_path()).output.find("--json") !=
        std::string::npos;
    EXPECT_EQ(documents.contains(name), prints) << name;
    EXPECT_EQ(tried.contains(name), prints) << name;
  }
}

TEST(Schema, RefusesKeysItDoesNotKnowAndMissingOnes) {
  Json line = run_json({"predict", "model", "dull"}, workshop());
  expect_valid(line, "predict");
  Json more = line, less = line, other = line;
  more["surplus"] = 1;
  less.erase("logits");
  other["probabilities"] = {"0.5", 0.5};
  const auto problems = [](const Json& value) {
    return fmt::format("{}", fmt::join(schema_problems(value, schema_of("predict")), "\n"));
  };
  EXPECT_EQ(problems(more), ".surplus: no such key");
  EXPECT_EQ(problems(less), ": \"logits\" is missing");
  EXPECT_NE(problems(other).find(".probabilities[0]: \"0.5\" is no \"number\""), std::string::npos)
      << problems(other);
  // A form, an interval, a word.
  Json compared = run_json({"compare", "model", "model", "--data", "reviews.csv"}, workshop());
  compared["a"]["arithmetic"] = "fast";
  compared["b"]["eval_accuracy_interval"] = {40, 60.5};
  compared["comparison"]["mcnemar_p"] = nullptr;
  const std::vector<std::string> found = schema_problems(compared, schema_of("compare"));
  ASSERT_EQ(found.size(), 4u) << fmt::format("{}", fmt::join(found, "\n"));
  EXPECT_EQ(found[0], ".a.arithmetic: \"fast\" is none of [\"fp32\",\"simulated\"]");
  EXPECT_EQ(found[1], ".b.eval_accuracy_interval[0]: 40 lies beyond 1");
}

TEST(Schema, IsThePageInTheDocumentation) {
  EXPECT_EQ(read_file(test_data().parent_path() / "docs/output.md"),
            run_well({"schema", "--markdown"}, fs::temp_directory_path()).output)
      << "build/bin/hone schema --markdown > docs/output.md";
}

TEST(Schema, NamesTheNearestDocument) {
  const Ending ending = run_hone({"schema", "quantise"}, fs::temp_directory_path());
  EXPECT_EQ(ending.code, 1);
  EXPECT_EQ(ending.messages,
            "error: quantise: no command or file has a schema of this name; did you mean "
            "'quantize'?; `hone schema` lists them\n");
}

}  // namespace
}  // namespace hone::testing
