#pragma once

#include <vector>

#include "hone/cli/output_schema.h"

/// The table of the schema in its parts: output_documents.cpp has what commands print and files hold, output_figures.cpp
/// the figures in them, output_rows.cpp the rows of their lists, output_labs.cpp what labs
/// find. Rows that several of them need stand here.
namespace hone {

/// Fragments that stand in many documents: what a result is about, what was measured, what it is compared with.
std::vector<Fragment> figure_fragments();

/// Fragments that are the rows of one list.
std::vector<Fragment> row_fragments();

/// Fragments of what labs find.
std::vector<Fragment> lab_fragments();

inline constexpr Field kModel = {"model", "text", "the model as it was named"};
inline constexpr Field kArithmetic = {"arithmetic", "fp32|simulated|packed|native",
                                      "simulated: values are rounded, sums are in fp32; packed: "
                                      "weights are kept in their codes, too; native: and products "
                                      "are of codes"};
inline constexpr Field kWeightBits = {
    "average_weight_bits", "bits",
    "per quantized weight, shared scales included, those in full precision left out; 32: none is "
    "quantized"};
inline constexpr Field kSeeds = {"seeds", "seeds", "on which the figures stand"};
inline constexpr Field kProtocol = {
    "protocol", "honest|original",
    "honest: choices are made on the validation part; original: on the test part"};
inline constexpr Field kMethod = {"method", "ptq|qat",
                                  "rounded after training, or trained through the quantizers"};

/// The same row, there where `presence` says.
constexpr Field where(Field field, std::string_view presence) {
  field.presence = presence;
  return field;
}

}  // namespace hone
