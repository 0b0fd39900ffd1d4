#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "hone/base/text.h"
#include "hone/onnx/onnx_runtime.h"
#include "hone/search/storage/storage.h"
#include "tests/cli/json_schema.h"
#include "tests/cli/run_hone.h"
#include "tests/support/expect.h"
#include "tests/support/test_data.h"

// Tests that JSON output follows the published schemas.
namespace hone::testing {
namespace {

Json schema_of(const std::string& document) {
  static std::map<std::string, Json> schemas;
  const auto [found, is_new] = schemas.try_emplace(document);
  if (is_new)
    found->second =
        parse_json(run_well({"schema", document}, fs::temp_directory_path()).output, document);
  return found->second;
}

std::set<std::string> document_names() {
  const Json all = run_json({"schema"}, fs::temp_directory_path())["documents"];
  std::set<std::string> names;
  for (const Json& row : all) names.insert(row["document"]);
  EXPECT_FALSE(names.empty());
  return names;
}

// Expects a line of JSON to be valid by the schema of a command or another document.
void expect_valid(const Json& value, const std::string& document) {
  const std::vector<std::string> problems = schema_problems(value, schema_of(document));
  EXPECT_TRUE(problems.empty()) << document << ":\n"
                                << fmt::format("{}", fmt::join(problems, "\n"));
}

/// A command line, and the folder in which it writes results.json, if any.
struct SchemaRun {
  std::string line;
  std::string folder = {};
};

// Together these commands print every key and form of every document. The ones whose output others read come first.
std::vector<SchemaRun> runs_of_classes() {
  return {
      {"train model --data reviews.csv --max_steps 30 --lr 1e-3 --batch_size 4 -o learnt",
       "learnt"},
      {"quantize learnt --format integer(width=4,frac=3) --data reviews.csv --explain --max_drop "
       "100 -o coarse",
       "coarse"},
      {"train small.json --data synth:lookup?n=300&test=60 --max_steps 2 --logging_steps 1 "
       "--eval_steps 1 -o "
       "trained",
       "trained"},
      {"train small.json --data synth:lookup?n=300&test=60 --max_steps 2 --logging_steps 1 "
       "--eval_steps 1 -o "
       "trained --resume"},
      {"train small.json --data synth:lookup?n=300&test=60 --max_steps 1 --protocol original -o "
       "original",
       "original"},
      {"train small.json --data topics.csv --max_steps 1 --class_weights balanced -o topics",
       "topics"},
      {"train small.json --data reviews.csv --max_steps 1 --validation_split 0 -o unmeasured",
       "unmeasured"},
      {"train small.json --data synth:lookup?n=300&test=60 --vocab_size 60 --max_steps 1 --seeds 5 "
       "--class_weights balanced -o seeds",
       "seeds"},
      {"train model --lora r=2 --data reviews.csv --max_steps 1 -o adapter", "adapter"},
      {"train model --lora r=2 --data reviews.csv --max_steps 1 --seeds 2 -o adapters", "adapters"},
      {"train small.json --distill model --data reviews.csv --max_steps 1 -o learner", "learner"},
      {"train small.json --distill model --data reviews.csv --max_steps 1 --seeds 2 -o learners",
       "learners"},
      {"compare model model --adapter_a adapter --adapter_b adapter --data reviews.csv"},
      {"lora merge model --adapter adapter -o merged", "merged"},
      {"lora merge model --adapter adapter --data reviews.csv -o merged_measured",
       "merged_measured"},
      {"eval model --adapter adapter --data reviews.csv"},
      {"bench model --adapter adapter --batch_size 2 --tokens 8 --runs 1"},
      {"profile model --adapter adapter --batch_size 2 --tokens 8 --runs 1"},
      {"eval model --data reviews.csv -o measured", "measured"},
      {"eval coarse --data reviews.csv --split all"},
      {"eval learnt --data reviews.csv --split all -o measured_all", "measured_all"},
      {"eval topics --data topics.csv"},
      {"eval topics --data topics.csv --precision bf16"},
      {"eval model --data good.csv"},
      {"eval model --data good.csv --precision bf16"},
      {"compare learnt coarse --data reviews.csv --split all --max_drop 100 --gate "
       "f1_macro>=-100 -o compared",
       "compared"},
      {"compare seeds seeds --data synth:lookup?n=300&test=60 --gate recall(positive)>=-100"},
      {"predict model --data reviews.csv"},
      {"predict model dull --text_pair fine"},
      {"predict model --data reviews.csv --fields "
       "id,text,label,score,gold,cut,labels,probabilities,logits,input_ids"},
      {"predict model dull --text_pair fine --fields text_pair"},
      {"predict model --data reviews.csv --embed"},
      {"predict model --data goo*.csv --embed"},
      {"predict model dull --text_pair fine --embed"},
      {"predict model --data goo*.csv --embed --fields id,file,text,gold,cut,input_ids,embedding"},
      {"predict model dull --text_pair fine --embed --fields text_pair,embedding"},
      {"predict model --data goo*.csv"},
      {"predict model --data goo*.csv --fields file"},
      {"quantize model --weight_format int(bits=4) --data reviews.csv -o weights", "weights"},
      {"quantize unmeasured --format integer(width=4,frac=3) --split train --validation_split 0 "
       "--explain --data reviews.csv -o unchosen",
       "unchosen"},
      {"quantize model --format integer(width=8,frac=4) --qat --max_steps 1 --class_weights "
       "balanced --distill model --data reviews.csv -o trained_quantized",
       "trained_quantized"},
      {"quantize model --format integer(width=8,frac=4) --qat --max_steps 1 --seeds 2 --explain "
       "--max_drop 0.5 --class_weights balanced --distill model --data reviews.csv -o qat",
       "qat"},
      {"compare qat qat --data reviews.csv --max_drop 0"},
      {"compare learnt learnt --data leaked --max_drop 5"},
      {"quantize learnt --native int(bits=8) --static --keep_slower --max_drop 100 --data parts "
       "-o native",
       "native"},
      {"formats"},
      {"formats int(bits=4,scale=learned)"},
      {"formats bf16 0.3 inf -7"},
      {"formats int(bits=4) 0.3 1.7"},
      {"formats int(bits=4) --input model/model.safetensors --tensor *LayerNorm*"},
      {"compare-formats model --candidate bf16 --candidate ternary/none --data reviews.csv -o "
       "formats",
       "formats"},
      {"compare-formats trained --candidate bf16 --data synth:lookup?n=300&test=60 -o fine_formats",
       "fine_formats"},
      {"compare-formats tiny --candidate integer(width=24,frac=14) --data synth:lookup?n=2000 "
       "--validation_split 0.9 --max_seq_length 16 --calibration_batches 1"},
      {"suggest model --format int(bits=4) --data reviews.csv"},
      {"pass model remove_dropout -o calm", "calm"},
      {"pass learnt fuse_attention --data reviews.csv -o fused", "fused"},
      {fmt::format("pass model count_dropouts --plugin {}/dropout_passes.so", HONE_PLUGINS)},
      {"trim model --keep_tokens 42 --max_drop 100 --data reviews.csv -o trimmed", "trimmed"},
      {"prune model --structure heads,neurons,layers --max_steps 1 --max_drop 100 --data "
       "reviews.csv "
       "-o smaller",
       "smaller"},
      {"passes"},
      {"passes quantize"},
      {"plan model --format integer(width=8,frac=4)"},
      {"widths model --widths 8.4 --max_steps 1 --data reviews.csv -o widths", "widths"},
      {"widths trained --widths 32.16 --max_steps 1 --data synth:lookup?n=300&test=60 -o wide",
       "wide"},
      {"prune model --sparsity 0.5 --activation_sparsity 0.2 --calibration_batches 1 --max_steps 2 "
       "--schedule cubic --max_drop 100 --data reviews.csv -o pruned",
       "pruned"},
      {"prune model --sparsity 0.5 --method random --seeds 2 --max_drop 100 --data reviews.csv -o "
       "pruned_seeds",
       "pruned_seeds"},
      {"prune model --structure neurons --seeds 2 --max_steps 1 --data reviews.csv -o narrow_seeds",
       "narrow_seeds"},
      {"prune trained_quantized --structure 2:4 --data reviews.csv -o pruned_quantized",
       "pruned_quantized"},
      {"sparsities model --sparsities 0.2 --max_steps 1 --data reviews.csv -o sparsities",
       "sparsities"},
      {"sensitivity model --formats int(bits=8),bf16 --data reviews.csv -o sensitivity",
       "sensitivity"},
      {"statistics model --data reviews.csv -o statistics", "statistics"},
      {"shrink model --only trim,quantize --max_drop 99 --max_evaluations 2 --data reviews.csv -o "
       "shrunk",
       "shrunk"},
      {"shrink model --only quantize --loadable transformers --max_drop 99 --max_evaluations 1 "
       "--data "
       "reviews.csv -o shrunk_loadable",
       "shrunk_loadable"},
      {"shrink model --only trim,quantize --budget 0.001s --data strange -o unshrunk", "unshrunk"},
      {"allocate model --formats int(bits=8),int(bits=2) --budget average_bits<=6,latency_ms<=1000 "
       "--no_cache --candidates 3 "
       "--swaps 1 --data reviews.csv -o allocated",
       "allocated"},
      {"choose model learnt --smallest --data reviews.csv -o chosen", "chosen"},
      {"run chain.toml --dry_run"},
      {"run chain.toml -o chain", "chain"},
      {"cache"},
      {"inspect model"},
      {"inspect model --freeze * --no_graph"},
      {"inspect images.json"},
      {"draw model -o graph.dot"},
      {"diff model tiny --inputs_b input_ids -o both.dot --csv both.csv"},
      {"tokenize model --data reviews.csv --examples 1"},
      {"tokenize tiny --data reviews.csv --text_pair_column label --examples 1"},
      {"bench model --batch_size 2 --tokens 8 --runs 1 --profile"},
      {"bench model --batch_size 2 --tokens 8 --runs 1 --qat int(bits=8)"},
      {"bench model --batch_size 2 --tokens 8 --iterations 30 --processes 1"},
      {"bench model --adapter adapter --batch_size 2 --tokens 8 --iterations 3 --process warm"},
      {"bench model --batch_size 2 --tokens 8 --pitfalls --iterations 6"},
      {"bench model --batch_size 2 --tokens 8 --pitfalls --iterations 6 --format bf16"},
      {"bench model --adapter adapter --batch_size 2 --tokens 8 --pitfalls --iterations 6"},
      {"bench model coarse --batch_size 2 --tokens 8 --runs 6"},
      {"kernels"},
      {"kernels model"},
      {fmt::format("kernels model --train --plugin {}/cpu_gelu.so", HONE_PLUGINS)},
      {"profile model --batch_size 2 --tokens 8 --runs 1 --train"},
      {"compile model --batch_size 2 --tokens 8"},
      {"compile model --batch_size 2 --tokens 8 --train --explain --runs 6 --stages stages"},
      {"profile model --batch_size 2 --tokens 8 --runs 1 --native bf16"},
      {"profile model --batch_size 2 --tokens 8 --runs 1 --by node --native int(bits=8,per=row) -o "
       "profiled",
       "profiled"},
      {"bench model --batch_size 2 --tokens 8 --runs 1 --native int(bits=8,per=row)"},
      {"bench model --batch_size 2 --tokens 8 --runs 1 --native bf16"},
      {"search model --data reviews.csv --recipe space.toml --storage studies.db --trials 2 "
       "--concurrency 2 -o searched",
       "searched"},
      {"search model --data reviews.csv --recipe space.toml --storage studies.db --trials 2 "
       "--join"},
      {"search model --data reviews.csv --recipe space.toml --trials 1 --gate accuracy>=90 -o "
       "excluded",
       "excluded"},
      {"study studies.db search"},
      {"study studies.db search search"},
      {"watch studies.db search --last 1 --idle 0.1"},
      {"bench attention --shape 2,2,5,8 --runs 2 --profile"},
      {"bench linear --shape 2,64,32 --runs 6"},
      {"bench linear --shape 512,512 --rows 16 --runs 6 --sparsity 0.5,0.95"},
      {"bench dequantize --elements 1000,4096 --group 40 --runs 2"},
      {"doctor"},
      {"convert model -o converted"},
      {"export model --adapter adapter -o exported", "exported"},
      {"pack model --weight_format mxint(bits=8) -o packed"},
      {"inspect packed --verify --no_graph"},
      {"export packed --to compressed-tensors -o coded", "coded"},
      {"pack model --weight_format int(bits=8,per=row,scale=dynamic) --input_format "
       "int(bits=8,per=token) -o packed_int8"},
      {"export packed_int8 --to compressed-tensors -o coded_int8", "coded_int8"},
      {"unpack packed -o unpacked"},
      {"unpack packed --loadable transformers -o loadable"},
      {"pack model --weight_format binary --input_format binary -o signs"},
      {"kernels signs"},
      {"bench signs --batch_size 2 --tokens 8 --runs 1"},
      {"profile signs --batch_size 2 --tokens 8 --runs 1"},
      {"lab"},
      {"lab 0.3 --set data=synth:tail?n=200&test=60 --set pretraining_epochs=0.1 -o tuned_lab",
       "tuned_lab"},
      {"lab 3.1 --set data=synth:tail?n=200&test=60 --set texts=20 --set 'samplers=[\"random\"]' "
       "--set "
       "draws=[1,2] --set shape_trials=1 --set shapes=hidden_size=[16,32] --set rates=1e-3 --set "
       "trial_epochs=0.05 --set trials=1 --set after_epochs=0.05 -o searched_lab",
       "searched_lab"},
      {fmt::format("lab 4.4 --model model --plugin {}/cpu_gelu.so -o kernel_lab", HONE_PLUGINS),
       "kernel_lab"},
      {"lab 4.3 --model learnt --data reviews.csv -o lab", "lab"},
      {"lab 4.3 --model topics --data topics.csv -o topics_lab", "topics_lab"},
      {"schema"},
      {"runs reviews.csv trained topics unmeasured seeds measured measured_all compared coarse qat "
       "widths formats interrupted.partial"},
  };
}

// Returns the same for another task, on a file of 30 texts called `name` and on built-in data. `answer` is the key of
// its predictions.
std::vector<SchemaRun> runs_of_task(const std::string& name, const std::string& file,
                                    const std::string& built_in, const std::string& answer) {
  const std::string texts = " --data " + file, generated = " --data " + built_in + "?n=60&test=60";
  const std::string quantize = "quantize " + name + " --format integer(width=8,frac=4)" + texts;
  return {
      {"train small.json --max_steps 1" + texts + " -o " + name, name},
      {"train small.json --max_steps 1 --logging_steps 1" + generated + " -o " + name + "_made",
       name + "_made"},
      {"train small.json --max_steps 1 --seeds 5" + texts + " -o " + name + "_seeds",
       name + "_seeds"},
      {"eval " + name + texts + " -o " + name + "_measured", name + "_measured"},
      {"eval " + name + texts + " --precision bf16"},
      {"predict " + name + texts},
      {"predict " + name + texts + " --fields " + answer},
      {quantize + " --explain --max_drop 100 -o " + name + "_int8", name + "_int8"},
      {quantize + " --qat --max_steps 1 --seeds 2 --max_drop 1 -o " + name + "_qat", name + "_qat"},
      {"compare " + name + " " + name + "_int8" + texts + " --max_drop 1"},
      {"compare " + name + "_seeds " + name + "_seeds" + texts + " --max_drop 1"},
      {"compare-formats " + name + texts + " --candidate bf16"},
      {"compare-formats " + name + "_made" + generated + " --candidate bf16"},
      {"suggest " + name + texts + " --format int(bits=4)"},
      {"pass " + name + " fuse_attention" + texts + " -o " + name + "_fused", name + "_fused"},
      {"train " + name + " --lora r=2 --max_steps 1" + texts + " -o " + name + "_adapter",
       name + "_adapter"},
      {"lora merge " + name + " --adapter " + name + "_adapter" + texts + " -o " + name + "_merged",
       name + "_merged"},
      {"lab 4.3 --model " + name + texts + " -o " + name + "_lab", name + "_lab"},
      {"widths " + name + texts + " --widths 8.4 --max_steps 1 -o " + name + "_widths",
       name + "_widths"},
      {"prune " + name + texts + " --activation_sparsity 0.2 --max_drop 1 -o " + name + "_pruned",
       name + "_pruned"},
      {"prune " + name + texts + " --method random --seeds 2 --max_drop 1 -o " + name +
           "_pruned_twice",
       name + "_pruned_twice"},
      {"trim " + name + texts + " --max_drop 1 -o " + name + "_trimmed", name + "_trimmed"},
      {"choose " + name + " " + name + "_int8" + texts, ""},
      {"sparsities " + name + texts + " --sparsities 0.5 -o " + name + "_sparsities",
       name + "_sparsities"},
      {"sensitivity " + name + texts + " --sparsities 0.5 -o " + name + "_sensitivity",
       name + "_sensitivity"},
      {"search " + name + texts + " --recipe space.toml --trials 2 --no_cache -o " + name +
           "_search",
       name + "_search"},
      {"statistics " + name + texts + " -o " + name + "_statistics", name + "_statistics"},
      {"shrink " + name + texts + " --only quantize --max_drop 99 --max_evaluations 1 -o " + name +
           "_shrunk",
       name + "_shrunk"},
      {"allocate " + name + texts +
           " --formats int(bits=8),int(bits=2) --budget average_bits<=6 --candidates 2 --swaps 1 "
           "--no_cache -o " +
           name + "_allocated",
       name + "_allocated"},
      {fmt::format("runs {0} {0}_seeds {0}_measured {0}_int8 {0}_qat {0}_widths", name)},
  };
}

const std::vector<SchemaRun>& runs() {
  static const std::vector<SchemaRun> all = [] {
    std::vector<SchemaRun> some = runs_of_classes();
    for (const auto& more :
         {runs_of_task("numbers", "numbers.csv", "synth:score", "value"),
          runs_of_task("labels", "labels.jsonl", "synth:topics", "predicted_labels")})
      some.insert(some.end(), more.begin(), more.end());
    if (python_with_onnx_runtime())
      some.push_back({"export learnt --check reviews.csv --split all -o checked", "checked"});
    return some;
  }();
  return all;
}

// Returns labs that take minutes.
std::vector<SchemaRun> runs_of_minutes() {
  return {{"lab 4.1 --model model -o speed_lab", "speed_lab"},
          {"lab 4.2 -o attention_lab", "attention_lab"}};
}

// Returns whether only the slow labs print this key of the document `lab`.
bool is_of_minutes(const std::string& key) {
  static const std::set<std::string> groups = {
      "4.1",           "4.2",         "lab_executor",   "lab_work",   "lab_attention",
      "lab_operator",  "call_series", "executor_calls", "loop_mean",  "executor_comparison",
      "naive_mistake", "naive_times", "executor_times", "stage_time", "operation_kind"};
  return groups.contains(key.substr(0, key.find('/')));
}

// Returns whether a key belongs to a check in ONNX Runtime, which is not installed everywhere.
bool is_of_checks(const std::string& key) {
  return key.starts_with("export_check/") || key.ends_with("/check");
}

// Returns whether a key belongs to the verdict of a gate, which has the same form in all documents. `compare` prints
// all of it.
bool is_of_gates(const std::string& key) {
  const std::string group = key.substr(0, key.find('/'));
  return group == "gate" || group == "gated_change" || group == "lost_class" ||
         key.ends_with("/lost_classes") || key.ends_with("/gate");
}

/// Validates output against the schemas and records which keys occurred.
struct Contract {
  std::map<std::string, std::set<std::string>> seen;

