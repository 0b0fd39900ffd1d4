#include "hone/tensor/safetensors.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>
#include <vector>

#include "hone/base/cpu.h"
#include "hone/base/git_lfs.h"
#include "hone/base/json.h"
#include "hone/base/own_process.h"
#include "hone/base/printable.h"
#include "hone/tensor/mapped.h"

namespace hone {
namespace {

constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;  // the limit of the format's own library
constexpr std::string_view kMetadata = "__metadata__";

// The project's ordered Json searches keys linearly, which is quadratic in the number of tensors, and a header may have
// a million.
using HeaderJson = nlohmann::json;

struct Entry {
  std::string name;
  DType dtype = DType::f32;
  Sizes sizes;
  std::uint64_t begin = 0;  // offset in bytes after the header
  std::uint64_t end = 0;
};

std::string_view header_text(std::string_view bytes) {
  user_check(bytes.size() >= 8, "expected 8 bytes of header length, the file has {}", bytes.size());
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof length);
  user_check(
      length <= kMaxHeaderBytes,
      "expected a header of at most {} bytes, its length says {}; is this a safetensors file?",
      kMaxHeaderBytes, length);
  user_check(length <= bytes.size() - 8,
             "the header has {} bytes, only {} follow; the file is cut off", length,
             bytes.size() - 8);
  const std::string_view text = bytes.substr(8, length);
  user_check(text.starts_with('{'),
             "expected a header that begins with '{{'; is this a safetensors file?");
  return text;
}

// Rejects input that would waste memory or hide a tensor: deeper nesting than the format's, and duplicate names.
HeaderJson parse_header(std::string_view text) {
  std::set<std::string> names;
  const auto check = [&](int depth, HeaderJson::parse_event_t event, HeaderJson& parsed) {
    using Event = HeaderJson::parse_event_t;
    const bool opens = event == Event::object_start || event == Event::array_start;
    user_check(!opens || depth < 3, "the header is nested deeper than the format allows");
    if (event == Event::key && depth == 1) {
      const auto& name = parsed.get_ref<const std::string&>();
      user_check(names.insert(name).second, "the header names tensor '{}' twice", shown_name(name));
    }
    return true;
  };
  try {
    return HeaderJson::parse(text, check);
  } catch (const HeaderJson::exception& error) {  // its message has the position
    fail("the header is malformed JSON: {}", shorten(error.what(), 300));
  }
}

std::map<std::string, std::string> read_metadata(const HeaderJson& json) {
  user_check(json.is_object(), "{}: expected an object of strings, got {}", kMetadata,
             json.type_name());
  std::map<std::string, std::string> metadata;
  for (const auto& [key, value] : json.items()) {
    user_check(value.is_string(), "{}: expected a string for '{}', got {}", kMetadata,
               shown_name(key), value.type_name());
    metadata[key] = value.get<std::string>();
  }
  return metadata;
}

DType read_dtype(const HeaderJson& json) {
  user_check(json.is_string(), "expected a string as dtype, got {}", json.type_name());
  std::string known;
  for (const DTypeInfo& row : kDTypes) {
    if (json == row.safetensors) return row.dtype;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", row.safetensors);
  }
  fail("dtype {} is not supported; supported are {}", json.get_ref<const std::string&>(), known);
}

Sizes read_counts(const HeaderJson& json, std::string_view what) {
  user_check(json.is_array(), "expected a list as {}, got {}", what, json.type_name());
  user_check(json.size() <= kMaxDimensions, "expected at most {} numbers in {}, got {}",
             kMaxDimensions, what, json.size());
  Sizes counts;
  for (const HeaderJson& value : json) {
    user_check(value.is_number_unsigned() && value.get<std::uint64_t>() <= INT64_MAX,
               "expected whole numbers from 0 in {}, got {}", what,
               value.dump(-1, ' ', false, HeaderJson::error_handler_t::replace));
    counts.push_back(value.get<std::int64_t>());
  }
  return counts;
}

const HeaderJson& member(const HeaderJson& json, const char* key) {
  user_check(json.is_object() && json.contains(key),
             "expected dtype, shape and data_offsets, {} is missing", key);
  return json[key];
}

Entry read_entry(const std::string& name, const HeaderJson& json) {
  Entry entry;
  entry.name = name;
  entry.dtype = read_dtype(member(json, "dtype"));
  entry.sizes = read_counts(member(json, "shape"), "shape");
  const auto offsets = read_counts(member(json, "data_offsets"), "data_offsets");
  user_check(offsets.size() == 2 && offsets[0] <= offsets[1],
             "expected [begin, end] as data_offsets, got {}", to_string(offsets));
  entry.begin = static_cast<std::uint64_t>(offsets[0]);
  entry.end = static_cast<std::uint64_t>(offsets[1]);
  const auto bytes = checked_size_bytes(entry.dtype, entry.sizes);
  user_check(bytes.has_value(), "shape {} is too large", to_string(entry.sizes));
  user_check(*bytes == entry.end - entry.begin,
             "{} of shape {} has {} bytes, data_offsets {} span {}", info(entry.dtype).name,
             to_string(entry.sizes), *bytes, to_string(offsets), entry.end - entry.begin);
  return entry;
}

// Checks that, sorted by position, every tensor begins where the previous one ends: no overlaps, gaps or trailing
// bytes.
void check_layout(std::vector<Entry>& entries, std::uint64_t data_bytes) {
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
  });
  std::uint64_t end = 0;
  for (const Entry& entry : entries) {
    user_check(entry.begin == end,
               "tensor '{}': expected its data at byte {}, where the one before ends, got {}",
               shown_name(entry.name), end, entry.begin);
    end = entry.end;
  }
  user_check(end == data_bytes,
             "the tensors take {} bytes, the file holds {}; it is cut off or damaged", end,
             data_bytes);
}

