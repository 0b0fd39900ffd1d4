#include "hone/frontends/huggingface/torch_file.h"

#include <algorithm>
#include <functional>

#include "hone/base/byte_reader.h"
#include "hone/base/printable.h"
#include "hone/frontends/huggingface/archive.h"
#include "hone/frontends/huggingface/unpickler.h"

namespace hone {
namespace {

/// Returns the elements of a storage, with the number of bytes in its record.
using FindStorage = std::function<StoragePointer(const StorageRecord&)>;

std::uint64_t size_bytes(const StorageRecord& storage) {
  std::uint64_t bytes = 0;
  user_check(!__builtin_mul_overflow(storage.count, info(storage.dtype).size_bytes, &bytes),
             "storage '{}' of {} elements is too large", shown_name(storage.key), storage.count);
  return bytes;
}

const PickleValue* find(const PickleDict& dict, std::string_view key) {
  for (std::size_t i = dict.items.size(); i >= 2; i -= 2) {
    const auto* name = dict.items[i - 2]->as<std::string_view>();
    if (name != nullptr && *name == key) return dict.items[i - 1];
  }
  return nullptr;
}

const PickleDict& state_dict(const PickleValue& root) {
  const auto* dict = root.as<PickleDict>();
  user_check(dict != nullptr, "expected a dict of tensors, got {}", root.kind());
  const PickleValue* inner = find(*dict, "state_dict");
  const auto* inner_dict = inner == nullptr ? nullptr : inner->as<PickleDict>();
  return inner_dict == nullptr ? *dict : *inner_dict;
}

// Shared storages are looked up once. PyTorch itself does not write one storage with several types.
class StorageCache {
 public:
  explicit StorageCache(const FindStorage& find) : find_(find) {}
  StoragePointer operator()(const StorageRecord& record) {
    auto& [dtype, storage] = found_[record.key];
    if (storage == nullptr) {
      dtype = record.dtype;
      storage = with_context(fmt::format("storage '{}'", shown_name(record.key)),
                             [&] { return find_(record); });
      user_check(storage->size_bytes == size_bytes(record),
                 "storage '{}': expected {} bytes for {} {}, the file has {}",
                 shown_name(record.key), size_bytes(record), record.count, info(record.dtype).name,
                 storage->size_bytes);
    }
    user_check(dtype == record.dtype, "storage '{}' is declared as both {} and {}",
               shown_name(record.key), info(dtype).name, info(record.dtype).name);
    return storage;
  }

