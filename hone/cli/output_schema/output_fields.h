#pragma once

#include <vector>

#include "hone/cli/output_schema/output_schema.h"

/// The table of the schema in its parts, a file each: documents, which commands print and files hold, and fragments, which documents
/// share.
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

inline constexpr std::string_view kOneSeed = "of one seed";
inline constexpr std::string_view kManySeeds = "with --seeds above 1, or of folders made so";

}  // namespace hone
