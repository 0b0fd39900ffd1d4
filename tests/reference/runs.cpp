#include "tests/reference/runs.h"

#include <map>

#include "hone/base/error.h"
#include "hone/base/file.h"
#include "hone/tensor/safetensors.h"
#include "tests/support/test_data.h"

namespace hone::testing {
namespace {

// The label is the majority of three words, with some labels wrong: learned in a second, but not perfectly.
std::string review_rows(int first, int end, bool pairs) {
  constexpr const char* kWords[] = {"bright", "warm", "sharp", "funny",
                                    "dull",   "cold", "slow",  "flat"};
  std::string rows = pairs ? "sentence1,sentence2,label\n" : "text,label\n";
  for (int i = first; i < end; ++i) {
    const int digits = i * 201 % 512;
    const int a = digits % 8, b = digits / 8 % 8, c = digits / 64;
    const bool good = ((a < 4) + (b < 4) + (c < 4) >= 2) != (i % 11 == 0);
    rows +=
        fmt::format("the {} is {} and {}{}the end {},{}\n", i % 3 == 0 ? "cast" : "plot", kWords[a],
                    kWords[b], pairs ? "," : " and ", kWords[c], good ? "good" : "bad");
  }
  return rows;
}

// Vertical and horizontal stripes.
void write_images(const fs::path& file) {
  constexpr std::int64_t kImages = 60, kEdge = 12;
  std::vector<std::uint8_t> bytes;
  std::vector<std::int64_t> labels;
  for (std::int64_t image = 0; image < kImages; ++image) {
    labels.push_back(image % 2);
    for (std::int64_t i = 0; i < 3 * kEdge * kEdge; ++i) {
      const std::int64_t along = image % 2 == 0 ? i % kEdge : i / kEdge % kEdge;
      bytes.push_back(
          static_cast<std::uint8_t>((along + image / 2) % 4 < 2 ? 30 + image : 200 - image));
    }
  }
  write_safetensors(file, {{"images", Tensor::of({kImages, 3, kEdge, kEdge}, bytes)},
                           {"labels", Tensor::of({kImages}, labels)}});
}

const std::map<std::string, std::string> kFiles = {
    {"reviews/train.csv", review_rows(0, 352, false)},
    {"reviews/validation.csv", review_rows(352, 432, false)},
    {"reviews/test.csv", review_rows(432, 512, false)},
    {"pairs/train.csv", review_rows(0, 352, true)},
    {"pairs/validation.csv", review_rows(352, 432, true)},
    {"pairs/test.csv", review_rows(432, 512, true)},
    {"small.json", R"json({"model_type": "bert", "hidden_size": 32, "num_hidden_layers": 2,
        "num_attention_heads": 2, "intermediate_size": 128})json"},
    {"resnet.json", R"json({"model_type": "resnet", "embedding_size": 8, "hidden_sizes": [8, 12],
        "depths": [1, 1], "layer_type": "basic", "image_size": 12})json"},
    {"mixed.toml", R"toml(
maximize = "accuracy - 0.01*average_bits"
[training]
max_steps = [4, 8]
batch_size = 8
eval_steps = 2
learning_rate = { low = 1e-4, high = 1e-2, log = true }
[pruning]
sparsity = [0, 0.3, 0.5]
[[precision]]
choice = "each"
formats = ["none", "integer(width=[8,16],frac=[2,4])", "mxint(bits=[4,6])"]
[train_on]
max_steps = 2
)toml"},
    {"shapes.toml", R"toml(
maximize = ["accuracy", "-parameters"]
[architecture]
hidden_size = [32, 64]
num_hidden_layers = [1, 2]
num_attention_heads = 2
intermediate_size = 64
square_linears = ["linear", "identity"]
[training]
max_steps = 6
batch_size = 8
learning_rate = 1e-3
[[precision]]
choice = "together"
formats = ["none", "int(bits=[4,8])"]
)toml"},
    {"allocated.toml", R"toml(
maximize = "accuracy - 1e-7*packed_bytes"
[structure]
neurons = [0.25, 0.5]
[allocation]
options = ["int(bits=8)", "mxint(bits=4)"]
budget = "average_bits<=5"
[distillation]
alpha = 0.5
[train_on]
max_steps = 4
learning_rate = 1e-3
)toml"},
    // One candidate besides the baseline: `hone shrink` would otherwise choose by latency, which varies.
    {"point.toml", R"toml(
[structure]
heads = [0, 0.5]
neurons = 0.5
[training]
max_steps = 12
batch_size = 8
learning_rate = 1e-3
[native]
linears = "int(bits=8,per=row)"
tables = "int(bits=4,per=row)"
narrow = "int(bits=4,per=row)"
narrow_share = 0.5
[train_on]
max_steps = 12
learning_rate = 1e-3
)toml"},
    {"chain.toml", R"toml(
[common]
data = "reviews"
batch_size = 8
learning_rate = 1e-3
[stage.full]
run = "train"
MODEL = "small.json"
max_steps = 40
[stage.adapter]
run = "train"
MODEL = "{full}"
lora = "r=2"
max_steps = 8
[stage.merged]
run = "lora merge"
MODEL = "{full}"
adapter = "{adapter}"
[stage.trained]
each = { bits = [2, 4] }
run = "quantize"
MODEL = "{merged}"
format = "int(bits={bits})"
qat = true
max_steps = 8
save_steps = 2
[stage.best]
best_of = ["{merged}", "{trained}"]
smallest = true
[stage.pruned]
run = "prune"
MODEL = "{best}"
sparsity = 0.5
[stage.packed]
run = "pack"
MODEL = "{pruned}"
)toml"}};

const std::map<std::string, std::string> kPlaces = {
    {"training loss", "train_loss"},
    {"validation loss", "validation.eval_loss"},
    {"validation loss of each seed", "runs[].validation.eval_loss"},
    {"loss", "eval_loss"},
    {"AUC", "eval_auc"},
    {"loss of each model", "models[].eval_loss"},
    {"loss of each format", "formats[].eval_loss"},
    {"loss of A", "a.eval_loss"},
    {"loss of B", "b.eval_loss"},
    {"loss after", "after.eval_loss"},
    {"change of the metric", "comparison.change"},
    {"p-value of the change", "comparison.p_value"},
    {"margin SNR", "comparison.margin_snr_db"},
    {"weights of step", "weights_of_step"},
    {"chosen model", "chosen"},
    {"bits of each layer", "layers[].bits"},
    {"SNR of each operand", "diagnosis.operands[].snr_db"},
    {"output SNR of each layer", "layers[].output_snr_db"},
    {"divergence of each layer", "layers[].divergence"},
    {"scales moved before each layer", "smooth_scales[].alpha"},
    {"standard deviation of each tensor", "tensors[].standard_deviation"},
    {"metrics of the best trial", "best.metrics"},
    {"importances", "studies[].importances[].importance"},
};

}  // namespace

