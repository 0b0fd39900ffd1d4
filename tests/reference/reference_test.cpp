#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>

#include <map>
#include <optional>
#include <set>

#include "hone/base/folder_record.h"
#include "hone/base/hash.h"
#include "hone/base/text.h"
#include "hone/kernels/target.h"
#include "hone/search/storage/storage.h"
#include "hone/tensor/bitmaps.h"
#include "tests/cli/run_hone.h"
#include "tests/reference/runs.h"
#include "tests/support/test_data.h"

// Compares the results of program runs with recorded ones, bit for bit: tensors, predictions, trials and metrics, but
// no times and no texts.
namespace hone::testing {
namespace {

using Words = std::vector<std::string>;
/// Values by a description, such as "tensors of out".
using Results = std::map<std::string, std::string>;

/// Environment variable: if it is set, results are recorded instead of compared.
constexpr const char* kRecordVariable = "HONE_RECORD_RUNS";

/// Names the CPUs that compute the same bits as this one.
std::string machine() {
  const std::string target = kernels::vector_target();
  return target.starts_with("AVX2") || target.starts_with("AVX3") ? "AVX2 or AVX-512" : target;
}

/// Each line has a machine, the name of a run, a description and a value.
fs::path record_file() { return test_data() / "reference/runs.tsv"; }

std::vector<Words> record_lines() {
  std::vector<Words> lines;
  if (!fs::exists(record_file())) return lines;
  for (const std::string& line : split(read_file(record_file()), '\n'))
    if (!line.empty()) lines.push_back(split(line, '\t'));
  return lines;
}

/// Returns nothing if no run is recorded for this machine.
std::optional<Results> recorded(const std::string& run) {
  std::optional<Results> results;
  for (const Words& line : record_lines()) {
    if (line.at(0) != machine()) continue;
    if (!results) results.emplace();
    if (line.at(1) == run) results->emplace(line.at(2), line.at(3));
  }
  return results;
}

/// Replaces the record of the run on this machine.
void record(const std::string& run, const Results& results) {
  std::set<std::string> lines;
  for (const Words& line : record_lines())
    if (line.at(0) != machine() || line.at(1) != run)
      lines.insert(fmt::format("{}\n", fmt::join(line, "\t")));
  for (const auto& [what, value] : results)
    lines.insert(fmt::format("{}\t{}\t{}\t{}\n", machine(), run, what, value));
  write_file(record_file(), fmt::format("{}", fmt::join(lines, "")));
}

const std::map<std::string, std::string> kAbbreviations = {
    {"$DATA", "--data reviews"},
    {"$STEPS", "--max_steps 12 --batch_size 8 --lr 1e-3"},
    {"$CALIBRATION", "--calibration_batches 4"}};

Words words_of(std::string line, int threads) {
  for (const auto& [name, options] : kAbbreviations)
    if (const std::size_t at = line.find(name); at != std::string::npos)
      line.replace(at, name.size(), options);
  Words words = shell_words(line);
  words.emplace_back("--quiet");
  if (words[0] != "convert") words.insert(words.end(), {"--threads", std::to_string(threads)});
  return words;
}

/// The inputs of all runs, and `model`.
const fs::path& inputs() {
  static const TemporaryFolder folder;
  if (fs::exists(folder.path() / "model")) return folder.path();
  write_inputs(folder.path());
  run_well(words_of(kBaseModel, /*threads=*/2), folder.path());
  return folder.path();
}

/// Ignores names of files, the order of tensors, metadata, and the hashes of training examples.
std::string fingerprint_of_tensors(const fs::path& model) {
  std::set<std::string> tensors;
  for (const std::string& name : entries(model)) {
    if (!name.ends_with(".safetensors") || name == "trained_on.safetensors") continue;
    Safetensors file = read_safetensors(model / name);
    restore_bitmaps(file);
    for (const auto& [tensor_name, tensor] : file.tensors) {
      const Tensor whole = tensor.contiguous_copy();
      tensors.insert(fmt::format(
          "{} {} {} {}", tensor_name, info(whole.dtype()).name, to_string(whole.sizes()),
          fingerprint(std::span(whole.device_pointer(), whole.size_bytes()))));
    }
  }
  EXPECT_FALSE(tensors.empty()) << model;
  return fingerprint(fmt::format("{}", fmt::join(tensors, "\n")));
}

/// Appends all numbers and texts in a value, without their keys.
void append_numbers(const Json& value, std::string& text) {
  if (value.is_structured()) {
    for (const Json& part : value) append_numbers(part, text);
  } else {
    text += to_line(value) + " ";
  }
}

std::string fingerprint_of_predictions(const fs::path& folder, const ReferenceRun& run,
                                       const std::string& model, int threads) {
  Words words = words_of("predict", threads);
  const bool adapter = fs::exists(folder / model / "adapter_config.json"),
             embeds = fs::exists(folder / model / "modules.json");
  words.insert(words.end(), {adapter ? "model" : model, "--data", run.data, "--json", "--fields",
                             embeds ? "embedding" : "logits"});
  if (adapter) words.insert(words.end(), {"--adapter", model});
  if (embeds) words.emplace_back("--embed");
  std::string numbers;
  for (const Json& line : json_lines(run_well(words, folder).output)) {
    for (const auto& [key, value] : line.items())
      if (value.is_array()) append_numbers(value, numbers);
    numbers += "\n";
  }
  EXPECT_FALSE(numbers.empty()) << model;
  return fingerprint(numbers);
}

/// Appends the values at a place: `a.b`, or `a[].b` for `b` of each element of the list `a`.
void append_values(const Json& json, std::string_view place, std::string& text) {
  const std::size_t end = place.find('.');
  std::string_view key = place.substr(0, end);
  const std::string_view rest = end == std::string_view::npos ? "" : place.substr(end + 1);
  const bool list = key.ends_with("[]");
  if (list) key.remove_suffix(2);
  if (!json.contains(key)) return;
  const Json& value = json[std::string(key)];
  for (const Json& part : list ? value : Json::array({value}))
    rest.empty() ? append_numbers(part, text) : append_values(part, rest, text);
}

std::string values_at(const Json& json, const std::string& name) {
  std::string text;
  append_values(json, value_place(name), text);
  EXPECT_NE(text, "") << name << ": nothing is at " << value_place(name)
                      << ", see kPlaces in runs.cpp";
  return text.size() <= 200 ? std::string(trim(text)) : fingerprint(text);
}

/// Adds the finished trials of all studies.
void add_trials(const fs::path& file, Results& results) {
  const auto storage = open_storage(file.string(), /*must_exist=*/true);
  for (const Study& study : storage->studies()) {
    std::vector<std::shared_ptr<const Trial>> trials;
    storage->read_trials(study.id, trials);
    int number = 0;
    for (const auto& trial : trials) {
      if (trial->state != TrialState::complete && trial->state != TrialState::pruned) continue;
      std::string text = fmt::format("{}:", fmt::join(trial->values, " "));
      for (const TrialParameter& parameter : trial->parameters)
        text += fmt::format(" {}", parameter.value);
      for (const auto& [step, value] : trial->reports) text += fmt::format(" {}={}", step, value);
      results[fmt::format("trial {:02} of {}", number++, study.name)] = text;
    }
  }
}

Results results_of(const fs::path& folder, const ReferenceRun& run, const std::string& printed,
                   int threads) {
  Results results;
  for (const std::string& model : run.models) {
    results["tensors of " + model] = fingerprint_of_tensors(folder / model);
    if (fs::exists(folder / model / "graph.hone"))
      results["graph of " + model] = fingerprint(read_file(folder / model / "graph.hone"));
    results["predictions of " + model] = fingerprint_of_predictions(folder, run, model, threads);
  }
  if (!run.values.empty()) {
    const Json json = parse_json(printed, "output of " + run.name);
    for (const std::string& name : run.values) results[name] = values_at(json, name);
  }
  if (!run.study.empty()) add_trials(folder / run.study, results);
  return results;
}

bool is_time_to_kill(const fs::path& folder, const ReferenceRun& run) {
  const fs::path path = folder / run.killed_at;
  if (!fs::exists(path)) return false;
  if (run.killed_at_trials == 0) return true;
  try {
    Results trials;
    add_trials(path, trials);
    return trials.size() >= run.killed_at_trials;
  } catch (const UserError&) {
    return false;  // the program is creating it
  }
}

/// Runs the commands in a new folder. Returns nothing if the last one ended before it could be killed.
std::optional<Results> compute(const ReferenceRun& run, int threads, bool kill) {
  const TemporaryFolder folder;
  fs::copy(inputs(), folder.path(), fs::copy_options::recursive);
  // Otherwise results of another run would come from the store.
  ::setenv("XDG_CACHE_HOME", (folder.path() / "cache").c_str(), /*overwrite=*/1);
  Ending ending;
  const std::vector<std::string> lines = split(run.commands, '\n');
  for (const std::string& line : lines) {
    if (line.empty()) continue;
    Words words = words_of(line, threads);
    if (&line == &lines.back()) {
      words.emplace_back("--json");
      if (kill) {
        const Ending killed = run_hone_until(words, folder.path(), SIGKILL,
                                             [&] { return is_time_to_kill(folder.path(), run); });
        if (killed.code == 0) return std::nullopt;
        EXPECT_EQ(killed.code, 128 + SIGKILL) << killed.messages;
        words.emplace_back("--resume");
      }
    }
    ending = run_well(words, folder.path());
  }
  for (const std::string& name : entries(folder.path()))
    if (read_record(folder.path() / name)) expect_all_recorded(folder.path() / name);
  return results_of(folder.path(), run, ending.output, threads);
}

void expect_same(const Results& results, const Results& expected, const std::string& of) {
  std::map<std::string, std::pair<std::string, std::string>> all;
  for (const auto& [what, value] : results) all[what].first = value;
  for (const auto& [what, value] : expected) all[what].second = value;
  for (const auto& [what, values] : all)
    EXPECT_EQ(values.first, values.second) << what << " differs from " << of;
}

/// Sorts the trials by their values: one that was killed runs again, perhaps after others.
Results with_sorted_trials(Results results) {
  std::multiset<std::string> trials;
  const auto is_trial = [](const auto& result) { return result.first.starts_with("trial "); };
  for (const auto& result : results)
    if (is_trial(result)) trials.insert(result.second);
  for (auto& result : results)
    if (is_trial(result)) result.second = trials.extract(trials.begin()).value();
  return results;
}

class ReferenceRuns : public ::testing::TestWithParam<ReferenceRun> {};
class KilledRuns : public ::testing::TestWithParam<ReferenceRun> {};

TEST_P(ReferenceRuns, GiveTheRecordedBits) {
  const ReferenceRun& run = GetParam();
  if (run.commands.find("compiled") != std::string::npos && !generates_code())
    GTEST_SKIP() << "no code is generated on this machine";
  const Results results = compute(run, /*threads=*/2, /*kill=*/false).value();
  const bool records = ::getenv(kRecordVariable) != nullptr;
  const std::optional<Results> expected = recorded(run.name);
  if (!records && expected) {
    expect_same(results, *expected, "the record");
    return;
  }
  expect_same(results, compute(run, /*threads=*/1, /*kill=*/false).value(), "that of one thread");
  if (!records)
    GTEST_SKIP() << "no results are recorded for " << machine()
                 << ": compared two threads with one only";
  if (!HasFailure()) record(run.name, results);
}

TEST_P(KilledRuns, GiveTheRecordedBits) {
  const ReferenceRun& run = GetParam();
  const std::optional<Results> results = compute(run, /*threads=*/2, /*kill=*/true);
  if (!results) GTEST_SKIP() << "it ended before it could be killed";
  const std::optional<Results> expected = recorded(run.name);
  const Results whole = expected ? *expected : compute(run, 2, false).value();
  expect_same(with_sorted_trials(*results), with_sorted_trials(whole),
              expected ? "the record" : "that of a run that was not killed");
}

std::string name_of(const ::testing::TestParamInfo<ReferenceRun>& info) { return info.param.name; }

std::vector<ReferenceRun> runs_to_kill() {
  std::vector<ReferenceRun> runs = reference_runs();
  std::erase_if(runs, [](const ReferenceRun& run) { return run.killed_at.empty(); });
  return runs;
}

INSTANTIATE_TEST_SUITE_P(Long, ReferenceRuns, ::testing::ValuesIn(reference_runs()), name_of);
INSTANTIATE_TEST_SUITE_P(Long, KilledRuns, ::testing::ValuesIn(runs_to_kill()), name_of);

TEST(Record, NamesRunsThatExist) {
  std::set<std::string> names;
  for (const ReferenceRun& run : reference_runs()) names.insert(run.name);
  for (const Words& line : record_lines()) EXPECT_TRUE(names.contains(line.at(1))) << line.at(1);
}

}  // namespace
}  // namespace hone::testing