  void hold(const Json& value, const std::string& document) {
    expect_valid(value, document);
    seen[document].merge(keys_in(value, schema_of(document)));
  }
};

void run_all(const std::vector<SchemaRun>& runs, Contract& contract, const fs::path& folder) {
  for (const SchemaRun& run : runs) {
    SCOPED_TRACE(run.line);
    std::vector<std::string> words = shell_words(run.line);
    words.emplace_back("--json");
    if (words[0] == "compile" && !generates_code()) continue;
    const Ending ending = run_hone(words, folder);
    ASSERT_TRUE(ending.code == 0 || ending.code == 3) << ending.messages;
    const std::string& command = words[0];
    const std::vector<Json> lines = json_lines(ending.output);
    ASSERT_FALSE(lines.empty());
    for (const Json& line : lines) {
      contract.hold(line, command);
      if (command != "predict") {
        EXPECT_EQ(line["command"], command);
      }
      if (run.line.find(" --fields ") == std::string::npos) {
        EXPECT_EQ(line["schema_version"], 1);
      }
    }
    if (run.folder.empty()) continue;
    const fs::path written = folder / run.folder;
    EXPECT_EQ(read_json(written / "results.json"), lines.front());
    for (const char* file : {"settings.json", "machine.json", "record.json"})
      contract.hold(read_json(written / file), file);
    for (const fs::directory_entry& entry : fs::directory_iterator(written))
      if (entry.path().filename().string().starts_with("seed-"))
        contract.hold(read_json(entry.path() / "results.json"), command);
    if (!fs::exists(written / "training_log.jsonl")) continue;
    for (const Json& line : json_lines(read_file(written / "training_log.jsonl")))
      contract.hold(line, "training_log.jsonl");
  }
}

TEST(Schema, HoldsForWhatEveryCommandPrintsAndWrites) {
  const TemporaryFolder folder;
  ::setenv("XDG_CACHE_HOME", (folder.path() / "cache").c_str(), 1);
  fs::copy(workshop() / "model", folder.path() / "model", fs::copy_options::recursive);
  fs::copy(workshop() / "reviews.csv", folder.path());
  open_storage((folder.path() / "joined.db").string())
      ->create_study("joined", {Direction::minimize});
  run_well({"train", "model", "--data", "reviews.csv", "--max_steps", "2", "--eval_steps", "1",
            "-o", "interrupted"},
           folder.path());
  leave_interrupted(folder.path() / "interrupted", folder.path() / "interrupted.partial");
  fs::remove_all(folder.path() / "interrupted");
  fs::create_directory(folder.path() / "parts");
  for (const char* part : {"parts/train.csv", "parts/test.csv"})
    fs::copy(workshop() / "reviews.csv", folder.path() / part);
  folder.file("good.csv", "text,label\nfine,good\nvery fine,good\n");
  folder.file("chain.toml", R"([settings]
data = "reviews.csv"
[stage.read]
run = "eval"
each = { part = ["train"] }
MODEL = "model"
data = "{data}"
split = "{part}"
[stage.as_many]
run = "eval"
MODEL = "model"
data = "{data}"
max_eval_samples = "{read.n|4}"
[stage.beside]
run = "compare"
A = "model"
B = "learnt"
data = "{data}"
[claim.better]
says = "learning helps"
stage = "beside"
)");
  std::string leaked = read_file(workshop() / "reviews.csv");
  for (int i = 0; i < 20; ++i) leaked += fmt::format("new text {},{}\n", i, i % 2 ? "good" : "bad");
  fs::create_directory(folder.path() / "leaked");
  fs::copy(workshop() / "reviews.csv", folder.path() / "leaked/train.csv");
  folder.file("leaked/test.csv", leaked);
  // The validation texts contain words that the training texts lack, so trimming the vocabulary needs an evaluation.
  folder.file("strange/train.csv", "text,label\n\"film 0, dull\",bad\n\"film 1, dull\",good\n");
  fs::copy(workshop() / "reviews.csv", folder.path() / "strange/validation.csv");
  folder.file("good_too.csv", "text,label\nas fine,good\n");
  std::string topics = "text,label\n";
  for (int i = 0; i < 30; ++i)
    topics += fmt::format("text {},{}\n", i, i % 3 == 0 ? "art" : i % 3 == 1 ? "sport" : "trade");
  folder.file("topics.csv", topics);
  std::string numbers = "text,label\n", labels;
  for (int i = 0; i < 30; ++i) {
    numbers += fmt::format("text {} of {},{}.5\n", i, i % 4, i % 4);
    const char* sets[] = {"[]", R"(["rude"])", R"(["rude", "threat"])"};
    labels +=
        fmt::format(R"({{"text": "text {} of {}", "label": {}}})", i, i % 3, sets[i % 3]) + "\n";
  }
  folder.file("numbers.csv", numbers);
  folder.file("small.json", R"({"model_type": "bert", "hidden_size": 32, "num_hidden_layers": 2,
      "num_attention_heads": 2, "intermediate_size": 128})");
  folder.file("images.json",
              R"({"model_type": "resnet", "embedding_size": 8, "hidden_sizes": [8, 12],
      "depths": [1, 1], "layer_type": "basic", "image_size": 12})");
  folder.file("space.toml",
              "[[precision]]\nchoice = 'together'\nformats = ['bf16', 'int(bits=8)']\n");
  folder.file("labels.jsonl", labels);
  Contract contract;
  run_all(runs(), contract, folder.path());
  // Every key of a schema must occur in some run. Keys of structs shared by documents may occur in any of them.
  std::set<std::string> seen_anywhere;
  for (const auto& [name, keys] : contract.seen) seen_anywhere.insert(keys.begin(), keys.end());
  for (const std::string& name : document_names()) {
    if (name == "compile" && !generates_code()) continue;
    for (const std::string& key : schema_keys(schema_of(name)))
      EXPECT_TRUE(contract.seen[name].contains(key) ||
                  (schema_of(name)["$defs"].contains(key.substr(0, key.find('/'))) &&
                   seen_anywhere.contains(key)) ||
                  (name == "lab" && is_of_minutes(key)) ||
                  (name == "export" && is_of_checks(key) && !python_with_onnx_runtime()) ||
                  (is_of_gates(key) && name != "compare"))
          << name << ": no run has " << key;
  }
}