const char* const kBaseModel =
    "train tiny --data reviews --max_steps 100 --batch_size 16 --lr 1e-3 -o model";

const std::vector<ReferenceRun>& reference_runs() {
  static const std::vector<ReferenceRun> runs = {
      // Training
      {.name = "Train",
       .commands = "train tiny $DATA $STEPS --save_steps 3 -o out",
       .models = {"out", "out/checkpoint-9"},
       .values = {"training loss", "validation loss"},
       .killed_at = "out.partial/checkpoint-6"},
      {.name = "TrainBase", .commands = "", .models = {"model"}},
      {.name = "TrainOptions",
       .commands =
           "train model $DATA $STEPS --gradient_accumulation_steps 2 --lr_scheduler_type cosine "
           "--warmup_ratio 0.2 --weight_decay 0.01 --label_smoothing_factor 0.1 "
           "--layerwise_lr_decay "
           "0.9 --group_by_length --freeze bert.embeddings.* -o out",
       .values = {"training loss"}},
      {.name = "TrainEarlyStopping",
       .commands =
           "train tiny $DATA --epochs 6 --batch_size 32 --lr 1e-2 --eval_steps 2 "
           "--early_stopping_patience 2 --load_best_model_at_end --metric_for_best_model loss "
           "--class_weights 1,3 -o out",
       .values = {"training loss", "weights of step"}},
      {.name = "TrainInBf16",
       .commands = "train model $DATA $STEPS --precision bf16 -o out",
       .values = {"training loss"}},
      {.name = "TrainCompiled",
       .commands = "train model $DATA $STEPS --executor compiled -o out",
       .values = {"training loss"}},
      {.name = "TrainSeeds",
       .commands = "train small.json $DATA $STEPS --seeds 2 --save_steps 3 -o out",
       .models = {"out/seed-42", "out/seed-43"},
       .values = {"validation loss of each seed"},
       .killed_at = "out.partial/seed-43/checkpoint-3"},
      {.name = "TrainRegression",
       .commands = "train tiny --data synth:score?n=200&test=60 $STEPS -o out",
       .values = {"training loss"},
       .data = "synth:score?n=200&test=60"},
      {.name = "TrainMultiLabel",
       .commands = "train tiny --data synth:topics?n=200&test=60 $STEPS -o out",
       .values = {"training loss"},
       .data = "synth:topics?n=200&test=60"},
      {.name = "TrainLongTexts",
       .commands =
           "train tiny --data synth:lookup?n=200&test=60 $STEPS --max_seq_length 64 --truncation "
           "head_tail -o out",
       .values = {"training loss"},
       .data = "synth:lookup?n=200&test=60"},
      {.name = "TrainPairs",
       .commands = "train tiny --data pairs $STEPS -o out",
       .values = {"training loss"},
       .data = "pairs"},
      {.name = "TrainImages",
       .commands = "train resnet.json --data images.safetensors $STEPS -o out",
       .values = {"training loss"},
       .data = "images.safetensors"},
      {.name = "TrainLora",
       .commands = "train model $DATA $STEPS --lora r=4,alpha=8,dropout=0.1 --save_steps 3 -o out",
       .values = {"training loss"},
       .killed_at = "out.partial/checkpoint-6"},
      {.name = "MergeLora",
       .commands = "train model $DATA $STEPS --lora r=4,alpha=8,rslora=true -o adapter\n"
                   "lora merge model --adapter adapter $DATA -o out"},
      {.name = "TrainByDistillation",
       .commands = "train small.json $DATA $STEPS --distill model --distill_alpha 0.3 -o out",
       .values = {"training loss"}},

      // Quantization
      {.name = "QuantizeIntGroups",
       .commands =
           "quantize model $DATA $CALIBRATION --format int(bits=4,group=32) --explain -o out",
       .values = {"SNR of each operand", "margin SNR"}},
      {.name = "QuantizeMxfp4",
       .commands = "quantize model $DATA $CALIBRATION --format mxfp(element=e2m1) -o out"},
      {.name = "QuantizeMxint8ToBf16",
       .commands =
           "quantize model $DATA $CALIBRATION --format mxint(bits=8) --output_format bf16 -o out"},
      {.name = "QuantizeNf4",
       .commands = "quantize model $DATA $CALIBRATION --weight_format nf4 --input_format "
                   "minifloat_ieee(width=8,exponent_width=4,exponent_bias=7) -o out"},
      {.name = "QuantizeTernary",
       .commands = "quantize model $DATA $CALIBRATION --weight_format ternary --input_format "
                   "block_fp -o out"},
      {.name = "QuantizeBinary",
       .commands =
           "quantize model $DATA $CALIBRATION --weight_format binary --input_format log -o out"},
      {.name = "QuantizeFixedPoint",
       .commands =
           "quantize model $DATA $CALIBRATION --format integer(width=8) --calibration percentile "
           "--percentile 99.9 -o out"},
      {.name = "QuantizeByRecipe",
       .commands =
           "suggest model $DATA $CALIBRATION --format integer(width=6,frac=3) -o recipe.toml\n"
           "quantize model $DATA $CALIBRATION --recipe recipe.toml --rule "
           "'op = \"embedding\", weight = \"int(bits=8)\"' -o out"},
      {.name = "QuantizeStatic",
       .commands = "quantize model $DATA $CALIBRATION --format int(bits=8,scale=static) "
                   "--calibration mse -o "
                   "out"},
      {.name = "QuantizeAwareTraining",
       .commands = "quantize model $DATA $STEPS --qat --format int(bits=4,scale=learned) "
                   "--save_steps 3 -o out",
       .values = {"loss after"},
       .killed_at = "out.partial/checkpoint-6"},
      {.name = "QuantizeNativeInt8",
       .commands =
           "quantize model $DATA $CALIBRATION --native int(bits=8,per=row) --keep_slower -o out",
       .values = {"scales moved before each layer", "margin SNR"}},
      {.name = "QuantizeNativeStatic",
       .commands = "quantize model $DATA $CALIBRATION --native int(bits=8,per=row) --static "
                   "--keep_slower -o "
                   "out"},
      {.name = "QuantizeNativeMxint8",
       .commands = "quantize model $DATA $CALIBRATION --native mxint(bits=8) --keep_slower -o out"},
      {.name = "QuantizeNativeTernary",
       .commands = "quantize model $DATA $STEPS --qat --weight_format ternary --input_format "
                   "int(bits=8,per=token,scale=dynamic) -o trained\n"
                   "pack trained -o out"},
      {.name = "QuantizeImages",
       .commands =
           "train resnet.json --data images.safetensors $STEPS -o trained\n"
           "quantize trained --data images.safetensors $CALIBRATION --format int(bits=4) -o out",
       .data = "images.safetensors"},
      {.name = "Pack", .commands = "pack model --weight_format int(bits=3,group=32) -o out"},
      {.name = "PackMxint4", .commands = "pack model --weight_format mxint(bits=4) -o out"},
      {.name = "PackAndUnpack",
       .commands = "pack model --weight_format nf4 -o packed\n"
                   "unpack packed -o out\n"
                   "unpack packed --loadable transformers -o plain",
       .models = {"packed", "out", "plain"}},

      // Pruning
      {.name = "PruneWithTraining",
       .commands = "prune model $DATA $STEPS --sparsity 0.5 --schedule cubic --save_steps 3 -o out",
       .values = {"margin SNR"},
       .killed_at = "out.partial/checkpoint-6"},
      {.name = "PruneAtRandom",
       .commands = "prune model $DATA --sparsity 0.4 --scope global --method random -o out"},
      {.name = "PruneActivations",
       .commands =
           "prune model $DATA --sparsity 0.3 --activation_sparsity 0.3 $CALIBRATION -o out"},
      {.name = "PruneTwoOfFour", .commands = "prune model $DATA --structure 2:4 -o out"},
      {.name = "PruneStructures",
       .commands =
           "prune model $DATA $STEPS --structure heads,neurons,layers --method first_order -o out"},
      {.name = "Trim",
       .commands = "trim model $DATA -o out\ntrim model $DATA --keep_tokens 60 -o fewer",
       .models = {"out", "fewer"}},

      // Comparisons
      {.name = "Evaluate", .commands = "eval model $DATA", .models = {}, .values = {"loss", "AUC"}},
      {.name = "Compare",
       .commands = "pack model --weight_format int(bits=2) -o out\ncompare model out $DATA",
       .models = {},
       .values = {"loss of A", "loss of B", "change of the metric", "p-value of the change",
                  "margin SNR"}},
      {.name = "Choose",
       .commands = "pack model --weight_format int(bits=4) -o four\n"
                   "pack model --weight_format int(bits=2) -o two\n"
                   "choose model four two $DATA --smallest",
       .models = {},
       .values = {"chosen model", "loss of each model"}},
      {.name = "CompareFormats",
       .commands = "compare-formats model $DATA $CALIBRATION --candidate mxint(bits=8) --candidate "
                   "ternary/none --layers",
       .models = {},
       .values = {"loss of each format", "output SNR of each layer"}},
      {.name = "Sensitivity",
       .commands =
           "sensitivity model $DATA $CALIBRATION --formats bf16,mxint(bits=4),int(bits=3,group=32) "
           "--sparsities 0.5 -o out",
       .models = {},
       .values = {"divergence of each layer"}},
      {.name = "Widths",
       .commands = "widths model $DATA $STEPS --widths 6.3,8.4 -o out",
       .models = {},
       .values = {"loss of each model"}},
      {.name = "Sparsities",
       .commands = "sparsities model $DATA $STEPS --sparsities 0.3,0.8 --with_activations -o out",
       .models = {},
       .values = {"loss of each model"}},
      {.name = "Statistics",
       .commands = "statistics model $DATA -o out",
       .models = {},
       .values = {"standard deviation of each tensor"}},

      // Choices
      {.name = "Allocate",
       .commands = "allocate model $DATA $CALIBRATION --formats "
                   "int(bits=8),mxint(bits=4),int(bits=2,group=32) "
                   "--sparsities 0.5 --budget average_bits<=5 --candidates 4 --swaps 2 -o out",
       .models = {"out/best"},
       .values = {"bits of each layer", "divergence of each layer"},
       .study = "out/study.db",
       .killed_at = "out.partial/study.db",
       .killed_at_trials = 1},
      {.name = "SearchByTpe",
       .commands = "search model $DATA --recipe mixed.toml --trials 6 -o out",
       .models = {"out/best"},
       .values = {"metrics of the best trial"},
       .study = "out/study.db",
       .killed_at = "out.partial/study.db",
       .killed_at_trials = 2},
      {.name = "SearchAtRandom",
       .commands =
           "search model $DATA --recipe mixed.toml --trials 5 --sampler random --pruner median "
           "--sampler_seed 3 -o out\n"
           "study out/study.db search",
       .models = {"out/best"},
       .values = {"importances"},
       .study = "out/study.db"},
      {.name = "SearchInTwoProcesses",
       .commands = "search model $DATA --recipe mixed.toml --trials 4 --workers 2 -o out",
       .models = {"out/best"},
       .study = "out/study.db"},
      {.name = "SearchShapes",
       .commands = "search tiny $DATA --recipe shapes.toml --trials 6 --sampler grid -o out",
       .models = {"out/best"},
       .study = "out/study.db"},
      {.name = "SearchAllocations",
       .commands = "search model $DATA --recipe allocated.toml --trials 3 --repeats 1 -o out",
       .models = {"out/best"},
       .study = "out/study.db"},
      {.name = "Shrink",
       .commands = "shrink model $DATA --max_drop 99 --goal size --recipe point.toml -o out",
       .models = {"out/model"},
       .values = {"change of the metric", "margin SNR"},
       .killed_at = "out.partial/study.db"},

      // Chains
      {.name = "Pipeline",
       .commands = "run chain.toml -o out",
       .models = {"out/full", "out/merged", "out/trained/2", "out/trained/4", "out/pruned",
                  "out/packed"},
       .killed_at = "out.partial/trained/2.partial/checkpoint-4"},
      {.name = "LabOfAdapters",
       .commands =
           "lab 0.3 --set shape=small.json --set data=reviews --set pretraining_epochs=0.5 --set "
           "texts=50 -o out",
       .models = {"out/full", "out/merged"}},
      {.name = "LabOfSearches",
       .commands =
           "lab 3.1 --model model --set data=reviews --set texts=50 --set draws=[1] --set trials=2 "
           "--set after_epochs=0.05 -o out",
       .models = {},
       .study = "out/study.db"},

      // Exports and imports
      {.name = "Pass", .commands = "pass model fuse_attention -o out"},
      {.name = "Convert",
       .commands = "convert zip_sharded -o out\ntrain out $DATA $STEPS --label_map bad=0,good=1 "
                   "-o trained",
       .models = {"out", "trained"}},
      {.name = "Embed", .commands = "", .models = {"sentences"}},
  };
  return runs;
}

const std::string& value_place(const std::string& name) { return kPlaces.at(name); }

void write_inputs(const fs::path& folder) {
  for (const auto& [name, text] : kFiles) {
    fs::create_directories((folder / name).parent_path());
    write_file(folder / name, text);
  }
  write_images(folder / "images.safetensors");
  const auto options = fs::copy_options::recursive;
  fs::copy(test_data() / "models/golden/embeddings/mean", folder / "sentences", options);
  fs::copy(test_data() / "frontends/golden/zip_sharded", folder / "zip_sharded", options);
}

}  // namespace hone::testing
