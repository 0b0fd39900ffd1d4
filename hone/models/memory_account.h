#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hone/base/fields.h"
#include "hone/models/model_source.h"
#include "hone/report/figure.h"
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

/// The format of what is not packed.
inline constexpr const char* kUnpackedFormat = "fp32";

/// The parameters of one part that are kept alike.
struct AccountRow {
  WeightPart part = WeightPart::other;
  std::string format;  ///< `kUnpackedFormat` where they are not packed
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
  std::optional<std::int64_t> file_bytes;  ///< of the file
  /// That the file leaves out (hone/tensor/bitmaps.h). What it has beyond the others is names and places.
  std::int64_t left_out_bytes = 0;
  /// Of the weights in the file, as `stored_bytes` of the model.
  std::int64_t stored_bytes() const { return bytes - left_out_bytes; }
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

/// A place on the way from what the formats save to what was measured.
struct SavingStep {
  enum class Kind : std::uint8_t {
    theoretical,  ///< what the formats save of the weights that have them
    reason,       ///< why less is saved
    measured,     ///< what is saved: of the tensors in memory, of the file
  };
  Kind kind = Kind::reason;
  std::string name = {};   ///< "embeddings in fp32"
  std::int64_t bytes = 0;  ///< that the reason takes; in all, of what was measured
  double change = 0;       ///< of the saving, by the reason
  double saving = 0;       ///< what is left of it, a share of all weights in fp32
};
std::span<const EnumWord> enum_words(SavingStep::Kind kind);
/// From the theoretical saving down to what was measured; none where nothing is packed. The changes add up. Without formats it
/// begins with what was measured in memory.
std::vector<SavingStep> saving_steps(const MemoryAccount& account);
/// A line for each of them: "embeddings in fp32 (15.2 MiB): -67.20 points".
std::vector<std::string> reasons(const MemoryAccount& account);

/// Weights of one part that are stored alike, in results; the last row sums up all weights.
struct AccountRowResult {
  std::string part;
  std::optional<std::string> format = {};
  std::int64_t tensors = 0, elements = 0;
  std::int64_t fp32_bytes = 0, code_bytes = 0, shared_bytes = 0, padding_bytes = 0, bytes = 0;
  std::optional<double> saving = {};
};
/// An account in results.
struct MemoryAccountResult {
  std::vector<AccountRowResult> parts;
  std::int64_t fp32_bytes = 0, memory_bytes = 0;
  std::optional<std::int64_t> disk_bytes = {};
  std::int64_t transient_bytes = 0;
  double theoretical_saving = 0, memory_saving = 0;
  std::optional<double> disk_saving = {};
  std::vector<SavingStep> steps = {};
  std::vector<std::string> reasons = {};
};
const Fields& fields_of(const SavingStep*);
const Fields& fields_of(const AccountRowResult*);
const Fields& fields_of(const MemoryAccountResult*);
MemoryAccountResult account_result(const MemoryAccount& account);
/// The rows of `parts`.
Table account_table(const MemoryAccountResult& account);

/// The steps of an account beside those of others of the same model.
struct NamedSteps {
  std::string name;  ///< "linears alone"; empty: there is one alone
  std::vector<SavingStep> steps;
};
/// A bar for each step, as long as what is left of the saving, the accounts in colours of their own.
Figure account_figure(const std::vector<NamedSteps>& accounts, const std::string& title);

}  // namespace hone