TEST(Schema, LongHoldsForLabsThatMeasureForMinutes) {
  const TemporaryFolder folder;
  ::setenv("XDG_CACHE_HOME", (folder.path() / "cache").c_str(), 1);
  fs::copy(workshop() / "model", folder.path() / "model", fs::copy_options::recursive);
  Contract contract;
  run_all(runs_of_minutes(), contract, folder.path());
  for (const std::string& key : schema_keys(schema_of("lab")))
    EXPECT_TRUE(contract.seen["lab"].contains(key) || !is_of_minutes(key)) << "no run has " << key;
}

TEST(Schema, HoldsForEveryFormat) {
  const Json all = run_json({"formats"}, workshop())["formats"];
  for (const Json& row : all) {
    const std::string format = row["format"];
    SCOPED_TRACE(format);
    expect_valid(run_json({"formats", format}, workshop()), "formats");
    expect_valid(run_json({"formats", format, "0.3", "-1e30", "1e-30"}, workshop()), "formats");
  }
}

TEST(Schema, KnowsEveryCommandThatPrintsJson) {
  const std::set<std::string> documents = document_names();
  std::set<std::string> tried;
  for (const SchemaRun& run : runs()) tried.insert(shell_words(run.line)[0]);
  for (const std::string& name : command_names()) {
    std::string help = run_well({name, "--help-all"}, fs::temp_directory_path()).output;
    for (const std::string& subcommand : subcommand_names(name))
      help += run_well({name, subcommand, "--help-all"}, fs::temp_directory_path()).output;
    const bool prints = help.find("--json") != std::string::npos;
    EXPECT_EQ(documents.contains(name), prints) << name;
    EXPECT_EQ(tried.contains(name), prints) << name;
  }
}

