// Compares the cost of a per-layer sensitivity with running every layer and format separately, which gives the same
// bits: in CPU seconds of alternating rounds, and in floating-point operations.
//
//     sensitivity_bench tiny|base TEXTS TOKENS BATCH ROUNDS
#include <fmt/format.h>
#include <sys/resource.h>

#include <cstdlib>

#include "hone/base/random.h"
#include "hone/models/model_source.h"
#include "hone/passes/quantize.h"
#include "hone/train/predictor.h"
#include "hone/train/text_examples.h"
#include "hone/train/variants.h"

namespace hone {
namespace {

double processor_seconds() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(use.ru_utime) + seconds(use.ru_stime);
}

EncodedSet random_texts(std::int64_t texts, std::int64_t tokens) {
  RandomSequence random(1, 1);
  EncodedSet set;
  for (std::int64_t i = 0; i < texts; ++i) {
    std::vector<std::int32_t> ids;
    for (std::int64_t t = 0; t < tokens; ++t)
      ids.push_back(1000 + static_cast<std::int32_t>(random.below(20000)));
    set.ids.push_back(ids);
    set.labels.push_back(static_cast<std::int32_t>(i % 2));
  }
  return set;
}

// None of them needs calibration.
constexpr const char* kFormats[] = {"integer(width=8,frac=4)", "mxint(bits=8,block=32)", "bf16"};

int measure(const std::string& shape, std::int64_t texts, std::int64_t tokens, std::int64_t batch,
            int rounds) {
  Context context(2, /*quiet=*/true);
  const Model model = new_model(new_model_facts(shape), context.library.ops, 1, &context.pool);
  const Variant base{forward_graph(model), model.parameters};
  std::vector<std::pair<std::string, Format>> changes;
  for (const Node* layer : base.graph.operations(kDefaultLayer))
    for (const char* format : kFormats)
      changes.emplace_back(layer->name(), parse_format(format, context.library.formats));
  const auto make = [&](std::size_t i) {
    Variant variant = base;
    quantize(variant.graph, {{changes[i].first, LayerFormats::reads(changes[i].second)}});
    return variant;
  };
  const EncodedSet set = random_texts(texts, tokens);
  const ExampleSource source = text_examples(set);
  for (int round = 0; round < rounds; ++round) {
    const double start = processor_seconds();
    const VariantRows shared = rows_of_variants(base, changes.size(), make, source,
                                                {.batch_size = batch}, context.session());
    const double middle = processor_seconds();
    bool same = true;
    for (std::size_t i = 0; i <= changes.size(); ++i) {
      const bool whole = i == changes.size();
      const Variant variant = whole ? base : make(i);
      Predictor predictor(variant.graph, variant.parameters, context.session());
      same = predictor.rows(source, batch) == (whole ? shared.base : shared.variants[i]) && same;
    }
    const double apart = processor_seconds() - middle, together = middle - start;
    fmt::print(
        "{}, {} texts of {} tokens, {} at a time, {} variants in {} groups: {:.2f} s for {:.2f} s "
        "apart, {:.3f} times; operations {:.3f} times; kept {:.1f} MiB; {}\n",
        shape, texts, tokens, batch, changes.size(), shared.groups, together, apart,
        together / apart, shared.flops / shared.separate_flops, shared.kept_bytes / (1 << 20),
        same ? "the same bits" : "OTHER BITS");
    std::fflush(stdout);
    if (!same) return 1;
  }
  return 0;
}

}  // namespace
}  // namespace hone

int main(int count, char** arguments) {
  if (count != 6) {
    fmt::print(stderr, "usage: sensitivity_bench tiny|base TEXTS TOKENS BATCH ROUNDS\n");
    return 2;
  }
  return hone::measure(arguments[1], std::atoll(arguments[2]), std::atoll(arguments[3]),
                       std::atoll(arguments[4]), std::atoi(arguments[5]));
}
