#include <gtest/gtest.h>

#include "hone/data/data_set.h"
#include "hone/data/row_hash.h"
#include "hone/tensor/safetensors.h"
#include "tests/support/expect.h"
#include "tests/support/test_data.h"

// Datasets of images.
namespace hone::testing {
namespace {

const fs::path kCopied = test_data() / "data" / "golden_pictures";

/// Copies of a picture under other names.
class ImageSources : public ::testing::Test {
 protected:
  void put(const std::string& name, const std::string& picture = "rgb.png") {
    fs::create_directories((path() / name).parent_path());
    fs::copy_file(kCopied / picture, path() / name);
  }
  fs::path path() const { return folder_.path(); }
  DataSet load(const fs::path& source, DataOptions options = {}) {
    options.source = source.string();
    return load_data_set(options, pool_);
  }

 private:
  TemporaryFolder folder_;
  ThreadPool pool_{2};
};

std::vector<std::string> names_in(const std::vector<Example>& examples, const fs::path& folder) {
  std::vector<std::string> names;
  for (const Example& example : examples)
    names.push_back(fs::relative(example.text, folder).string() + " " +
                    std::to_string(example.label));
  return names;
}

TEST_F(ImageSources, AreFoldersOfClassesInParts) {
  put("train/dog/b.png");
  put("train/dog/a.JPG", "tall.jpg");
  put("train/cat/c.jpeg", "grey.jpg");
  put("train/cat/.hidden.png");
  put("val/dog/d.png", "grey.png");
  put("test/cat/e.png", "bits.png");
  write_file(path() / "train/cat/notes.gif", "none");
  const DataSet data = load(path());
  using Names = std::vector<std::string>;
  EXPECT_EQ(data.label_names, (Names{"cat", "dog"}));
  EXPECT_EQ(names_in(data.train, path()),
            (Names{"train/cat/c.jpeg 0", "train/dog/a.JPG 1", "train/dog/b.png 1"}));
  EXPECT_EQ(names_in(data.validation, path()), Names{"val/dog/d.png 1"});
  EXPECT_EQ(names_in(data.test, path()), Names{"test/cat/e.png 0"});
  EXPECT_EQ(data.notes.size(), 1);
  EXPECT_NE(data.notes.front().find("1 files that are no .png, .jpg or .jpeg were left out"),
            std::string::npos);
  EXPECT_EQ(place_of(data.train[1], data.files), data.train[1].text);
}

TEST_F(ImageSources, AreFoldersOfClassesAlone) {
  put("pictures/yes/1.png");
  put("pictures/no/2.png", "grey.png");
  const DataSet data = load(path() / "pictures");
  EXPECT_EQ(data.train.size(), 2);
  EXPECT_TRUE(data.validation.empty() && data.test.empty());
}

// Otherwise duplicates of test images in the training split, and copies of a folder, would go unnoticed.
TEST_F(ImageSources, AreKnownByTheirBytesNotTheirNames) {
  put("one/yes/a.png");
  put("one/no/b.png", "grey.png");
  put("two/yes/c.png");
  put("two/no/d.png", "grey.png");
  const DataSet one = load(path() / "one"), two = load(path() / "two");
  EXPECT_EQ(row_hashes(one.train), row_hashes(two.train));
  EXPECT_EQ(one.hash, two.hash);
  EXPECT_NE(row_hash(one.train[0]), row_hash(one.train[1]));
  fs::copy_file(kCopied / "bits.png", path() / "two/no/d.png",
                fs::copy_options::overwrite_existing);
  EXPECT_NE(load(path() / "two").hash, one.hash);
}

TEST_F(ImageSources, SayWhichClassIsEmpty) {
  put("train/cat/a.png");
  fs::create_directories(path() / "train/dog");
  expect_user_error("train/dog: no PNG or JPEG in it; each folder is a class",
                    [&] { load(path()); });
  fs::remove(path() / "train/dog");
  expect_user_error("images in class folders cannot be used for regression",
                    [&] { load(path(), {.task = Task::regression}); });
}

TEST_F(ImageSources, AreTablesThatNamePictures) {
  put("pictures/a.png");
  put("pictures/b.jpg", "tall.jpg");
  write_file(path() / "table.csv", "image,label\npictures/a.png,yes\npictures/b.jpg,no\n");
  const DataSet data = load(path() / "table.csv");
  EXPECT_EQ(names_in(data.train, path()),
            (std::vector<std::string>{"pictures/a.png 1", "pictures/b.jpg 0"}));
  EXPECT_NE(data.train[0].image_hash, 0);
  write_file(path() / "table.csv", "image,label\npictures/a.png,yes\npictures/c.jpg,no\n");
  expect_user_error("pictures/c.jpg", [&] { load(path() / "table.csv"); });
  // If one file is not an image, the column holds texts.
  write_file(path() / "table.csv", "text,label\npictures/a.png,yes\na fine film,no\n");
  EXPECT_EQ(load(path() / "table.csv").train[0].image_hash, 0);
}

TEST_F(ImageSources, AreTensors) {
  const fs::path file = path() / "images.safetensors";
  const auto write = [&](const Sizes& sizes, const std::vector<std::int64_t>& labels) {
    std::vector<std::uint8_t> bytes;
    for (std::int64_t i = 0; i < sizes[0] * sizes[1] * sizes[2] * sizes[3]; ++i)
      bytes.push_back(static_cast<std::uint8_t>(i));
    write_safetensors(file, {{"images", Tensor::of(sizes, bytes)},
                             {"labels", Tensor::of({std::ssize(labels)}, labels)}});
  };
  write({3, 1, 2, 2}, {7, 4, 7});
  const DataSet data = load(file);
  EXPECT_EQ(data.train[2].text, file.string() + "#2");
  EXPECT_EQ(data.train[2].label, data.train[0].label);
  EXPECT_NE(data.train[1].label, data.train[0].label);
  EXPECT_NE(row_hash(data.train[1]), row_hash(data.train[0]));
  write({3, 1, 2, 2}, {7, 4});
  expect_user_error("expected a tensor `labels` with a whole number for each of the 3 images",
                    [&] { load(file); });
  EXPECT_EQ(load(file, {.labelled = false}).train.size(), 3);
  write_safetensors(file, {{"labels", Tensor::of({1}, std::vector<std::int64_t>{1})}});
  expect_user_error("expected a tensor `images` of (images, channels, height, width)",
                    [&] { load(file); });
}

}  // namespace
}  // namespace hone::testing
