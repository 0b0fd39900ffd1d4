#include <gtest/gtest.h>

#include <algorithm>

#include "hone/base/process.h"
#include "hone/base/text.h"
#include "tests/cli/run_hone.h"
#include "tests/support/expect.h"

namespace hone::testing {
namespace {

std::string script_for(const std::string& shell) {
  return run_well({"completion", shell}, fs::temp_directory_path()).output;
}

/// Runs bash with hone's completion script, in a folder with files of several kinds.
class BashCompletion : public ::testing::Test {
 protected:
  BashCompletion() {
    folder_.file("completion.bash", script_for("bash"));
    folder_.file("a file.csv", "");
    folder_.file("recipe.toml", "");
    fs::create_directory(folder_.path() / "my-model");
  }
  /// Returns the sorted completions that bash offers for the last word of a command line.
  std::vector<std::string> offers(const std::vector<std::string>& words) const {
    const std::string script =
        "source ./completion.bash\nCOMP_WORDS=(\"$@\") COMP_CWORD=$(($# - 1))\n"
        "$(complete -p hone | sed 's/.*-F \\([^ ]*\\).*/\\1/')\nprintf '%s\\n' "
        "\"${COMPREPLY[@]}\"\n";
    std::vector<std::string> command = {"bash", "--norc", "-c", script, "bash"};
    command.insert(command.end(), words.begin(), words.end());
    std::vector<std::string> found =
        split(trim(run_program(command, folder_.path(), "bash")), '\n');
    std::ranges::sort(found);
    return found;
  }
  using Words = std::vector<std::string>;
  TemporaryFolder folder_;
};

TEST_F(BashCompletion, KnowsCommands) {
  EXPECT_EQ(offers({"hone", "qu"}), Words{"quantize"});
  const Words all = offers({"hone", ""});
  for (const char* command : {"train", "doctor", "completion", "--help"})
    EXPECT_TRUE(std::ranges::count(all, command)) << command;
}

TEST_F(BashCompletion, KnowsTheFlagsOfACommand) {
  EXPECT_EQ(offers({"hone", "train", "--learn"}), Words{"--learning_rate"});
  EXPECT_EQ(offers({"hone", "train", "tiny", "--learning-r"}), Words{"--learning_rate"});
  EXPECT_EQ(offers({"hone", "predict", "--learn"}), Words{});
}

TEST_F(BashCompletion, KnowsSubcommands) {
  EXPECT_EQ(offers({"hone", "bench", "line"}), Words{"linear"});
  EXPECT_EQ(offers({"hone", "lora", ""}), Words{"merge"});
  EXPECT_EQ(offers({"hone", "lora", "merge", "--adap"}), Words{"--adapter"});
  EXPECT_EQ(offers({"hone", "bench", "linear", "--spars"}), Words{"--sparsity"});
  EXPECT_EQ(offers({"hone", "bench", "tiny", "--spars"}), Words{});
  EXPECT_EQ(offers({"hone", "bench", "linear", "--batch"}), Words{});
  EXPECT_EQ(offers({"hone", "bench", "linear", "--block", "4"}), Words{"4x1"});
}

TEST_F(BashCompletion, KnowsValues) {
  EXPECT_EQ(offers({"hone", "eval", "my-model", "--split", ""}),
            (Words{"all", "test", "train", "validation"}));
  EXPECT_EQ(offers({"hone", "eval", "my-model", "--split", "=", "v"}), Words{"validation"});
  EXPECT_EQ(offers({"hone", "quantize", "my-model", "--weight-format", "mxi"}),
            (Words{"mxint", "mxint_hardware"}));
  EXPECT_EQ(offers({"hone", "predict", "my-model", "--truncation", "h"}),
            (Words{"head", "head_tail"}));
  EXPECT_EQ(offers({"hone", "completion", "z"}), Words{"zsh"});
  EXPECT_EQ(offers({"hone", "train", "tiny", "--lr", ""}), Words{});
}

// Within quotes, because shells require them for parentheses.
TEST_F(BashCompletion, KnowsTheParametersOfFormats) {
  const auto of_format = [&](const std::string& word) {
    return offers({"hone", "quantize", "my-model", "--format", word});
  };
  EXPECT_EQ(of_format("'int(bits=4,gr"), (Words{"int(bits=4,group=", "int(bits=4,group=0"}));
  EXPECT_EQ(of_format("'int(bits=4,per=r"), (Words{"int(bits=4,per=row)", "int(bits=4,per=row,"}));
  EXPECT_EQ(of_format("\"int(bits=4,per="),
            (Words{"int(bits=4,per=auto", "int(bits=4,per=row", "int(bits=4,per=tensor",
                   "int(bits=4,per=token"}));
  EXPECT_EQ(of_format("'int(bits=1"),
            (Words{"int(bits=10", "int(bits=11", "int(bits=12", "int(bits=13", "int(bits=14",
                   "int(bits=15", "int(bits=16"}));
  EXPECT_TRUE(std::ranges::count(of_format("'mxint("), "mxint(block="));
  EXPECT_EQ(of_format("'int(no"), Words{});
  EXPECT_EQ(of_format("'mxi"), (Words{"mxint", "mxint_hardware"}));
}

TEST_F(BashCompletion, OffersAParameterOnce) {
  const Words rest = offers({"hone", "quantize", "my-model", "--format", "'int(bits=4,"});
  EXPECT_TRUE(std::ranges::count(rest, "int(bits=4,per=row"));
  EXPECT_TRUE(std::ranges::none_of(
      rest, [](const std::string& word) { return word.starts_with("int(bits=4,bits="); }));
}

TEST_F(BashCompletion, KnowsListsOfFormats) {
  const auto of_list = [&](const std::string& word) {
    return offers({"hone", "allocate", "my-model", "--formats", word});
  };
  EXPECT_EQ(of_list("mxi"), (Words{"mxint", "mxint_hardware"}));
  EXPECT_EQ(of_list("bf16,no"), Words{"bf16,none"});
  EXPECT_EQ(of_list("'int(bits=4,per=row),tern"), Words{"int(bits=4,per=row),ternary"});
  EXPECT_EQ(of_list("'int(bits=4),int(bits=4,gr"),
            (Words{"int(bits=4),int(bits=4,group=", "int(bits=4),int(bits=4,group=0"}));
  EXPECT_EQ(offers({"hone", "compare-formats", "my-model", "--candidate", "ternary/no"}),
            Words{"ternary/none"});
}

TEST_F(BashCompletion, OffersNoneWhereItStandsForFp32) {
  EXPECT_EQ(offers({"hone", "quantize", "my-model", "--input_format", "no"}), Words{"none"});
  EXPECT_EQ(offers({"hone", "quantize", "my-model", "--native", "no"}), Words{});
}

TEST_F(BashCompletion, OffersMetricsForGates) {
  EXPECT_EQ(offers({"hone", "compare", "my-model", "my-model", "--gate", "'f1_ma"}),
            Words{"f1_macro>=-"});
  for (const std::string& gate : offers({"hone", "compare", "my-model", "my-model", "--gate", ""}))
    EXPECT_TRUE(gate.ends_with(">=-") && !gate.starts_with("loss")) << gate;
}

// Returns the sorted choices in a message "expected a, b or c, got".
std::vector<std::string> accepted_in(const std::string& messages) {
  const std::size_t at = messages.find(": expected "), end = messages.find(", got");
  if (at == std::string::npos || end == std::string::npos) return {};
  const std::size_t begin = at + 11;
  std::string words = messages.substr(begin, end - begin);
  if (const std::size_t last = words.rfind(" or "); last != std::string::npos)
    words.replace(last, 4, ", ");
  std::vector<std::string> accepted;
  for (const std::string& word : split(words, ',')) accepted.emplace_back(trim(word));
  std::ranges::sort(accepted);
  return accepted;
}

TEST_F(BashCompletion, OffersTheChoicesThatAreAccepted) {
  // These options also accept other values: formats with parameters, lists, names from plugins, N:M.
  const std::vector<std::string> open = {
      "--format",        "--qat",           "--native",    "--input_format",
      "--weight_format", "--bias_format",   "--candidate", "--output_format",
      "--skip_pass",     "--class_weights", "--optuna",    "--metric_for_best_model",
      "--structure",     "--fields",        "--encoding",  "--label_map"};
  std::vector<std::string> command;
  int count = 0;
  for (const std::string& line : split(script_for("bash"), '\n')) {
    if (line.starts_with("    '") && line.ends_with("')"))
      command = split(line.substr(5, line.size() - 7), ' ');
    const std::size_t offer = line.find(") _hone_offer '");
    if (!line.starts_with("        -") || offer == std::string::npos || !line.ends_with("' ;;"))
      continue;
    const std::vector<std::string> flags = split(line.substr(8, offer - 8), '|');
    const std::string flag(trim(flags.back()));
    if (std::ranges::find(open, trim(flags.front())) != open.end()) continue;
    std::vector<std::string> words = split(line.substr(offer + 15, line.size() - offer - 19), ' ');
    std::ranges::sort(words);
    std::vector<std::string> arguments = command;
    arguments.push_back(flag + "=no_such_word");
    const Ending wrong = run_hone(arguments, folder_.path());
    EXPECT_EQ(accepted_in(wrong.messages), words)
        << fmt::format("{} {}", fmt::join(command, " "), flag) << wrong.messages;
    ++count;
  }
  EXPECT_GT(count, 60);
}

TEST_F(BashCompletion, OffersAllMethodsOfPruning) {
  EXPECT_EQ(offers({"hone", "prune", "my-model", "--method", ""}),
            (Words{"first_order", "l1", "l2", "movement", "random", "sparsegpt", "wanda"}));
  EXPECT_EQ(offers({"hone", "search", "my-model", "--optuna", "opt"}).empty(), false);
}

TEST_F(BashCompletion, KnowsFilesAndFolders) {
  EXPECT_EQ(offers({"hone", "quantize", "m"}), Words{"my-model"});
  EXPECT_EQ(offers({"hone", "quantize", "my-model", "--recipe", "r"}), Words{"recipe.toml"});
  EXPECT_EQ(offers({"hone", "train", "tiny", "--data", "a"}), Words{"a file.csv"});
  EXPECT_EQ(offers({"hone", "train", "tiny", "-o", "r"}), Words{}) << "only folders";
}

// bash treats the colon as a separate word.
TEST_F(BashCompletion, KnowsBuiltInData) {
  EXPECT_EQ(offers({"hone", "train", "tiny", "--data", "synth:ne"}), Words{"synth:negation"});
  EXPECT_EQ(offers({"hone", "train", "tiny", "--data", "synth", ":", "ne"}), Words{"negation"});
  EXPECT_TRUE(
      std::ranges::count(offers({"hone", "train", "tiny", "--data", "synth", ":"}), "tail"));
}

// Checks the syntax of the script in each shell that is installed.
TEST(Completion, OfOtherShellsParses) {
  const TemporaryFolder folder;
  for (const std::string shell : {"bash", "zsh", "fish"}) {
    folder.file("script", script_for(shell));
    try {
      run_program({shell, "-c", "true"}, folder.path(), shell);
    } catch (const UserError&) {
      continue;
    }
    EXPECT_EQ(run_program({shell, "-n", "script"}, folder.path(), shell), "") << shell;
  }
}

TEST(Completion, OfOtherShellsHasEveryFlagOfTheHelp) {
  const std::string zsh = script_for("zsh"), fish = script_for("fish");
  EXPECT_TRUE(zsh.starts_with("#compdef hone\n"));
  for (const char* flag : {"learning_rate", "output_dir", "early_stopping_patience"}) {
    EXPECT_NE(zsh.find(fmt::format("'*--{}[", flag)), std::string::npos) << flag;
    EXPECT_NE(fish.find(fmt::format(" -l {} ", flag)), std::string::npos) << flag;
  }
}

TEST(Completion, OfAnUnknownShellNamesTheNearest) {
  const Ending ending = run_hone({"completion", "fihs"}, fs::temp_directory_path());
  EXPECT_EQ(ending.code, 2);
  EXPECT_EQ(ending.messages,
            "error: hone completion: SHELL: expected bash, zsh or fish, got 'fihs'; did you mean "
            "'fish'? See `hone completion --help`\n");
}

}  // namespace
}  // namespace hone::testing
