#pragma once

#include <string_view>

/// The targets of the fuzzers: one function per parser of untrusted files, which takes the bytes of such a file.
///
/// A target returns or throws `UserError`. Anything else is a finding: another exception, a failed assertion, an error
/// that a sanitizer reports. In addition to parsing, a target asserts properties of the result. tests/fuzz runs all of
/// them over the seeds and past findings in fuzz/seeds.
namespace hone::fuzz {

/// adapter_config.json, base.json and adapter_model.safetensors, separated by zero bytes: reads the adapter, and, if it
/// fits a small model, applies it and runs the model.
void adapter(std::string_view bytes);
/// Zip archives: the directory, and every entry unpacked.
void archive(std::string_view bytes);
/// Arrow streams and files: all columns that can be read.
void arrow(std::string_view bytes);
/// config.json of the architecture that it names, which must survive being written, and the keys that this program
/// adds.
void config(std::string_view bytes);
/// Delimited text, whose records must survive being written, and its tables in several forms.
void csv(std::string_view bytes);
/// README.md of a dataset, and the globs in it.
void dataset_card(std::string_view bytes);
/// graph.hone, which must survive being written.
void graph_file(std::string_view bytes);
/// Graphs as text, which must survive printing.
void graph_text(std::string_view bytes);
/// preprocessor_config.json, which must survive being written.
void image_processor(std::string_view bytes);
/// Tables of JSON in all layouts.
void json_table(std::string_view bytes);
/// graph.hone and, after a zero byte, parameters.safetensors with packed weights: the values of all codes, and products
/// and rows of them by every kernel that accepts them.
void packed(std::string_view bytes);
/// Parquet files: all columns that can be read.
void parquet(std::string_view bytes);
/// PNG and JPEG, prepared as a model's input.
void picture(std::string_view bytes);
/// model.safetensors.
void safetensors(std::string_view bytes);
/// Bytes in several encodings, converted to UTF-8.
void text_encoding(std::string_view bytes);
/// The files of sentence-transformers, as an object of their contents by name.
void sentence_modules(std::string_view bytes);
/// tokenizer.json, or vocab.txt if the bytes do not begin with '{'. After zero bytes follow tokenizer_config.json,
/// merges.txt (the first file is then vocab.json), special_tokens_map.json and added_tokens.json.
void tokenizer(std::string_view bytes);
/// pytorch_model.bin in both layouts.
void torch_file(std::string_view bytes);
/// One pickle.
void unpickler(std::string_view bytes);

struct Target {
  std::string_view name;
  void (*run)(std::string_view bytes);
};
inline constexpr Target kTargets[] = {
    {"adapter", adapter},
    {"archive", archive},
    {"arrow", arrow},
    {"config", config},
    {"csv", csv},
    {"dataset_card", dataset_card},
    {"graph_file", graph_file},
    {"graph_text", graph_text},
    {"image_processor", image_processor},
    {"json_table", json_table},
    {"packed", packed},
    {"parquet", parquet},
    {"picture", picture},
    {"safetensors", safetensors},
    {"sentence_modules", sentence_modules},
    {"text_encoding", text_encoding},
    {"tokenizer", tokenizer},
    {"torch_file", torch_file},
    {"unpickler", unpickler},
};

}  // namespace hone::fuzz
