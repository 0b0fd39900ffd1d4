#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "hone/data/arrow_schema.h"

/// Messages of an Arrow file (Message.fbs): the schema, and batches of arrays with their buffers.
namespace hone {

/// A batch of rows or of dictionary values.
struct ArrowBatch {
  FlatTable header;  ///< the table RecordBatch
  std::string_view body = {};
  std::size_t position = 0;  ///< byte offset of the message in the file
  std::int64_t rows = 0;
  /// A dictionary batch replaces `dictionary`, or extends it if `is_delta`.
  bool is_dictionary = false, is_delta = false;
  std::int64_t dictionary = 0;
};

struct ArrowMessages {
  ArrowSchema schema;
  std::vector<ArrowBatch> batches = {};  ///< in order
};

/// Reads the schema and finds the batches. Throws `UserError` if `bytes` is not an Arrow stream or file, or is damaged.
ArrowMessages read_arrow_messages(std::string_view bytes, MemoryBudget& budget);

/// The buffers of an array.
struct ArrowArray {
  std::int64_t length = 0;
  std::int64_t nulls = 0;
  std::string_view validity = {};  ///< one bit per value; empty: no nulls
  std::string_view offsets = {};   ///< for strings and lists
  std::string_view values = {};
};

/// Walks the arrays of a batch in the order of the schema.
class ArrowBatchReader {
 public:
  /// Stores decompressed buffers in `unpacked`, which must outlive the arrays that are read.
  ArrowBatchReader(const ArrowBatch& batch, std::vector<std::unique_ptr<char[]>>& unpacked,
                   MemoryBudget& budget);

  void skip(const ArrowField& field);
  /// Returns the array of a flat field, of dictionary indices, or of a list, whose values come next.
  ArrowArray next(const ArrowField& field);

 private:
  void next_node(ArrowArray& array);
  std::string_view next_buffer();
  std::string_view unpack(std::string_view packed);

  const ArrowBatch& batch_;
  std::vector<std::unique_ptr<char[]>>& unpacked_;
  MemoryBudget& budget_;
  FlatVector nodes_, buffers_, view_counts_;
  bool compressed_ = false;
  std::size_t node_ = 0, buffer_ = 0, view_ = 0;
};

}  // namespace hone
