#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hone/models/model_source.h"
#include "hone/report/table.h"
#include "hone/runtime/session.h"

/// What the bytes of a model's weights are for, before and after packing, term by term: an account that adds up to the byte.
namespace hone {

/// What a weight is to its model. Products and tables of embeddings are what formats are for; the others are small.
enum class WeightPart : std::uint8_t {
  product,    ///< weight of a product
  embedding,  ///< table of which rows are read: of words, of positions, of types
  head,       ///< what tells the answers apart: the last product
  bias,
  gain,   ///< of normalizations
  other,  ///< buffers, masks
};
std::string_view to_string(WeightPart part);

/// The parameters of one part that are kept alike.
struct AccountRow {
  WeightPart part = WeightPart::other;
  std::string format;  ///< "fp32" where they are not packed
  std::int64_t tensors = 0;
  std::int64_t elements = 0;
  std::int64_t fp32_bytes = 0;  ///< 4 an element
  std::int64_t code_bytes =
      0;  ///< codes of the elements; the values themselves where they are not packed
  std::int64_t shared_bytes =
      0;  ///< scales of blocks, rows or tensors, states of the format included
  std::int64_t padding_bytes = 0;  ///< what rounds codes and scales up to whole panels and bytes
  std::int64_t bytes() const { return code_bytes + shared_bytes + padding_bytes; }
};

struct MemoryAccount {
  std::vector<AccountRow> rows;  ///< parts in their order, packed ones first
  std::int64_t fp32_bytes = 0;   ///< of all of them, unpacked
  std::int64_t bytes = 0;        ///< of all of them, as they are kept: the tensors in memory
  std::optional<std::int64_t>
      file_bytes;  ///< of the file; what it has beyond `bytes` is names and places
  /// The largest weight that a run unpacks as a whole, for a while, in fp32. Linears and embeddings read codes themselves.
  std::int64_t transient_bytes = 0;

  /// Of the sheet of MASE's lab 4.3: 1 - bits / 32 of the packed formats alone, with scales and nothing else; 0 where
  /// nothing is packed.
  double theoretical_saving() const;
  double resident_saving() const { return saving(bytes); }
  double saving(std::int64_t kept) const;
};

/// `folder` is where the model lies; empty for one that was never saved. `session`: which weights its runs unpack.
MemoryAccount memory_account(const Model& model, const fs::path& folder, const Session& session);

/// A row for each row, and what they add up to.
Table account_table(const MemoryAccount& account);
/// From the theoretical saving down to what was measured, a line for each reason: "embeddings kept in fp32: -67.2 points".
std::vector<std::string> reasons(const MemoryAccount& account);

}  // namespace hone
