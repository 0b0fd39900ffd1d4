#include "hone/labs/mxint8_lab.h"

#include <algorithm>
#include <functional>
#include <iterator>

#include "hone/base/text.h"
#include "hone/jobs/device_time.h"

namespace hone {
namespace {

Mxint8Sizes usual_sizes(Fidelity fidelity) {
  Mxint8Sizes sizes;
  if (fidelity == Fidelity::quick) {
    sizes.decode = {.elements = {1024, 262'144, 16'777'216}, .groups = {8, 32, 512}, .runs = 20};
    sizes.shapes = {"bert-tiny"};
    sizes.products = {.runs = 20, .sensitivity_examples = 256};
  } else {
    sizes.decode = {
        .elements = {1024, 16'384, 262'144, 4'194'304, 16'777'216, 58'720'256, 234'881'024},
        .groups = {8, 16, 32, 64, 128, 256, 512}};
    sizes.shapes = {"bert-tiny", "bert-base", "deberta-xlarge-size"};
    sizes.products.sensitivity_examples = fidelity == Fidelity::paper ? 1'000 : 0;
  }
  return sizes;
}

constexpr const char* kSheet =
    "the sheet of MASE's lab 4 (advanced deep learning systems), on a GPU that it does not name";

// Returns the time of the array in this run, if it was timed.
std::optional<std::string> decode_ms(const LabDecodeResult& decode, std::int64_t elements,
                                     std::int64_t group) {
  for (const DecodeTimesResult& row : decode.bench.times)
    if (row.elements == elements && row.group == group)
      return fmt::format("{:.{}f} ms on {}", row.min_ms, row.min_ms < 10 ? 2 : 1,
                         processor_text(decode.bench.device, decode.bench.threads));
  return std::nullopt;
}

std::string percent_of(double share) { return fmt::format("{:.1f}%", 100 * share); }

// Returns published results with those measured here. None is a target: machines and programs differ.
std::vector<PublishedResult> published_results(const Mxint8LabFields& found) {
  std::optional<std::string> saved, process;
  const auto large =
      std::ranges::find(found.memory, "deberta-xlarge-size", &LabMemoryResult::shape);
  if (large != found.memory.end()) {
    const auto resident = [&](std::size_t i) {
      return static_cast<double>(large->processes[i].resident_bytes);
    };
    saved = percent_of(large->rules[0].saving());
    process = percent_of(1 - resident(1) / resident(0));
  }
  constexpr std::int64_t kElements = 234'881'024;
  return {{"saved by the formula, groups of 32",
           "74.2% (the sheet prints 86.7%, which is that of 4 bits)",
           percent_of(found.memory.front().rules[0].account.theoretical_saving), kSheet},
          {"saved of the weights of a model of DeBERTa-xlarge's size, linear layers packed",
           "69.1%, reconstructed from its numbers", saved, kSheet},
          {"saved of the peak memory of a process with this model",
           "66.4% (2,906.20 to 976.16 MiB, memory of the GPU)", process, kSheet},
          {"decoding 234,881,024 elements, groups of 512",
           "1.19 ms on the GPU; 1,060 to 1,090 ms on the CPU",
           decode_ms(found.decode, kElements, 512), kSheet},
          {"the same, groups of 32", "1.72 ms on the GPU", decode_ms(found.decode, kElements, 32),
           kSheet}};
}

LabPart published_part(const std::vector<PublishedResult>& published) {
  LabPart part;
  part.sections = {
      {"Published results",
       {PageTable{published_table(published),
                  "Other machines and another program, for orientation only. –: not run at this "
                  "fidelity."}},
       /*folded=*/true}};
  return part;
}

LabReport report_of(const LabRun& run) {
  const LabSubject& subject = *run.subject;
  Mxint8LabFields fields{
      .subject = subject_result(subject.name, subject.data.identity, subject.data.measured),
      .memory = memory_results(run),
      .sensitivity = from_json<LabSensitivityResult>(run.results.at(kSensitivityStage)),
      .products = from_json<LabProductsResult>(run.results.at(kProductsStage)),
      .decode = decode_result(run)};
  fields.published = published_results(fields);
  LabReport report;
  Document& document = report.document;
  report.arithmetic = "fp32, packed and native, as listed in each table";
  for (LabPart part :
       {product_part(fields.sensitivity, fields.products, run), decode_part(fields.decode, run),
        memory_part(fields.memory, run), published_part(fields.published)}) {
    if (!part.sentence.empty())
      document.headline += (document.headline.empty() ? "" : ". ") + part.sentence;
    std::ranges::move(part.sections, std::back_inserter(document.sections));
    std::ranges::move(part.key_figures, std::back_inserter(document.key_figures));
    std::ranges::move(part.why, std::back_inserter(report.why));
    std::ranges::move(part.notes, std::back_inserter(document.notes));
  }
  document.headline += ".";
  std::ranges::stable_partition(document.sections, std::logical_not(), &Section::folded);
  document.evidence = fmt::format(
      "{}, {}; latency of {} texts of {} tokens on {}, {} runs in turn; weights counted to the "
      "byte; one seed.",
      capitalized(subject.name), name_and_size(subject.data.measured), fields.products.batch,
      fields.products.tokens, processor_text(fields.products.device, fields.products.threads),
      fields.products.timed_runs);
  report.results = results_of(std::move(fields));
  return report;
}

}  // namespace

const Fields& fields_of(const Mxint8LabFields*) {
  using M = Mxint8LabFields;
  static const Fields fields = describe<M>(
      "lab", "MXINT8: decoding, memory, products.", inlined<&M::subject>(), inlined<&M::lab>(),
      field<&M::memory>("memory",
                        "Savings of packing, for the model's shape and synthetic shapes."),
      field<&M::sensitivity>("sensitivity", "Each linear layer in MXINT8, the others in fp32."),
      field<&M::products>("products", "fp32, W8A16, W8A8 and mixed."),
      field<&M::decode>("decode", "Elements, and how fast they are decoded."),
      field<&M::published>("published", "Numbers that others have published."));
  return fields;
}

Lab mxint8_lab(std::function<Mxint8Sizes(Fidelity)> sizes) {
  return {
      .name = "4.3",
      .title = "MXINT8: decoding, memory and products",
      .costs =
          "quick: 1 to 2 minutes; paper and full: several minutes, 8 GiB of memory and 5 GiB of "
          "disk, because they run a model of 758 million parameters",
      .question =
          "How does MXINT8 help custom hardware, how is it decoded, and why does it not save "
          "86.7% of the memory?",
      .stages =
          [sizes](const LabRun& run, const LabRates& rates) {
            const Mxint8Sizes size = sizes(run.job.fidelity);
            std::vector<LabStage> stages = {decode_stage(size.decode, rates)};
            for (LabStage& stage : memory_stages(run, size.shapes))
              stages.push_back(std::move(stage));
            for (LabStage& stage : product_stages(run, size.products, rates))
              stages.push_back(std::move(stage));
            return stages;
          },
      .report = report_of};
}

Lab mxint8_lab() { return mxint8_lab(usual_sizes); }

}  // namespace hone
