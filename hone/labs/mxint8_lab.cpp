#include "hone/labs/mxint8_lab.h"

#include <algorithm>
#include <iterator>

#include "hone/jobs/device_time.h"

namespace hone {
namespace {

Mxint8Sizes usual_sizes(Fidelity fidelity) {
  Mxint8Sizes sizes;
  if (fidelity == Fidelity::quick) {
    sizes.decode = {.elements = {1024, 262'144, 16'777'216}, .groups = {8, 32, 512}, .runs = 20};
    sizes.shapes = {"bert-tiny"};
    sizes.products = {.runs = 20, .sensitivity_texts = 256};
  } else {
    sizes.decode = {
        .elements = {1024, 16'384, 262'144, 4'194'304, 16'777'216, 58'720'256, 234'881'024},
        .groups = {8, 16, 32, 64, 128, 256, 512}};
    sizes.shapes = {"bert-tiny", "bert-base", "deberta-xlarge-size"};
    sizes.products.sensitivity_texts = fidelity == Fidelity::paper ? 1'000 : 0;
  }
  return sizes;
}

constexpr const char* kSheet =
    "the sheet of MASE's lab 4 (advanced deep learning systems), on a GPU that it does not name";

// How long the array took here, where it was timed.
Cell decode_ms(const Json& decode, std::int64_t elements, std::int64_t group) {
  for (const Json& row : decode.at("times"))
    if (row.at("elements") == elements && row.at("group") == group) {
      const double ms = row.at("min_ms");
      return fmt::format("{:.{}f} ms on {}", ms, ms < 10 ? 2 : 1, ran_on(decode));
    }
  return absent;
}

const Json* found_shape(const LabRun& run, const std::string& stage) {
  return run.found.contains(stage) ? &run.found.at(stage) : nullptr;
}

std::string percent_of(double share) { return fmt::format("{:.1f}%", 100 * share); }

// Published results of the same, against those measured here. None is a target: machines and programs differ.
Table published_table(const LabRun& run) {
  Table table(
      {{"what", "What"}, {"published", "Published"}, {"here", "Here"}, {"source", "Source"}});
  const Json& decode = run.found.at("decode");
  const Json& formula = run.found.at("memory-model").at("rules")[0].at("account");
  table.add_row({"saved by the formula, groups of 32",
                 "74.2% (the sheet prints 86.7%, which is that of 4 bits)",
                 percent_of(formula.at("theoretical_saving")), kSheet});
  const Json* large = found_shape(run, "memory-deberta-xlarge-size");
  Cell saved = absent, process = absent;
  if (large != nullptr) {
    saved = percent_of(large->at("rules")[0].at("account").at("memory_saving"));
    const auto resident = [&](std::size_t i) {
      return large->at("processes")[i].at("resident_bytes").get<double>();
    };
    process = percent_of(1 - resident(1) / resident(0));
  }
  table.add_row({"saved of the weights of DeBERTa-xlarge's size, linears alone",
                 "69.1%, reconstructed from its figures", saved, kSheet});
  table.add_row({"saved of the peak of a process with it",
                 "66.4% (2,906.20 to 976.16 MiB, memory of the GPU)", process, kSheet});
  constexpr std::int64_t kElements = 234'881'024;
  table.add_row({"decoding 234,881,024 elements, groups of 512",
                 "1.19 ms on the GPU; 1,060 to 1,090 ms on the CPU",
                 decode_ms(decode, kElements, 512), kSheet});
  table.add_row(
      {"the same, groups of 32", "1.72 ms on the GPU", decode_ms(decode, kElements, 32), kSheet});
  return table;
}

LabPart published_part(const LabRun& run) {
  const Table table = published_table(run);
  LabPart part;
  part.sections = {
      {"Published results",
       {PageTable{table,
                  "Other machines and another program, for orientation only. –: not run at this "
                  "fidelity."}},
       /*folded=*/true}};
  part.results = {{"published", to_json(table)}};
  return part;
}

LabReport report_of(const LabRun& run) {
  LabReport report;
  Document& document = report.document;
  report.arithmetic = "fp32, packed and native, as each table says";
  document.sections = {{"", {}}};
  for (LabPart part :
       {memory_part(run), product_part(run), decode_part(run), published_part(run)}) {
    if (!part.sentence.empty())
      document.headline += (document.headline.empty() ? "" : "; ") + part.sentence;
    std::ranges::move(part.blocks, std::back_inserter(document.sections[0].blocks));
    std::ranges::move(part.sections, std::back_inserter(document.sections));
    std::ranges::move(part.notes, std::back_inserter(document.notes));
    report.results.update(part.results);
  }
  document.evidence = "One seed; latencies are of this machine.";
  return report;
}

}  // namespace

Lab mxint8_lab(std::function<Mxint8Sizes(Fidelity)> sizes) {
  return {.name = "4.3",
          .title = "MXINT8: decoding, memory, products",
          .costs =
              "quick: a minute or two; paper and full: some minutes, 8 GiB of memory and 5 of "
              "disk, as they run a model of 758 million parameters",
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
