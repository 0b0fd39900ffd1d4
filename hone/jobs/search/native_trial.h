#pragma once

#include "hone/jobs/allocation/best_allocation.h"
#include "hone/jobs/compress.h"
#include "hone/jobs/search/recipe_sections.h"
#include "hone/models/encoding.h"

/// The [native] section of searches: packed models whose products are of codes.
namespace hone {

/// What linears and tables of a trial's model take, and what was allocated to reach that.
struct NativeTrial {
  QuantizationPlan plan;
  Json allocated =
      {};  ///< how much linears chose by their damage was predicted to do; null: nothing chose
};

/// Inputs take the format with which products are of codes. `texts`, `training`, `alone`, and errors: as `best_allocation` has them
/// (jobs/allocation/best_allocation.h).
NativeTrial native_trial(const Model& model, const NativeSection& native,
                         const AllocationTexts& texts, const EncodedSet& training,
                         AloneDivergences* alone, Context& context);

}  // namespace hone
