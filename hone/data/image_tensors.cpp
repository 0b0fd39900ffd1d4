#include "hone/base/error.h"
#include "hone/base/hash.h"
#include "hone/data/raw_data_set.h"
#include "hone/tensor/dense.h"
#include "hone/tensor/safetensors.h"

namespace hone {
namespace {

// Returns the bytes of one image; `images` is contiguous.
std::string_view bytes_of_row(const Tensor& images, std::int64_t row) {
  const auto row_bytes = static_cast<std::size_t>(images.count() / images.size(0)) *
                         static_cast<std::size_t>(info(images.dtype()).size_bytes);
  const std::span<const std::byte> all = host_bytes(images);
  const auto some = all.subspan(static_cast<std::size_t>(row) * row_bytes, row_bytes);
  return {reinterpret_cast<const char*>(some.data()), some.size()};
}

}  // namespace

bool is_image_tensors(const std::string& source) { return source.ends_with(".safetensors"); }

RawDataSet read_image_tensors(const fs::path& path, const DataOptions& options) {
  const std::string where = path.string();
  user_check(!options.task || options.task == Task::single_label,
             "{}: images with integer labels cannot be used for {}", where,
             to_string(options.task.value_or(Task::single_label)));
  const TensorMap tensors = read_safetensors(path).tensors;
  const auto found = tensors.find("images"), labels = tensors.find("labels");
  user_check(found != tensors.end() && found->second.rank() == 4 && found->second.count() > 0,
             "{}: expected a tensor `images` of (images, channels, height, width)", where);
  const Tensor& images = found->second;
  const std::int64_t count = images.size(0);
  RawDataSet written{.task = Task::single_label};
  written.data.files.push_back({where, "row"});
  for (std::int64_t i = 0; i < count; ++i)
    written.data.train.push_back({.text = fmt::format("{}#{}", where, i),
                                  .file = 0,
                                  .row = i,
                                  .image_hash = short_fingerprint(bytes_of_row(images, i))});
  if (!options.labelled) return written;
  user_check(labels != tensors.end() && labels->second.rank() == 1 &&
                 labels->second.size(0) == count && !info(labels->second.dtype()).floating,
             "{}: expected a tensor `labels` with a whole number for each of the {} images", where,
             count);
  const Tensor numbers = labels->second.cast(DType::i64);
  for (const std::int64_t label : numbers.values<std::int64_t>())
    written.raw_labels.push_back({.value = std::to_string(label)});
  return written;
}

}  // namespace hone
