#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "hone/cuda/launch.h"
#include "hone/cuda/source/packed_weight.cuh"
#include "hone/formats/packing.h"

/// What kernels are told of packed weights.
namespace hone::cuda {

/// A packed weight but for where it lies, and the program that decodes it; or why there is none.
struct PackedPlan {
  std::string_view objection = {};
  PackedWeight weight = {};
  PackedTables tables = {};
  CodeUnits units = {};
  int bits = 0;
  bool adds = false;
  Program decoder = {};
};

/// By the attributes `format`, `shape` and `arrangement`.
PackedPlan packed_plan(const Attributes& attributes);

/// The weight whose codes are the input `codes`, its states those from `states` on.
PackedWeight weight_in(const Call& call, const PackedPlan& plan, std::size_t codes,
                       std::size_t states);

/// The macro by which programs are told what follows a product: an activation's name, or "none".
std::string activation_definition(const std::string& activation);

/// Calls body(what kPlan makes of the attributes), made before or for this call alone.
template <typename Plan, Plan (*kPlan)(const Attributes&), typename Body>
void with_plan(const Call& call, Body&& body) {
  if (call.prepared != nullptr) return body(*static_cast<const Plan*>(call.prepared));
  body(kPlan(call.attributes));
}
/// For `Kernel::prepare`.
template <typename Plan, Plan (*kPlan)(const Attributes&)>
std::shared_ptr<const void> plan_once(const Call& call) {
  return std::make_shared<Plan>(kPlan(call.attributes));
}

}  // namespace hone::cuda
