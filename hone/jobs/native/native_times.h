#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/base/fields.h"
#include "hone/data/encoded_set.h"
#include "hone/formats/plan.h"
#include "hone/frontends/huggingface/model.h"
#include "hone/jobs/model_times.h"
#include "hone/jobs/times_in_turn.h"
#include "hone/runtime/context.h"

/// How fast the layers of a native model are beside those of the fp32 model it was made of, to say which are worth it.
namespace hone {

/// In which each kind of product is timed: they are short, and what a busy machine does to some rounds must not decide.
inline constexpr std::int64_t kProductRounds = 30;

/// The layers whose product is of one kind and shape, each alone: rounding of its input and product against that of fp32.
struct ProductTimes {
  std::vector<std::string> layers;
  std::int64_t rows = 0;  ///< of the input, in the batch that was timed
  std::int64_t inputs = 0, outputs = 0;
  std::optional<TimesInTurn> times = {};  ///< nothing: this version has no native kernel for it
};
/// Whether products of codes exist for so many outputs: packed weights lie in panels of `kernels::kPackedRows`.
bool has_native_panels(std::int64_t outputs);
/// Why there is no native product of such a layer, a clause: "layers of fewer than 16 outputs have no native kernel, and it has 3".
std::string no_native_product(std::int64_t outputs, std::int64_t inputs);
const Fields& fields_of(const ProductTimes*);

/// Of the layers of `plan` whose inputs have a format. `native` is `model` with the plan's formats, packed. Inputs are drawn at
/// random. Throws `Interrupted`.
std::vector<ProductTimes> time_products(const Model& model, const Model& native,
                                        const QuantizationPlan& plan, const BatchSize& batch,
                                        Context& context);

/// Milliseconds of each of `layers` alone in each of `models`, which are one model in several formats, packed: (layers, models). The median
/// over rounds in which all take turns; of layers that read alike the first tells of all. Inputs are drawn at random. Throws `Interrupted`.
std::vector<std::vector<double>> time_layers(const std::vector<Model>& models,
                                             const std::vector<std::string>& layers,
                                             const BatchSize& batch, Context& context);

/// Milliseconds of all of `set` in one batch: the median over rounds. Throws `Interrupted`.
double median_batch_ms(const Model& model, const EncodedSet& set, Context& context);

}  // namespace hone
