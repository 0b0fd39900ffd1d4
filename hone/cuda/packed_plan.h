#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "hone/cuda/launch.h"
#include "hone/cuda/source/packed_weight.cuh"
#include "hone/formats/packing.h"

/// Kernel arguments for packed weights.
namespace hone::cuda {

/// A packed weight without its addresses, and the program that decodes it; or why no kernel supports it.
struct PackedPlan {
  std::string_view objection = {};
  PackedWeight weight = {};
  PackedTables tables = {};
  CodeUnits units = {};
  int bits = 0;
  bool adds = false;
  Program decoder = {};
};

/// Returns the plan for the attributes `format`, `shape` and `arrangement`.
PackedPlan packed_plan(const Attributes& attributes);

/// Returns the weight whose codes and shared scales are the inputs `codes` and `codes + 1`, and whose states begin at
/// `states`.
PackedWeight weight_in(const Call& call, const PackedPlan& plan, std::size_t codes,
                       std::size_t states);

/// Returns the macro definition for the activation after a product: its name, or "none".
std::string activation_definition(const std::string& activation);

/// Calls body(plan) with the prepared plan, or else with kPlan(attributes).
template <typename Plan, Plan (*kPlan)(const Attributes&), typename Body>
void with_plan(const Call& call, Body&& body) {
  if (call.prepared != nullptr) return body(*static_cast<const Plan*>(call.prepared));
  body(kPlan(call.attributes));
}
/// Prepares the plan of a node, for `Kernel::prepare`.
template <typename Plan, Plan (*kPlan)(const Attributes&)>
std::shared_ptr<const void> plan_once(const Call& call) {
  return std::make_shared<Plan>(kPlan(call.attributes));
}

}  // namespace hone::cuda