using NamedTensor = std::pair<const std::string*, const Tensor*>;

// Tensors whose size is a multiple of a cache line start at one. The others follow by decreasing element size, so that
// all are aligned to their elements.
constexpr std::size_t kLine = 64;

std::vector<NamedTensor> in_order_of_the_file(const TensorMap& tensors) {
  std::vector<NamedTensor> order;
  for (const auto& [name, tensor] : tensors) order.emplace_back(&name, &tensor);
  std::ranges::stable_sort(order, std::greater(), [](const NamedTensor& named) {
    const Tensor& tensor = *named.second;
    return std::pair(tensor.size_bytes() % kLine == 0, info(tensor.dtype()).size_bytes);
  });
  return order;
}

std::string make_header(const std::vector<NamedTensor>& order,
                        const std::map<std::string, std::string>& metadata,
                        const std::set<std::string>& float8) {
  std::string header = "{";
  const auto add = [&](std::string_view key, const Json& value) {
    header +=
        fmt::format("{}{}:{}", header.size() == 1 ? "" : ",", to_line(Json(key)), to_line(value));
  };
  if (!metadata.empty()) add(kMetadata, metadata);
  std::size_t begin = 0;
  for (const auto& [name, tensor] : order) {
    user_check(*name != kMetadata, "a tensor cannot be called {}; rename it", kMetadata);
    const std::size_t end = begin + tensor->size_bytes();
    add(*name, {{"dtype", float8.contains(*name) ? "F8_E4M3" : info(tensor->dtype()).safetensors},
                {"shape", tensor->sizes()},
                {"data_offsets", {begin, end}}});
    begin = end;
  }
  header += '}';
  const std::size_t behind_length = sizeof(std::uint64_t) + header.size();
  header.append((kLine - behind_length % kLine) % kLine, ' ');
  return header;
}

}  // namespace

Safetensors read_safetensors(const SharedBytes& file) {
  const std::string_view header = header_text(file.text);
  const std::string_view data = file.text.substr(8 + header.size());
  Safetensors result;
  std::vector<Entry> entries;
  const HeaderJson parsed = parse_header(header);
  for (const auto& [name, json] : parsed.items()) {
    if (name == kMetadata) {
      result.metadata = read_metadata(json);
    } else {
      entries.push_back(
          with_context(fmt::format("tensor '{}'", shown_name(name)),
                       [&, &name = name, &json = json] { return read_entry(name, json); }));
    }
  }
  check_layout(entries, data.size());
  for (Entry& entry : entries) {
    const auto bytes = data.substr(entry.begin, entry.end - entry.begin);
    const auto storage = with_context(fmt::format("tensor '{}'", shown_name(entry.name)),
                                      [&] { return storage_in_file(file, bytes, entry.dtype); });
    const Sizes strides = contiguous_strides(entry.sizes);
    result.tensors[entry.name] =
        Tensor::view_of(storage, entry.dtype, std::move(entry.sizes), strides, 0);
  }
  return result;
}

Safetensors read_safetensors(const fs::path& path) {
  const SharedBytes file = map_file(path);
  refuse_git_lfs_pointer(path, file.text, "tensors");
  return with_context(path.string(), [&] { return read_safetensors(file); });
}

void write_safetensors(const fs::path& path, const TensorMap& tensors,
                       const std::map<std::string, std::string>& metadata,
                       const std::set<std::string>& float8) {
  const std::vector<NamedTensor> order = in_order_of_the_file(tensors);
  const std::string header =
      with_context(path.string(), [&] { return make_header(order, metadata, float8); });
  // Data in files may not have been read yet, or was released.
  std::size_t unread = 0;
  for (const auto& [name, tensor] : tensors) unread += unread_bytes(tensor);
  predict_memory(static_cast<double>(resident_bytes() + unread));
  const std::uint64_t length = header.size();
  write_file(path, [&](const ByteSink& sink) {
    sink(std::as_bytes(std::span(&length, 1)));
    sink(std::as_bytes(std::span(header)));
    for (const auto& [name, tensor] : order) {
      const Tensor host = tensor->on(cpu());
      const Tensor whole = host.contiguous() ? host : host.contiguous_copy();
      sink({whole.device_pointer(), whole.size_bytes()});
    }
  });
}

TensorMap in_unlinked_file(const TensorMap& tensors) {
  const ScratchFolder folder(fs::temp_directory_path() / "hone-weights");
  const fs::path path = folder.path() / "weights.safetensors";
  write_safetensors(path, tensors);
  return read_safetensors(path).tensors;
}

}  // namespace hone
