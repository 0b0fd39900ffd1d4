#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "hone/base/fields.h"
#include "hone/models/adapter_folder.h"
#include "hone/models/model_size.h"
#include "hone/models/model_source.h"
#include "hone/passes/lora.h"

/// Low-rank adapters (passes/lora.h) of models: applies, inserts and writes them.
///
///     TextModel model = open_with_adapter("my-model", "my-adapter", context, /*seed=*/42);
namespace hone {

/// What to do if a model's weights differ from those that the adapter was trained with.
enum class BaseMismatch {
  warn,   ///< adds a warning to the model
  refuse  ///< throws a `UserError`: for evaluating both together
};

/// Applies an adapter to a model, which messages call `base`. Throws `UserError` if it does not fit the model.
void apply_adapter(const AdapterFolder& adapter, Model& model, const std::string& base,
                   const Session& session, BaseMismatch other = BaseMismatch::warn);

/// Opens the model `base` (as in `open_model`) with the adapter in a folder, or without one if `adapter` is empty. The
/// adapter's head and labels replace the model's, if it has any. Throws `UserError` like `open_model`, `read_adapter`
/// and `apply_adapter`.
TextModel open_with_adapter(const std::string& base, const fs::path& adapter, Context& context,
                            std::uint64_t seed, BaseMismatch other = BaseMismatch::warn);

/// Parses options of `insert_lora`: "r=8,alpha=16,dropout=0.1,target=query". `modules_to_save` defaults to the model's
/// head, as in PEFT, and the seed to `seed`. Throws `UserError` like `parse_pass`, and if randomly initialized weights
/// would not be saved in any file.
LoraOptions adapter_options(std::string_view text, std::uint64_t seed, const Model& model,
                            const Library& library);

/// Runs `insert_lora` on a model and records it in the history. In a packed model, weights that are trained directly
/// are unpacked first. Adds a warning if the factor is 0. Throws `UserError` like that pass.
void insert_adapters(Model& model, const LoraOptions& options, const Session& session);

/// The origin of an adapter.
struct AdapterOrigin {
  LoraOptions options;
  std::string base;              ///< name of the model that it was trained with
  std::string base_fingerprint;  ///< of the frozen parameters
};
AdapterOrigin adapter_origin(const Model& adapted, const LoraOptions& options,
                             const std::string& base, const Session& session);

/// Writes the trained parameters of a model with adapters, and its other files, into an existing folder. Throws
/// `UserError` for weights that are NaN or infinite.
void write_adapter(const TextModel& adapted, const AdapterOrigin& origin, const fs::path& folder);

/// The sizes of the trained and frozen parts of a model with adapters.
struct AdapterSize {
  std::int64_t linear_layers = 0;  ///< with adapters
  std::int64_t trained = 0;        ///< parameters, including modules that are trained directly
  std::int64_t parameters = 0;     ///< all, including the base's
  std::int64_t base_bytes = 0;     ///< of frozen parameters, in memory
  std::optional<std::int64_t> disk_bytes = {};  ///< of trained parameters
};
/// `folder`: the adapter's folder; empty if it was not written.
AdapterSize adapter_size(const Model& adapted, const fs::path& folder);
/// "Trained: 29,964 of 4,416,142 parameters (0.7%), adapters of 14 linears; 121.45 KiB on disk, beside the base's 16.73 MiB."
std::string to_text(const AdapterSize& size);
const Fields& fields_of(const AdapterSize*);

/// Returns the size of the base in `folder` with the adapter in the folder `adapter`, as the sum of both files. Same as
/// `model_size` if `adapter` is empty.
ModelSize size_with_adapter(const Model& adapted, const fs::path& folder, const fs::path& adapter);

/// "my-model with my-adapter", or only the name of the model.
std::string name_with_adapter(const std::string& model, const std::string& adapter);

}  // namespace hone