TEST(Schema, RefusesKeysItDoesNotKnowAndMissingOnes) {
  Json line = run_json({"predict", "model", "dull"}, workshop());
  expect_valid(line, "predict");
  Json more = line, less = line, other = line;
  more["surplus"] = 1;
  less.erase("logits");
  other["probabilities"] = {"0.5", 0.5};
  const auto problems = [](const Json& value) {
    return fmt::format("{}", fmt::join(schema_problems(value, schema_of("predict")), "\n"));
  };
  EXPECT_EQ(problems(more), ".surplus: no such key");
  EXPECT_EQ(problems(less), ": \"logits\" is missing");
  EXPECT_NE(problems(other).find(".probabilities[0]: \"0.5\" is no \"number\""), std::string::npos)
      << problems(other);
  // An unknown word, and a fraction instead of an integer.
  Json compared = run_json({"compare", "model", "model", "--data", "reviews.csv"}, workshop());
  compared["comparison"]["verdict"] = "fast";
  compared["b"]["eval_samples"] = 1.5;
  const std::vector<std::string> found = schema_problems(compared, schema_of("compare"));
  ASSERT_EQ(found.size(), 2u) << fmt::format("{}", fmt::join(found, "\n"));
  EXPECT_EQ(found[0], ".b.eval_samples: 1.5 is no \"integer\"");
  EXPECT_EQ(found[1],
            ".comparison.verdict: \"fast\" is none of [\"within limit\",\"exceeds "
            "limit\",\"inconclusive\"]");
}

TEST(Schema, IsThePageInTheDocumentation) {
  EXPECT_EQ(read_file(test_data().parent_path() / "docs/reference/json.md"),
            run_well({"schema", "--markdown"}, fs::temp_directory_path()).output)
      << "build/bin/hone schema --markdown > docs/reference/json.md";
}

TEST(Schema, NamesTheNearestDocument) {
  const Ending ending = run_hone({"schema", "quantise"}, fs::temp_directory_path());
  EXPECT_EQ(ending.code, 1);
  EXPECT_EQ(ending.messages,
            "error: quantise: no command or file has a schema of this name; `hone schema` "
            "lists them; did you mean 'quantize'?\n");
}

}  // namespace
}  // namespace hone::testing
