#include "hone/data/arrow_batches.h"

#include <zstd.h>

namespace hone {
namespace {

// Message.fbs: union MessageHeader.
enum Header { kSchema = 1, kDictionaryBatch = 2, kRecordBatch = 3 };
constexpr std::string_view kFileMagic = "ARROW1";
constexpr std::uint32_t kContinuation = 0xFFFFFFFF;

/// A message and its frame in the stream.
struct Message {
  std::string_view metadata = {}, body = {};
  std::size_t position = 0, end = 0;
};

// Returns the message at `position`; its metadata is empty at the end of the stream.
Message next_message(std::string_view bytes, std::size_t position) {
  Message message{.position = position, .end = position};
  if (position == bytes.size()) return message;
  auto size = number_at<std::uint32_t>(bytes, position);
  std::size_t begin = position + 4;
  if (size == kContinuation) {  // absent before version 0.15
    size = number_at<std::uint32_t>(bytes, begin);
    begin += 4;
  }
  if (size == 0) return message;
  user_check(size <= bytes.size() - begin,
             "the message at byte {} extends past the end; the file is damaged or cut off",
             position);
  message.metadata = bytes.substr(begin, size);
  begin += size;
  const auto body = FlatTable::root(message.metadata).number<std::int64_t>(3);
  user_check(
      body >= 0 && static_cast<std::uint64_t>(body) <= bytes.size() - begin,
      "the body of the message at byte {} extends past the end; the file is damaged or cut off",
      position);
  message.body = bytes.substr(begin, static_cast<std::size_t>(body));
  message.end = begin + static_cast<std::size_t>(body);
  return message;
}

ArrowBatch make_batch(const Message& message, const FlatTable& header, bool is_dictionary) {
  const auto records = is_dictionary ? header.table(1) : std::optional(header);
  user_check(records.has_value(), "a dictionary has no values; the file is damaged");
  ArrowBatch batch{.header = *records, .body = message.body, .position = message.position};
  batch.rows = records->number<std::int64_t>(0);
  user_check(batch.rows >= 0, "{} rows; the file is damaged", batch.rows);
  batch.is_dictionary = is_dictionary;
  if (is_dictionary) {
    batch.dictionary = header.number<std::int64_t>(0);
    batch.is_delta = header.number<std::uint8_t>(2) != 0;
  }
  return batch;
}

}  // namespace

ArrowMessages read_arrow_messages(std::string_view bytes, MemoryBudget& budget) {
  // A file is a stream between its magic and its footer.
  std::size_t position = bytes.starts_with(kFileMagic) ? 8 : 0;
  const auto format = with_context("expected an Arrow IPC stream or file", [&] {
    user_check(position <= bytes.size(), "the file is cut");
    const Message first = next_message(bytes, position);
    user_check(!first.metadata.empty(), "there is no schema");
    const FlatTable message = FlatTable::root(first.metadata);
    const auto schema = message.table(2);
    user_check(message.number<std::uint8_t>(1) == kSchema && schema,
               "the first message is not a schema");
    position = first.end;
    return *schema;
  });
  ArrowMessages messages{.schema = read_arrow_schema(format, budget)};
  for (Message next = next_message(bytes, position); !next.metadata.empty();
       next = next_message(bytes, next.end)) {
    const FlatTable message = FlatTable::root(next.metadata);
    const auto kind = message.number<std::uint8_t>(1);
    const auto header = message.table(2);
    user_check(header && (kind == kDictionaryBatch || kind == kRecordBatch),
               "the message at byte {} is not a batch of rows; the file is damaged", next.position);
    budget.charge(sizeof(ArrowBatch));
    messages.batches.push_back(make_batch(next, *header, kind == kDictionaryBatch));
  }
  return messages;
}

ArrowBatchReader::ArrowBatchReader(const ArrowBatch& batch,
                                   std::vector<std::unique_ptr<char[]>>& unpacked,
                                   MemoryBudget& budget)
    : batch_(batch),
      unpacked_(unpacked),
      budget_(budget),
      nodes_(batch.header.vector(1, 16)),
      buffers_(batch.header.vector(2, 16)),
      view_counts_(batch.header.vector(4, 8)) {
  const auto compression = batch.header.table(3);
  if (!compression) return;
  const auto codec = compression->number<std::int8_t>(0);
  user_check(codec == 1,
             "the file is compressed by {}; supported are zstd and no compression: write it again "
             "with one of them",
             codec == 0 ? "lz4" : "an unknown method");
  compressed_ = true;
}

void ArrowBatchReader::next_node(ArrowArray& array) {
  user_check(node_ < nodes_.count, "an array is missing; the file is damaged");
  array.length = nodes_.at<std::int64_t>(node_, 16, 0);
  array.nulls = nodes_.at<std::int64_t>(node_, 16, 8);
  user_check(array.length >= 0 && array.nulls >= 0 && array.nulls <= array.length,
             "an array of {} values, {} of them null; the file is damaged", array.length,
             array.nulls);
  ++node_;
}

std::string_view ArrowBatchReader::next_buffer() {
  user_check(buffer_ < buffers_.count, "a buffer is missing; the file is damaged");
  const auto offset = buffers_.at<std::uint64_t>(buffer_, 16, 0);
  const auto size = buffers_.at<std::uint64_t>(buffer_, 16, 8);
  ++buffer_;
  user_check(offset <= batch_.body.size() && size <= batch_.body.size() - offset,
             "a buffer extends past the end of its batch; the file is damaged");
  return unpack(batch_.body.substr(offset, size));
}

// Compressed buffers begin with their decompressed size, or -1 if the data is stored as it is.
std::string_view ArrowBatchReader::unpack(std::string_view packed) {
  if (!compressed_ || packed.empty()) return packed;
  const auto size = number_at<std::int64_t>(packed, 0);
  packed.remove_prefix(8);
  if (size == -1) return packed;
  user_check(size >= 0, "a buffer of {} bytes; the file is damaged", size);
  budget_.charge(static_cast<std::uint64_t>(size));
  const auto count = static_cast<std::size_t>(size);
  unpacked_.push_back(std::make_unique<char[]>(count));
  char* bytes = unpacked_.back().get();
  user_check(ZSTD_decompress(bytes, count, packed.data(), packed.size()) == count,
             "a buffer cannot be decompressed; the file is damaged");
  return {bytes, count};
}

ArrowArray ArrowBatchReader::next(const ArrowField& field) {
  ArrowArray array;
  next_node(array);
  if (field.kind == ArrowKind::null && !field.in_dictionary) return array;
  array.validity = next_buffer();
  const bool text = field.kind == ArrowKind::utf8 || field.kind == ArrowKind::large_utf8;
  if (field.is_list() || (text && !field.in_dictionary)) array.offsets = next_buffer();
  if (!field.is_list()) array.values = next_buffer();
  return array;
}

// The number of buffers per array: Columnar.rst, "Buffer Listing for Each Layout".
void ArrowBatchReader::skip(const ArrowField& field) {
  ++node_;
  switch (field.in_dictionary ? ArrowKind::integer : field.kind) {
    case ArrowKind::null:
    case ArrowKind::run_end_encoded:
      break;
    case ArrowKind::structure:
    case ArrowKind::fixed_size_list:
      buffer_ += 1;
      break;
    case ArrowKind::union_of:
      buffer_ += field.is_dense ? 2 : 1;
      break;
    case ArrowKind::binary:
    case ArrowKind::utf8:
    case ArrowKind::large_binary:
    case ArrowKind::large_utf8:
    case ArrowKind::list_view:
    case ArrowKind::large_list_view:
      buffer_ += 3;
      break;
    case ArrowKind::binary_view:
    case ArrowKind::utf8_view: {
      user_check(view_ < view_counts_.count, "a count of buffers is missing; the file is damaged");
      const auto more = view_counts_.at<std::uint64_t>(view_++);
      user_check(more <= buffers_.count, "{} buffers; the file is damaged", more);
      buffer_ += 2 + more;
      break;
    }
    default:
      buffer_ += 2;
  }
  if (field.in_dictionary) return;
  for (const ArrowField& child : field.children) skip(child);
}

}  // namespace hone
