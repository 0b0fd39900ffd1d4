#include <gtest/gtest.h>

#include "hone/data/synthetic.h"
#include "hone/frontends/huggingface/bert.h"
#include "hone/jobs/compress.h"
#include "hone/passes/quantize.h"

// Tests of the whole process on built-in data: training a small model, quantizing it after training, and training it
// quantized.
namespace hone {
namespace {

// A model with hidden size 64 and 8000 texts of `tail`, trained for a thousand steps of 64 texts.
struct Workshop {
  Context context{/*threads=*/2, /*quiet=*/true};
  TextModel source;
  EncodedSplits splits;

  Workshop() : source(open_model("tiny", context, /*seed=*/42)) {
    EncoderConfig config = config_of(source.model.facts);
    config.hidden_size = 64;
    config.intermediate_size = 256;
    source.model = new_model(facts_of(bert(), config), context.library.ops, /*seed=*/42);
    const Splits parts{make_synthetic(parse_synthetic("synth:tail?n=8000"))};
    std::vector<std::string> warnings;
    splits =
        encode_splits(source, parts, evaluation_examples(parts, "test", std::nullopt), std::nullopt,
                      /*cut=*/{}, context, warnings);
  }
  static FineTuneOptions training(double learning_rate) {
    FineTuneOptions options;
    options.training.optimizer.learning_rate = learning_rate;
    options.training.max_steps = 1000;
    options.training.batch_size = 64;
    return options;
  }
  Measurement measured(const Model& model) {
    return measure(model, splits.test, /*batch_size=*/64, context, "test");
  }
  Measurement compressed(const QuantizationPlan& plan, bool qat = false) {
    CompressOptions options;
    options.plan = plan;
    options.qat = qat;
    options.fine_tune = training(1e-3);
    options.fine_tune.training.max_steps = 300;
    return measured(compress(source.model, splits, options, context));
  }
  Format format(std::string_view text) { return parse_format(text, context.library.formats); }
  double accuracy(std::string_view text, bool qat) {
    return compressed(plan_with_format(source.model, format(text)), qat).evaluation.value;
  }
  /// Compares the model with itself after rounding the inputs, weights and biases of all linears.
  Comparison loss(std::string_view text) {
    return loss_of(plan_with_format(source.model, format(text)));
  }
  /// Does the same with weights only.
  Comparison weights_loss(std::string_view text) {
    const Graph graph = unquantized_graph(source.model);
    return loss_of(uniform_plan(graph, {.weight = format(text)}));
  }

 private:
  Comparison loss_of(const QuantizationPlan& plan) {
    const Measurement before = measured(source.model), after = compressed(plan);
    return compare(before.view(), after.view(), splits.test.labels);
  }
};

// Returns the trained model, shared by all tests.
Workshop& workshop() {
  static Workshop* trained = [] {
    auto* made = new Workshop;
    TrainingLog log;
    fine_tune(made->source.model, made->splits, Workshop::training(1e-3), log, made->context);
    return made;
  }();
  return *trained;
}

// Measured accuracies: 92.1% trained, 50.9% (always one class) at 4 bits, 86.0% at 6 bits, 91.6% after training through
// the 6 bits, 91.8% with another seed. Whether training recovers from always predicting one class depends on the seed.
// The bounds leave a few points on each side for arithmetic that rounds differently. On 1600 test texts two standard
// errors are 1.4 points at 92% and 2.5 at 50%.
TEST(LongTail, IsLearnedLostAtFewBitsAndWonBackByTrainingThroughThem) {
  const double trained = workshop().measured(workshop().source.model).evaluation.value;
  EXPECT_GT(trained, 0.85);
  EXPECT_NEAR(workshop().accuracy("integer(width=8,frac=4)", /*qat=*/false), trained, 0.03);
  EXPECT_NEAR(workshop().accuracy("integer(width=4,frac=2)", /*qat=*/false), 0.5, 0.05);
  const double after = workshop().accuracy("integer(width=6,frac=3)", /*qat=*/false);
  EXPECT_LT(after, trained - 0.03);
  const double won_back = workshop().accuracy("integer(width=6,frac=3)", /*qat=*/true);
  EXPECT_GT(won_back, after + 0.03);
  EXPECT_NEAR(won_back, trained, 0.03);
}

// Any correct implementation of these formats satisfies these bounds on this data.
TEST(LongTail, RanksFormatsAsTheirGridsSay) {
  EXPECT_LE(workshop().loss("int(bits=8,per=row,scale=dynamic)").flip_share, 0.005);
  EXPECT_GE(workshop().loss("int(bits=4,per=tensor)").flips,
            5 * workshop().loss("int(bits=8,per=tensor)").flips);
  const auto snr = [](std::string_view text) { return workshop().loss(text).margin_snr_db; };
  const double e4m3 = snr("mxfp(element=e4m3)"), e2m1 = snr("mxfp(element=e2m1)");
  EXPECT_GT(snr("mxint(bits=8)"), e4m3);
  EXPECT_GT(e4m3, e2m1);
  EXPECT_GE(snr("mxfp(element=e4m3,scale=ceil)"), e4m3);
  EXPECT_GE(snr("mxfp(element=e2m1,scale=ceil)"), e2m1);
  EXPECT_GT(workshop().weights_loss("ternary").margin_snr_db,
            workshop().weights_loss("binary").margin_snr_db);
}

}  // namespace
}  // namespace hone
