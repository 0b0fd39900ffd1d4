#include "hone/frontends/huggingface/torch_file.h"

#include <gtest/gtest.h>

#include "hone/base/json.h"
#include "hone/base/random.h"
#include "tests/support/expect.h"
#include "tests/support/test_data.h"

namespace hone {
namespace {

const fs::path kGoldenTorchFiles = test_data() / "frontends" / "golden";

std::vector<double> as_doubles(const Tensor& tensor) {
  const Tensor wide = tensor.cast(DType::f64).contiguous_copy();
  return {wide.values<double>().begin(), wide.values<double>().end()};
}

// As in tools/golden/checkpoints.py: element i is i.
void expect_plain_tensors(const TensorMap& tensors) {
  for (const DTypeInfo& row : kDTypes) {
    const Tensor& tensor = tensors.at(std::string(row.name));
    EXPECT_EQ(tensor.dtype(), row.dtype);
    EXPECT_EQ(tensor.sizes(), (Sizes{2, 3}));
    const auto expected = row.dtype == DType::boolean ? std::vector<double>{0, 1, 0, 1, 0, 1}
                                                      : std::vector<double>{0, 1, 2, 3, 4, 5};
    EXPECT_EQ(as_doubles(tensor), expected) << row.name;
  }
  EXPECT_EQ(tensors.at("scalar").sizes(), Sizes{});
  EXPECT_EQ(as_doubles(tensors.at("scalar")), std::vector<double>{3.5});
  EXPECT_EQ(tensors.at("empty").sizes(), (Sizes{0, 4}));
}

void expect_views(const TensorMap& tensors) {
  const auto expect = [&](const char* name, const Sizes& sizes, const std::vector<double>& values) {
    EXPECT_EQ(tensors.at(name).sizes(), sizes) << name;
    EXPECT_EQ(as_doubles(tensors.at(name)), values) << name;
    EXPECT_EQ(tensors.at(name).storage(), tensors.at("whole").storage()) << name;
  };
  expect("whole", {3, 4}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  expect("transposed", {4, 3}, {0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11});
  expect("corner", {2, 2}, {6, 7, 10, 11});
  expect("strided", {4}, {1, 4, 7, 10});
  expect("expanded", {2, 2}, {5, 5, 5, 5});
  expect("parameter", {4}, {4, 5, 6, 7});
}

class TorchFileLayout : public ::testing::TestWithParam<const char*> {};

TEST_P(TorchFileLayout, GivesEveryTensor) {
  const TensorMap tensors = read_torch_file(kGoldenTorchFiles / "tensors" / GetParam());
  EXPECT_EQ(tensors.size(), std::size(kDTypes) + 2 + 6);
  expect_plain_tensors(tensors);
  expect_views(tensors);
}

INSTANTIATE_TEST_SUITE_P(All, TorchFileLayout,
                         ::testing::Values("zip.bin", "legacy.bin", "protocol_4.bin", "nested.bin",
                                           "deflated.bin"),
                         [](const auto& info) { return fs::path(info.param).stem().string(); });

TEST(TorchFile, StoredTensorsAreViewsOfTheFile) {
  const TensorMap tensors = read_torch_file(kGoldenTorchFiles / "tensors" / "zip.bin");
  for (const auto& [name, tensor] : tensors) EXPECT_TRUE(tensor.storage()->read_only) << name;
}

TEST(TorchFile, RefusesAllHostileFiles) {
  const fs::path folder = kGoldenTorchFiles / "hostile";
  int count = 0;
  const Json expected = read_json(folder / "expected.json");
  for (const auto& [name, why] : expected.items()) {
    const fs::path path = folder / name;
    if (path.extension() != ".bin") continue;
    const std::string message = user_error_of([&] { read_torch_file(path); });
    EXPECT_TRUE(message.starts_with(path.string() + ": "))
        << name << " (" << why << "): " << message;
    ++count;
  }
  EXPECT_GT(count, 20);
}

TEST(TorchFile, NamesWhatAPickleWantsToCall) {
  const auto expect_refused = [](const char* file, std::string_view fragment) {
    expect_user_error(fragment, [&] { read_torch_file(kGoldenTorchFiles / "hostile" / file); });
  };
  expect_refused("system_zip.bin", "the pickle calls os.system: only dicts of tensors are read");
  expect_refused("system_legacy.bin", "the pickle calls os.system");
  expect_refused("system_posix.bin", "the pickle calls posix.system");
  expect_refused("system_inst.bin", "the pickle calls os.system");
  expect_refused("system_obj.bin", "the pickle calls os.system");
  expect_refused("eval_stack_global.bin", "the pickle calls builtins.eval");
  expect_refused("torch_function.bin", "the pickle calls torch.hub.load");
}

TEST(TorchFile, SaysWhereADescriptionIsWrong) {
  const auto expect_refused = [](const char* file, std::string_view fragment) {
    expect_user_error(fragment, [&] { read_torch_file(kGoldenTorchFiles / "hostile" / file); });
  };
  expect_refused("tensor_past_storage.bin",
                 "a tensor of shape [1000], strides [1], offset 0 reaches beyond its storage '0' "
                 "of 4 elements");
  expect_refused("offset_past_storage.bin", "reaches beyond its storage");
  expect_refused("offset_negative.bin", "expected no negative number, got -");
  expect_refused("shape_negative.bin", "shape of a tensor: expected no negative number");
  expect_refused("shape_overflow.bin", "reaches beyond its storage");
  expect_refused("strides_overflow.bin", "reaches beyond its storage");
  expect_refused("strides_short.bin", "has strides");
  expect_refused("storage_missing.bin", "the archive has no archive/data/");
  expect_refused("storage_short_zip.bin",
                 "storage '0': expected 4398046511104 bytes for 1099511627776 f32, the file has "
                 "16");
  expect_refused("storage_short_legacy.bin", "expected 4398046511104 bytes at byte");
  expect_refused("storage_kind.bin", "element type torch.");
  expect_refused("not_a_dictionary.bin", "expected a dict of tensors, got an integer");
  expect_refused("cycle.bin", "'self': expected a tensor, got a dict");
  expect_refused("truncated_zip.bin", "the end of the zip archive is missing");
  expect_refused("empty.bin", "expected a file by torch.save");
  expect_refused("text.bin", "expected a file by torch.save");
}

// Returns a file of the older layout with one tensor "x" of this shape and strides over a storage of 4 floats. The
// arguments replace the usual contents of such a file.
std::string legacy(std::string_view sizes_and_strides,
                   std::string_view magic = "\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19",
                   std::string_view version = "\xe9\x03", std::string_view little_endian = "\x88",
                   std::string_view count = std::string_view("\x04\0\0\0\0\0\0\0", 8)) {
  return fmt::format(
             "\x80\x02\x8a\x0a{}."
             "\x80\x02M{}."
             "\x80\x02}}U\x0dlittle_endian{}s."
             "\x80\x02}}U\x01xctorch._utils\n_rebuild_tensor_v2\n(("
             "U\x07storagectorch\nFloatStorage\nU\x01kU\x03"
             "cpuK\x04NtQM",
             magic, version, little_endian) +
         std::string(2, '\0') +
         fmt::format("{}\x89}}tRs.\x80\x02]U\x01ka.{}", sizes_and_strides, count) +
         std::string(16, '\0');
}

constexpr std::string_view kFourInARow = "K\x04\x85K\x01\x85";

TEST(TorchFile, ReadsTheOlderLayout) {
  const TemporaryFolder folder;
  const TensorMap tensors = read_torch_file(folder.file("x.bin", legacy(kFourInARow)));
  EXPECT_EQ(as_doubles(tensors.at("x")), (std::vector<double>{0, 0, 0, 0}));
}

TEST(TorchFile, RefusesOtherVersionsOfTheOlderLayout) {
  const TemporaryFolder folder;
  const auto expect_refused = [&](std::string_view fragment, const std::string& bytes) {
    expect_user_error(fragment, [&] { read_torch_file(folder.file("x.bin", bytes)); });
  };
  const std::string_view magic = "\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19";
  expect_refused("got a pickle of a large integer", legacy(kFourInARow, "0123456789"));
  expect_refused("expected version 1001 of the layout", legacy(kFourInARow, magic, "\x01\x01"));
  expect_refused("expected little_endian: True", legacy(kFourInARow, magic, "\xe9\x03", "\x89"));
  expect_refused(
      "storage 'k': expected 4 elements, the file says 84215045",
      legacy(kFourInARow, magic, "\xe9\x03", "\x88", std::string_view("\5\5\5\5\0\0\0\0", 8)));
}

// PyTorch refuses to write such a file. Each type might require a copy of the storage.
TEST(TorchFile, RefusesOneStorageAsTwoTypes) {
  std::string bytes = legacy(kFourInARow);
  const std::size_t begin = bytes.find("U\x01x");
  const std::size_t end = bytes.find("tRs.", begin) + 3;
  std::string second = bytes.substr(begin, end - begin);
  second.replace(0, 3, "U\x01y").replace(second.find("Float"), 5, "Int");
  bytes.insert(end, second);
  expect_user_error("storage 'k' is declared as both f32 and i32", [&] {
    read_torch_file(SharedBytes{bytes, nullptr});
  });
}

TEST(TorchFile, RefusesTensorsMuchLargerThanTheirFile) {
  // 2^16 times 2^16 elements that are all the same one: stride 0.
  const std::string_view expanded("J\0\0\1\0J\0\0\1\0\x86K\0K\0\x86", 16);
  const TemporaryFolder folder;
  expect_user_error(
      "with tensor 'x' of shape [65536, 65536] the tensors take more than 16 times the ",
      [&] { read_torch_file(folder.file("x.bin", legacy(expanded))); });
}

// Truncated and changed files must give tensors or a UserError.
void expect_tensors_or_user_error(const TemporaryFolder& folder, std::string_view bytes,
                                  bool* accepted) {
  const fs::path path = folder.file("x.bin", bytes);
  try {
    for (const auto& [name, tensor] : read_torch_file(path)) tensor.contiguous_copy();
    *accepted = true;
  } catch (const UserError&) {
    *accepted = false;
  }
}

TEST(TorchFile, NoTruncationIsAccepted) {
  const TemporaryFolder folder;
  for (const char* name : {"zip.bin", "legacy.bin", "protocol_4.bin"}) {
    const std::string whole = read_file(kGoldenTorchFiles / "tensors" / name);
    for (std::size_t length = 0; length < whole.size(); ++length) {
      bool accepted = false;
      expect_tensors_or_user_error(folder, std::string_view(whole).substr(0, length), &accepted);
      EXPECT_FALSE(accepted) << name << ", " << length << " bytes";
    }
  }
}

TEST(TorchFile, ChangedBytesGiveTensorsOrErrors) {
  const TemporaryFolder folder;
  RandomSequence random(1, 0);
  for (const char* name : {"zip.bin", "legacy.bin", "protocol_4.bin", "deflated.bin"}) {
    const std::string whole = read_file(kGoldenTorchFiles / "tensors" / name);
    int refused = 0;
    for (int trial = 0; trial < 1000; ++trial) {
      std::string changed = whole;
      for (int change = 0; change <= trial % 3; ++change) {
        changed[random.below(changed.size())] = static_cast<char>(random.next_word());
      }
      bool accepted = false;
      expect_tensors_or_user_error(folder, changed, &accepted);
      refused += accepted ? 0 : 1;
    }
    EXPECT_GT(refused, 50) << name;
  }
}

}  // namespace
}  // namespace hone
