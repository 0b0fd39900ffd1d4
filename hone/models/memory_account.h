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

/// How the bytes of a model's weights are used before and after packing: an exact account, term by term.
namespace hone {

/// The use of a weight in its model. Formats apply to products and embedding tables; the others are small.
enum class WeightUse : std::uint8_t {
  product,    ///< weight of a product
  embedding,  ///< table for lookups: words, positions, types
  head,       ///< the classification layer: the last product
  bias,
  gain,   ///< of normalizations
  other,  ///< buffers, masks
};
std::string_view to_string(WeightUse part);

/// The format name of unpacked weights.
inline constexpr const char* kUnpackedFormat = "fp32";

/// The parameters of one part that are stored in the same format.
struct AccountRow {
  WeightUse part = WeightUse::other;
  std::string format;  ///< `kUnpackedFormat` if unpacked
  std::int64_t tensors = 0;
  std::int64_t elements = 0;
  std::int64_t fp32_bytes = 0;     ///< 4 per element
  std::int64_t code_bytes = 0;     ///< codes of the elements; the values if unpacked
  std::int64_t shared_bytes = 0;   ///< scales of blocks, rows or tensors, and states of the format
  std::int64_t padding_bytes = 0;  ///< rounds codes and scales up to whole panels and bytes
  std::int64_t bytes() const { return code_bytes + shared_bytes + padding_bytes; }
};

struct MemoryAccount {
  std::vector<AccountRow> rows;            ///< in the order of parts, packed ones first
  std::int64_t fp32_bytes = 0;             ///< of all rows, unpacked
  std::int64_t bytes = 0;                  ///< of all rows, as stored in memory
  std::optional<std::int64_t> file_bytes;  ///< of the file
  /// The bytes that the file omits (hone/tensor/bitmaps.h). Its remaining bytes are names and offsets.
  std::int64_t left_out_bytes = 0;
  /// The weights in the file, as `stored_bytes` of the model.
  std::int64_t stored_bytes() const { return bytes - left_out_bytes; }
  /// The largest weight that a run temporarily unpacks in whole, in fp32. Linears and embeddings read codes directly.
  std::int64_t transient_bytes = 0;

  /// As in the sheet of MASE's lab 4.3: 1 - bits / 32, for packed weights including scales only; 0 if nothing is
  /// packed.
  double theoretical_saving() const;
  double resident_saving() const { return saving(bytes); }
  double saving(std::int64_t kept) const;
};

/// `folder`: the model's folder, empty if it was never saved. `session` decides which weights its runs unpack.
MemoryAccount memory_account(const Model& model, const fs::path& folder, const Session& session);

/// A step from the theoretical saving of the formats to the measured one.
struct SavingStep {
  enum class Kind : std::uint8_t {
    theoretical,  ///< the saving by the formats in the weights that have them
    reason,       ///< why the saving is smaller
    measured,     ///< the measured saving: of the tensors in memory or of the file
  };
  Kind kind = Kind::reason;
  std::string name = {};   ///< "embeddings in fp32"
  std::int64_t bytes = 0;  ///< used by the reason, or measured in total
  double change = 0;       ///< of the saving, for this reason
  double saving = 0;       ///< the remaining saving, as a share of all weights in fp32
};
std::span<const EnumName> enum_names(SavingStep::Kind kind);
/// Returns the steps from the theoretical saving to the measured one, empty if nothing is packed. The changes add up.
/// Without formats, the first step is the measurement in memory.
std::vector<SavingStep> saving_steps(const MemoryAccount& account);
/// Returns one line per step: "embeddings in fp32 (15.2 MiB): -67.20 points".
std::vector<std::string> reasons(const MemoryAccount& account);

/// The result for weights of one part that are stored in the same format; the last row is the sum of all weights.
struct AccountRowResult {
  std::string part;
  std::optional<std::string> format = {};
  std::int64_t tensors = 0, elements = 0;
  std::int64_t fp32_bytes = 0, code_bytes = 0, shared_bytes = 0, padding_bytes = 0, bytes = 0;
  std::optional<double> saving = {};
};
/// The result for an account.
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
/// Returns the rows of `parts` as a table.
Table account_table(const MemoryAccountResult& account);

/// The steps of one of several accounts of the same model.
struct NamedSteps {
  std::string name;  ///< "linears alone"; empty if there is only one
  std::vector<SavingStep> steps;
};
/// Draws one bar per step, as long as the remaining saving, with a colour for each account.
Figure account_figure(const std::vector<NamedSteps>& accounts, const std::string& title);

}  // namespace hone
