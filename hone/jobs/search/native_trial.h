#pragma once

#include "hone/jobs/allocation/best_allocation.h"
#include "hone/jobs/compress.h"
#include "hone/jobs/search/recipe_sections.h"
#include "hone/models/encoding.h"

/// The [native] section of searches: packed models with native products.
namespace hone {

/// The formats of the linears and embedding tables of a trial.
struct NativeTrial {
  QuantizationPlan plan;
  Json allocated =
      {};  ///< allocated formats of the linears, and the predicted divergence; null: none allocated
};

/// Returns the formats by the section; inputs get the format that native products need. For `texts`, `training`,
/// `layer_divergences` and errors see `best_allocation` (jobs/allocation/best_allocation.h).
NativeTrial native_trial(const Model& model, const NativeSection& native,
                         const AllocationTexts& texts, const EncodedSet& training,
                         LayerDivergences* layer_divergences, Context& context);

}  // namespace hone