 private:
  const FindStorage& find_;
  std::map<std::string_view, std::pair<DType, StoragePointer>> found_;
};

TensorMap make_tensors(const PickleDict& dict, std::uint64_t file_bytes, const FindStorage& find) {
  TensorMap tensors;
  StorageCache storages(find);
  std::uint64_t tensor_bytes = 0;
  for (std::size_t i = 0; i < dict.items.size(); i += 2) {
    const auto* name = dict.items[i]->as<std::string_view>();
    user_check(name != nullptr, "expected strings as names of tensors, got {}",
               dict.items[i]->kind());
    const auto* pointer = dict.items[i + 1]->as<std::unique_ptr<const TensorRecord>>();
    user_check(pointer != nullptr,
               "'{}': expected a tensor, got {}; save only the model's state_dict()",
               shown_name(*name), dict.items[i + 1]->kind());
    const TensorRecord& record = **pointer;
    const StoragePointer storage = storages(record.storage);
    Tensor tensor =
        Tensor::view_of(storage, record.storage.dtype, record.sizes, record.strides, record.offset);
    // Views and strides of 0 repeat elements without limit. That costs nothing in the file, but copying the tensors
    // does.
    const std::uint64_t limit = kMaxExpansion * file_bytes;
    user_check(
        tensor.size_bytes() <= limit - tensor_bytes,
        "with tensor '{}' of shape {} the tensors take more than {} times the {} bytes of the "
        "file; it is damaged",
        shown_name(*name), to_string(record.sizes), kMaxExpansion, file_bytes);
    tensor_bytes += tensor.size_bytes();
    tensors.insert_or_assign(std::string(*name), std::move(tensor));
  }
  return tensors;
}

std::string_view content(const StoragePointer& storage) {
  return {reinterpret_cast<const char*>(storage->pointer), storage->size_bytes};
}

// NAME/data.pkl, the elements in NAME/data/KEY, and NAME/byteorder since PyTorch 2.1.
TensorMap read_archived(const SharedBytes& file) {
  constexpr std::string_view kPickle = "/data.pkl";
  const ArchiveEntries entries = read_archive(file.text);
  const auto found = std::find_if(entries.begin(), entries.end(), [&](const auto& entry) {
    return entry.first.ends_with(kPickle) &&
           entry.first.find('/') == entry.first.size() - kPickle.size();
  });
  user_check(found != entries.end(), "the archive has no NAME{}; expected a file by torch.save",
             kPickle);
  const std::string prefix = found->first.substr(0, found->first.size() - kPickle.size() + 1);
  const auto unpack_entry = [&](const ArchiveEntry& entry, DType dtype) {
    return unpack(file, entry, dtype);
  };

  if (const auto order = entries.find(prefix + "byteorder"); order != entries.end()) {
    const StoragePointer text = unpack_entry(order->second, DType::u8);
    user_check(content(text) == "little", "expected byte order 'little', got '{}'", content(text));
  }
  const StoragePointer text = unpack_entry(found->second, DType::u8);
  const Pickle pickle = unpickle(content(text));
  return make_tensors(state_dict(*pickle.root), file.text.size(), [&](const StorageRecord& record) {
    const auto entry = entries.find(prefix + "data/" + std::string(record.key));
    user_check(entry != entries.end(), "the archive has no {}data/{}", prefix, record.key);
    return unpack_entry(entry->second, record.dtype);
  });
}

Pickle next_pickle(std::string_view bytes, std::size_t& position) {
  Pickle pickle = unpickle(bytes.substr(position));
  position += pickle.size_bytes;
  return pickle;
}

bool is_magic(const PickleValue& value) {
  const auto* number = value.as<PickleBigInteger>();
  return number != nullptr && number->bytes == "\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19";
}

void check_system(const Pickle& system) {
  const auto* facts = system.root->as<PickleDict>();
  const PickleValue* little_endian = facts == nullptr ? nullptr : find(*facts, "little_endian");
  const bool* little = little_endian == nullptr ? nullptr : little_endian->as<bool>();
  user_check(little != nullptr && *little,
             "expected little_endian: True in the description of the writing machine");
}

// After the pickles come the storages in the order of `keys`, each after its 8-byte element count. The main pickle
// contains their element types.
std::map<std::string_view, std::string_view> locate_storages(const Pickle& main, const Pickle& keys,
                                                             std::string_view bytes,
                                                             std::size_t position) {
  std::map<std::string_view, StorageRecord> records;
  for (const PickleValue& value : main.values) {
    if (const auto* record = value.as<StorageRecord>()) records.emplace(record->key, *record);
  }
  const auto* list = keys.root->as<PickleList>();
  user_check(list != nullptr, "expected the list of storages, got {}", keys.root->kind());
  ByteReader reader(bytes, position);
  std::map<std::string_view, std::string_view> places;
  for (const PickleValue* item : list->items) {
    const auto* key = item->as<std::string_view>();
    const auto record = key == nullptr ? records.end() : records.find(*key);
    user_check(record != records.end(), "the list of storages names one that no tensor uses");
    const auto count = reader.number<std::int64_t>();
    user_check(count == record->second.count,
               "storage '{}': expected {} elements, the file says {}", shown_name(*key),
               record->second.count, count);
    places[*key] = reader.take(size_bytes(record->second));
  }
  return places;
}

// Consecutive pickles: magic number, protocol, the writing machine, the tensors, the keys of the storages.
TensorMap read_legacy(const SharedBytes& file) {
  const std::string_view bytes = file.text;
  std::size_t position = 0;
  const Pickle magic = next_pickle(bytes, position);
  if (!is_magic(*magic.root)) {
    fail("expected a file by torch.save, got a pickle of {}", magic.root->kind());
  }
  const Pickle protocol = next_pickle(bytes, position);
  const auto* version = protocol.root->as<std::int64_t>();
  user_check(version != nullptr && *version == 1001, "expected version 1001 of the layout");
  check_system(next_pickle(bytes, position));
  const Pickle main = next_pickle(bytes, position);
  const Pickle keys = next_pickle(bytes, position);
  const auto places = locate_storages(main, keys, bytes, position);
  return make_tensors(state_dict(*main.root), bytes.size(), [&](const StorageRecord& record) {
    const auto place = places.find(record.key);
    user_check(place != places.end(), "the file does not contain it");
    return storage_in_file(file, place->second, record.dtype);
  });
}

}  // namespace

TensorMap read_torch_file(const SharedBytes& file) {
  if (is_archive(file.text)) return read_archived(file);
  user_check(file.text.starts_with('\x80'),
             "expected a file by torch.save, a zip archive or a pickle; got neither");
  return read_legacy(file);
}

TensorMap read_torch_file(const fs::path& path) {
  const SharedBytes file = map_file(path);
  return with_context(path.string(), [&] { return read_torch_file(file); });
}

}  // namespace hone
