#include <gtest/gtest.h>

#include "hone/base/file.h"
#include "hone/data/data_set.h"
#include "tests/support/expect.h"
#include "tests/support/test_data.h"

// Folders written by datasets.save_to_disk (tools/golden/arrow.py).
namespace hone {
namespace {

const fs::path kSaved = test_data() / "data" / "golden" / "arrow";

ThreadPool& threads() {
  static ThreadPool pool(2);
  return pool;
}

TEST(SavedDataset, IsReadWithItsShardsAndClassNames) {
  const DataSet data = load_data_set({.source = (kSaved / "saved").string()}, threads());
  ASSERT_EQ(data.train.size(), 6u);
  EXPECT_EQ(data.label_names, (std::vector<std::string>{"ham", "spam"}));
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(data.train[i].text, fmt::format("text {}", i));
    EXPECT_EQ(data.train[i].label, static_cast<std::int32_t>(i % 2));
  }
  const DataSet tags =
      load_data_set({.source = (kSaved / "saved").string(), .label_column = "tags"}, threads());
  EXPECT_EQ(tags.task, Task::multi_label);
  EXPECT_EQ(tags.label_names, (std::vector<std::string>{"a", "b"}));
}

TEST(SavedDataset, TakesClassNamesFromTheDescriptionBesideIt) {
  const TemporaryFolder folder;
  std::string bytes = read_file(kSaved / "saved" / "data-00000-of-00002.arrow");
  bytes.replace(bytes.find("huggingface"), 11, "other stuff");
  folder.file("data.arrow", bytes);
  const DataOptions options{.source = (folder.path() / "data.arrow").string()};
  EXPECT_EQ(load_data_set(options, threads()).label_names, (std::vector<std::string>{"0", "1"}));
  folder.file("dataset_info.json", read_file(kSaved / "saved" / "dataset_info.json"));
  EXPECT_EQ(load_data_set(options, threads()).label_names,
            (std::vector<std::string>{"ham", "spam"}));
}

TEST(SavedDataset, HasTheSplitsOfItsDescription) {
  const std::string source = (kSaved / "saved_splits").string();
  const DataSet data = load_data_set({.source = source}, threads());
  EXPECT_EQ(data.train.size(), 4u);
  EXPECT_EQ(data.validation.size(), 2u);
  EXPECT_EQ(data.validation[0].text, "text 4");
  EXPECT_EQ(load_data_set({.source = source, .split = "validation_mismatched"}, threads())
                .validation.size(),
            3u);
  EXPECT_EQ(load_data_set({.source = source, .split = "extra"}, threads()).test.size(), 1u);
}

TEST(SavedDataset, RefusesDescriptionsThatAreDamaged) {
  const auto expect_refusal = [](std::string_view fragment, const std::string& state) {
    const TemporaryFolder folder;
    folder.file("state.json", state);
    expect_user_error(fragment,
                      [&] { load_data_set({.source = folder.path().string()}, threads()); });
  };
  expect_refusal("state.json: expected a JSON object", "[1");
  expect_refusal("expected a list '_data_files'", "{}");
  expect_refusal("expected the name of a file", R"({"_data_files": [{"filename": "../x.arrow"}]})");
  expect_refusal("flatten_indices",
                 R"({"_data_files": [{"filename": "a"}], "_indices_data_files": [{}]})");
}

}  // namespace
}  // namespace hone
