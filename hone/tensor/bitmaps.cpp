#include "hone/tensor/bitmaps.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <optional>
#include <vector>

#include "hone/base/json.h"
#include "hone/base/printable.h"

namespace hone {
namespace {

constexpr const char* kMetadataKey = "bitmaps";
constexpr std::string_view kBitmap = ".bitmap", kWords = ".words";
constexpr std::size_t kWordBytes[] = {4, 2, 1};
// Smaller savings do not outweigh a metadata entry, or the loss of the tensor's memory mapping.
constexpr std::size_t kMinShare = 8, kMinBytes = 256;

using Bytes = std::span<const std::uint8_t>;

Bytes bytes_of(const Tensor& tensor) {
  return {reinterpret_cast<const std::uint8_t*>(tensor.device_pointer()), tensor.size_bytes()};
}

std::size_t bitmap_bytes(std::size_t words) { return (words + 7) / 8; }

/// Storage parameters of a tensor.
struct Words {
  std::size_t bytes = 4;   ///< size of a word
  std::uint8_t fill = 0;   ///< every byte of the omitted words
  bool halves = false;     ///< after `split_halves`
  std::size_t stored = 0;  ///< number of stored words
  std::size_t size(std::size_t count) const { return bitmap_bytes(count) + stored * bytes; }
};

// Separates every four bytes into their lower halves, then the upper ones. Four 4-bit codes in neighboring columns
// (panels in docs/reference/model-folder.md) become one two-byte word. Bytes after the last four stay. `join_halves` is
// the inverse.
std::vector<std::uint8_t> split_halves(Bytes x) {
  std::vector<std::uint8_t> y(x.begin(), x.end());
  for (std::size_t i = 0; i + 4 <= x.size(); i += 4) {
    const auto pair = [&](std::size_t at, int shift) {
      return static_cast<std::uint8_t>((x[at] >> shift & 0xf) | (x[at + 1] >> shift & 0xf) << 4);
    };
    y[i] = pair(i, 0);
    y[i + 1] = pair(i + 2, 0);
    y[i + 2] = pair(i, 4);
    y[i + 3] = pair(i + 2, 4);
  }
  return y;
}
void join_halves(std::span<std::uint8_t> y) {
  for (std::size_t i = 0; i + 4 <= y.size(); i += 4) {
    const std::uint8_t x[4] = {y[i], y[i + 1], y[i + 2], y[i + 3]};
    const auto whole = [&](std::size_t at, int shift) {
      return static_cast<std::uint8_t>((x[at] >> shift & 0xf) | (x[at + 2] >> shift & 0xf) << 4);
    };
    y[i] = whole(0, 0);
    y[i + 1] = whole(0, 4);
    y[i + 2] = whole(1, 0);
    y[i + 3] = whole(1, 4);
  }
}

// Calls body(index) for every word that differs from `fill`.
template <typename Word, typename Body>
void for_each_stored(Bytes tensor, std::uint8_t fill, Body&& body) {
  Word filled;
  std::memset(&filled, fill, sizeof filled);
  for (std::size_t i = 0; i < tensor.size() / sizeof(Word); ++i) {
    Word word;
    std::memcpy(&word, tensor.data() + i * sizeof word, sizeof word);
    if (word != filled) body(i);
  }
}
template <typename Body>
void for_each_stored(Bytes tensor, const Words& words, Body&& body) {
  if (words.bytes == 4) return for_each_stored<std::uint32_t>(tensor, words.fill, body);
  if (words.bytes == 2) return for_each_stored<std::uint16_t>(tensor, words.fill, body);
  for_each_stored<std::uint8_t>(tensor, words.fill, body);
}

// Returns the smallest representation of these bytes, or nothing if it does not save enough.
std::optional<Words> best_words(Bytes tensor, bool halves) {
  std::size_t counts[256] = {};
  for (const std::uint8_t byte : tensor) ++counts[byte];
  const auto* const most = std::ranges::max_element(counts);
  const std::size_t least = std::max(kMinBytes, tensor.size() / kMinShare);
  if (*most < least) return std::nullopt;
  std::optional<Words> best;
  for (const std::size_t bytes : kWordBytes) {
    if (tensor.size() % bytes != 0) continue;
    Words words{.bytes = bytes, .fill = static_cast<std::uint8_t>(most - counts), .halves = halves};
    for_each_stored(tensor, words, [&](std::size_t) { ++words.stored; });
    const std::size_t size = words.size(tensor.size() / bytes);
    if (size + least > tensor.size()) continue;
    if (!best || size < best->size(tensor.size() / best->bytes)) best = words;
  }
  return best;
}

void store(TensorMap& tensors, const std::string& name, Bytes tensor, const Words& words) {
  const auto empty = [&](std::string_view suffix, std::size_t bytes) {
    Tensor bytes_only = Tensor::zeros(DType::u8, {static_cast<std::int64_t>(bytes)});
    tensors.emplace(name + std::string(suffix), bytes_only);
    return bytes_only.data<std::uint8_t>();
  };
  std::uint8_t* const bitmap = empty(kBitmap, bitmap_bytes(tensor.size() / words.bytes));
  std::uint8_t* next = empty(kWords, words.stored * words.bytes);
  for_each_stored(tensor, words, [&](std::size_t i) {
    bitmap[i / 8] |= static_cast<std::uint8_t>(1 << i % 8);
    next = std::copy_n(tensor.data() + i * words.bytes, words.bytes, next);
  });
}

// Removes and returns one of the two parts of a tensor.
Tensor take_part(Safetensors& file, const std::string& name) {
  const auto found = file.tensors.find(name);
  user_check(found != file.tensors.end() && found->second.dtype() == DType::u8 &&
                 found->second.rank() == 1,
             "expected a list of bytes '{}', which its bitmap needs; the file is damaged",
             shown_name(name));
  Tensor part = std::move(found->second);
  file.tensors.erase(found);
  return part;
}

Tensor restored(const Tensor& bitmap_part, const Tensor& word_part, const LargeJson& how) {
  DType dtype = DType::u8;
  std::vector<std::int64_t> shape;
  Words words;
  try {
    dtype = parse_dtype(how.at("dtype").get<std::string>());
    shape = how.at("shape").get<std::vector<std::int64_t>>();
    words.bytes = how.at("word").get<std::size_t>();
    words.fill = how.at("fill").get<std::uint8_t>();
    words.halves = how.at("halves").get<bool>();
  } catch (const LargeJson::exception& error) {
    fail("expected `dtype`, `shape`, `word`, `fill` and `halves` of its bitmap: {}", error.what());
  }
  const bool sized = shape.size() <= kMaxDimensions &&
                     std::ranges::all_of(shape, [](std::int64_t extent) { return extent >= 0; });
  const Sizes sizes = sized ? Sizes(shape.begin(), shape.end()) : Sizes();
  const auto size = sized ? checked_size_bytes(dtype, sizes) : std::nullopt;
  user_check(size && std::ranges::count(kWordBytes, words.bytes) == 1 && *size % words.bytes == 0,
             "words of {} bytes do not make up its shape {}; the file is damaged", words.bytes,
             how.at("shape").dump());
  const Bytes bitmap = bytes_of(bitmap_part), stored = bytes_of(word_part);
  const std::size_t count = *size / words.bytes;
  user_check(bitmap.size() == bitmap_bytes(count),
             "expected {} bytes in its bitmap, got {}; the file is damaged", bitmap_bytes(count),
             bitmap.size());
  const std::size_t ones = std::transform_reduce(
      bitmap.begin(), bitmap.end(), std::size_t{0}, std::plus<>(),
      [](std::uint8_t byte) { return static_cast<std::size_t>(std::popcount(byte)); });
  user_check(
      (count % 8 == 0 || bitmap.back() >> count % 8 == 0) && ones * words.bytes == stored.size(),
      "its bitmap names {} words of {} bytes, and {} bytes are stored; the file is damaged", ones,
      words.bytes, stored.size());
  Tensor tensor = Tensor::empty(dtype, sizes);
  auto* const y = reinterpret_cast<std::uint8_t*>(tensor.device_pointer());
  std::memset(y, words.fill, *size);
  const std::uint8_t* next = stored.data();
  for (std::size_t byte = 0; byte < bitmap.size(); ++byte) {
    for (unsigned left = bitmap[byte]; left != 0; left &= left - 1) {
      const std::size_t word = 8 * byte + static_cast<std::size_t>(std::countr_zero(left));
      std::memcpy(y + word * words.bytes, next, words.bytes);
      next += words.bytes;
    }
  }
  if (words.halves) join_halves({y, *size});
  return tensor;
}

}  // namespace

std::size_t store_bitmaps(Safetensors& file) {
  LargeJson listed = LargeJson::object();
  std::size_t saved = 0;
  const TensorMap given = file.tensors;
  for (const auto& [name, tensor] : given) {
    if (given.contains(name + std::string(kBitmap)) || given.contains(name + std::string(kWords)))
      continue;
    const Bytes bytes = bytes_of(tensor);
    std::optional<Words> words = best_words(bytes, /*halves=*/false);
    if (!words) continue;
    std::vector<std::uint8_t> halves;
    if (tensor.dtype() == DType::u8) {
      halves = split_halves(bytes);
      const std::optional<Words> of_halves = best_words(halves, /*halves=*/true);
      if (of_halves && of_halves->size(bytes.size() / of_halves->bytes) <
                           words->size(bytes.size() / words->bytes))
        words = of_halves;
    }
    listed[name] = {{"dtype", info(tensor.dtype()).name},
                    {"shape", tensor.sizes()},
                    {"word", words->bytes},
                    {"fill", words->fill},
                    {"halves", words->halves}};
    store(file.tensors, name, words->halves ? Bytes(halves) : bytes, *words);
    file.tensors.erase(name);
    saved += bytes.size() - words->size(bytes.size() / words->bytes);
  }
  if (saved > 0) file.metadata[kMetadataKey] = listed.dump();
  return saved;
}

std::size_t restore_bitmaps(Safetensors& file) {
  const auto found = file.metadata.find(kMetadataKey);
  if (found == file.metadata.end()) return 0;
  const LargeJson listed = parse_large_json(found->second);
  user_check(listed.is_object(), "{}: expected an object, got {}", kMetadataKey,
             listed.type_name());
  std::size_t saved = 0;
  for (const auto& [name, how] : listed.items()) {
    with_context(fmt::format("tensor '{}'", shown_name(name)), [&, &name = name, &how = how] {
      const Tensor bitmap = take_part(file, name + std::string(kBitmap));
      const Tensor words = take_part(file, name + std::string(kWords));
      Tensor tensor = restored(bitmap, words, how);
      saved += tensor.size_bytes() -
               std::min(tensor.size_bytes(), bitmap.size_bytes() + words.size_bytes());
      user_check(file.tensors.emplace(name, std::move(tensor)).second,
                 "is stored twice, with its bitmap and without; the file is damaged");
    });
  }
  file.metadata.erase(found);
  return saved;
}

}  // namespace hone
