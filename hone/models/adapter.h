#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "hone/base/fields.h"
#include "hone/models/adapter_folder.h"
#include "hone/models/model_size.h"
#include "hone/models/model_source.h"
#include "hone/passes/lora.h"

/// Low-rank adapters (passes/lora.h) of models: put on, trained, written.
///
///     TextModel model = open_with_adapter("my-model", "my-adapter", context, /*seed=*/42);
namespace hone {

/// What is done where a model has other weights than the adapter was trained beside.
enum class OtherBase {
  is_told,    ///< by the model's warnings
  is_refused  ///< a `UserError`: where both together are to be judged
};

/// Puts it on a model, which is called `base` where something is said of it. Throws `UserError` for what does not fit the
/// model.
void put_on(const AdapterFolder& adapter, Model& model, const std::string& base,
            const Session& session, OtherBase other = OtherBase::is_told);

/// The model called `base` (as `open_model` takes it) with the adapter of a folder; without one, where that is empty. Its head
/// and its labels are the adapter's, where that has any. Throws `UserError` as `open_model`, `read_adapter` and `put_on`.
TextModel open_with_adapter(const std::string& base, const fs::path& adapter, Context& context,
                            std::uint64_t seed, OtherBase other = OtherBase::is_told);

/// Options of `insert_lora` as text: "r=8,alpha=16,dropout=0.1,target=query". Where they do not name `modules_to_save`, these
/// are the model's head, as in PEFT, and where they do not name a seed, it is `seed`. Throws `UserError` as `parse_pass`, and where weights that were just drawn at random would
/// be in no file.
LoraOptions adapter_options(std::string_view text, std::uint64_t seed, const Model& model,
                            const Library& library);

/// Runs `insert_lora` over a model for good. Of a packed one the weights that are trained themselves are unpacked first. The
/// model gets a warning where the factor is 0. Throws `UserError` as that pass.
void insert_adapters(Model& model, const LoraOptions& options, const Session& session);

/// Where an adapter comes from.
struct AdapterOrigin {
  LoraOptions options;
  std::string base;              ///< the name of the model that it was put on
  std::string base_fingerprint;  ///< of the parameters that stay as they are
};
AdapterOrigin adapter_origin(const Model& adapted, const LoraOptions& options,
                             const std::string& base, const Session& session);

/// Writes what is trained of a model with adapters, and what stands beside its weights, into an existing folder. Throws
/// `UserError` for weights that are NaN or infinite.
void write_adapter(const TextModel& adapted, const AdapterOrigin& origin, const fs::path& folder);

/// What is trained of a model with adapters, and what is not.
struct AdapterSize {
  std::int64_t linear_layers = 0;  ///< that have adapters
  std::int64_t trained = 0;        ///< parameters, modules that are trained themselves included
  std::int64_t parameters = 0;     ///< all of them, the base included
  std::int64_t base_bytes = 0;     ///< of what is not trained, in memory
  std::optional<std::int64_t> disk_bytes = {};  ///< of what is trained
};
/// `folder`: where it was written to; empty: nowhere.
AdapterSize adapter_size(const Model& adapted, const fs::path& folder);
/// "Trained: 29,964 of 4,416,142 parameters (0.7%), adapters of 14 linears; 121.45 KiB on disk, beside the base's 16.73 MiB."
std::string to_text(const AdapterSize& size);
const Fields& fields_of(const AdapterSize*);

/// What a base in `folder` takes with the adapter that lies in `adapter` on it: the files of both. Without one, where that is
/// empty, as `model_size`.
ModelSize size_with_adapter(const Model& adapted, const fs::path& folder, const fs::path& adapter);

/// "my-model with my-adapter", or the name of the model alone.
std::string name_with_adapter(const std::string& model, const std::string& adapter);

}  // namespace hone
