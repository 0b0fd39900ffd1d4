#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/base/fields.h"
#include "hone/data/encoded_set.h"
#include "hone/formats/plan.h"
#include "hone/frontends/huggingface/model.h"
#include "hone/jobs/model_times.h"
#include "hone/jobs/paired_times.h"
#include "hone/runtime/context.h"

/// Timings of single layers, native against fp32, to decide which to convert.
namespace hone {

/// Rounds for each kind of product. Products are short, and some slow rounds on a busy machine must not decide.
inline constexpr std::int64_t kProductRounds = 30;

/// Timings of a kind and shape of product that several layers share: native, input rounding included, against fp32.
struct ProductTimes {
  std::vector<std::string> layers;
  std::int64_t rows = 0;  ///< of the input, in the timed batch
  std::int64_t inputs = 0, outputs = 0;
  std::optional<TimesInTurn> times = {};  ///< none: no native kernel supports it
};
/// Returns whether native kernels support this many outputs: packed weights are stored in panels of
/// `kernels::kPackedRows`.
bool has_native_panels(std::int64_t outputs);
/// Explains why a layer has no native product: "layers of fewer than 16 outputs have no native kernel, and it has 3".
std::string no_native_product(std::int64_t outputs, std::int64_t inputs);
const Fields& fields_of(const ProductTimes*);

/// Times the layers of `plan` whose inputs have a format. `native` is `model` with the plan's formats, packed. Inputs
/// are random. Throws `Interrupted`.
std::vector<ProductTimes> time_products(const Model& model, const Model& native,
                                        const QuantizationPlan& plan, const BatchSize& batch,
                                        Context& context);

/// Times each of `layers` alone in each of `models`, packed versions of one model. Returns milliseconds, (layers,
/// models): medians over rounds in which all take turns. Layers of the same kind and shape are timed once. Inputs are
/// random. Throws `Interrupted`.
std::vector<std::vector<double>> time_layers(const std::vector<Model>& models,
                                             const std::vector<std::string>& layers,
                                             const BatchSize& batch, Context& context);

/// Returns the milliseconds for all of `set` in one batch, the median over rounds. Throws `Interrupted`.
double median_batch_ms(const Model& model, const EncodedSet& set, Context& context);

}  // namespace hone
