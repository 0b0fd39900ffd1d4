#pragma once

#include <string_view>

/// What the fuzzers run: one function per parser of strangers' files, over the bytes of such a file.
///
/// A target returns or throws `UserError`. Anything else is a finding: another exception, a broken
/// assertion, what a sanitizer sees. Beside parsing, a target asserts what must hold of the result.
/// tests/fuzz runs all of them over the seeds and past findings in fuzz/seeds.
namespace hone::fuzz {

/// adapter_config.json and, behind a zero byte, base.json and, behind another, adapter_model.safetensors: the adapter, and
/// where it fits, on a small model, which computes with it.
void adapter(std::string_view bytes);
/// Zip archives: the directory, and every entry unpacked.
void archive(std::string_view bytes);
/// Arrow streams and files: all columns that can be read.
void arrow(std::string_view bytes);
/// config.json as that of the architecture it names, which survives being written, and what this program adds to it.
void config(std::string_view bytes);
/// Delimited text, whose records survive being written, and tables of it in several forms.
void csv(std::string_view bytes);
/// README.md of a dataset, and the globs in it.
void dataset_card(std::string_view bytes);
/// graph.hone, which survives being written.
void graph_file(std::string_view bytes);
/// Graphs as text, which survive printing.
void graph_text(std::string_view bytes);
/// preprocessor_config.json, which survives being written.
void image_processor(std::string_view bytes);
/// Tables of JSON in all layouts.
void json_table(std::string_view bytes);
/// graph.hone and, behind a zero byte, parameters.safetensors of packed weights: the values of all codes, and products and
/// rows of them by every kernel that takes them.
void packed(std::string_view bytes);
/// Parquet files: all columns that can be read.
void parquet(std::string_view bytes);
/// PNG and JPEG, made into what a model reads.
void picture(std::string_view bytes);
/// model.safetensors.
void safetensors(std::string_view bytes);
/// Bytes in several encodings, which become UTF-8.
void text_encoding(std::string_view bytes);
/// The files of sentence-transformers, as an object of their contents by name.
void sentence_modules(std::string_view bytes);
/// tokenizer.json, or vocab.txt where the bytes do not begin with '{'; behind zero bytes
/// tokenizer_config.json, merges.txt (the first is vocab.json then), special_tokens_map.json and
/// added_tokens.json.
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
