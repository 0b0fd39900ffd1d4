#pragma once

#include <vector>

#include "hone/cli/output_schema/output_schema.h"

/// The table of the schema in its parts, a file each: documents, which are what commands print and files hold, and fragments, which stand in
/// them. Rows that several parts need stand here.
namespace hone {

/// What a result is about, what was measured, what it is compared with.
std::vector<Fragment> fragments_of_figures();
/// What labs find.
std::vector<Fragment> fragments_of_labs();
/// Trainings, measurements, and what models say.
std::vector<SchemaDocument> documents_of_models();
std::vector<Fragment> fragments_of_models();
/// What makes models smaller.
std::vector<SchemaDocument> documents_of_compression();
std::vector<Fragment> fragments_of_compression();
/// Number formats, what they make of models and who takes which.
std::vector<SchemaDocument> documents_of_formats();
std::vector<Fragment> fragments_of_formats();
/// What is looked at, drawn and timed.
std::vector<SchemaDocument> documents_of_analyses();
std::vector<Fragment> fragments_of_analyses();
/// Studies, searches, allocation and shrinking.
std::vector<SchemaDocument> documents_of_searches();
std::vector<Fragment> fragments_of_searches();
/// Pipelines, output folders and the program itself.
std::vector<SchemaDocument> documents_of_runs();
std::vector<Fragment> fragments_of_runs();

inline constexpr Field kModel = {"model", "text", "the model as it was named"};
inline constexpr Field kArithmetic = {"arithmetic", "fp32|bf16|fp16|simulated|packed|native",
                                      "bf16, fp16: values are, sums are fp32; simulated: values "
                                      "are rounded, sums are in fp32; packed: "
                                      "weights are kept in their codes, too; native: and products "
                                      "are of codes"};
inline constexpr Field kWeightBits = {
    "average_weight_bits", "bits",
    "of the weights of linears and convolutions, shared scales included; 32 where one has no "
    "format"};
inline constexpr Field kSeeds = {"seeds", "seeds", "on which the figures stand"};
inline constexpr Field kProtocol = {
    "protocol", "honest|original",
    "honest: choices are made on the validation part; original: on the test part"};
inline constexpr Field kMethod = {"method", "ptq|qat",
                                  "rounded after training, or trained through the quantizers"};

inline constexpr std::string_view kOneSeed = "of one seed";
inline constexpr std::string_view kManySeeds = "with --seeds above 1, or of folders made so";
inline constexpr Field kResult = {"", "result"};
inline constexpr Field kSubject = {"", "subject"};
inline constexpr Field kSpreads = {"", "seed_spreads"};
inline constexpr Field kLayerFormat = {"format", "text", "of the layers"};
inline constexpr Field kFormat = {"format", "text", "with its parameters"};
inline constexpr Field kSize = {"size", "size", "what the weights take"};
inline constexpr Field kAdapter = {"adapter", "text", "put on the model, as it was named",
                                   "with --adapter"};
inline constexpr Field kClassWeights = {"class_weights", "number{}", "of each class in the loss",
                                        "with --class_weights"};
inline constexpr Field kDistill = {"distill", "distillation",
                                   "what was learnt from beside the labels", "with --distill"};
inline constexpr Field kGate = {"gate", "gate", "whether the gates hold",
                                "with --max_drop or --gate"};
inline constexpr Field kLostClasses = {"lost_classes", "lost_class[]",
                                       "classes, or labels, whose recall fell significantly",
                                       "where there are any"};
inline constexpr Field kDevice = {"device", "text",
                                  "that ran it, with what results on it depend on"};
inline constexpr Field kThreads = {"threads", "integer", "that were used"};
inline constexpr Field kSeed = {"seed", "integer", "its seed"};
inline constexpr Field kLayer = {"layer", "text", "name of the layer"};
inline constexpr Field kShape = {"shape", "integer[]", "its sizes"};

/// The same row, there where `presence` says.
constexpr Field where(Field field, std::string_view presence) {
  field.presence = presence;
  return field;
}

}  // namespace hone
