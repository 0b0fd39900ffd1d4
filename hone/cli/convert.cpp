#include <fmt/ranges.h>

#include "hone/base/printable.h"
#include "hone/base/text.h"
#include "hone/cli/arguments.h"
#include "hone/cli/print_result.h"
#include "hone/cli/screen.h"
#include "hone/data/trained_on.h"
#include "hone/jobs/convert.h"
#include "hone/report/table.h"

namespace hone {
namespace {

struct ConvertArguments {
  std::string model;
  JobOutput output;
  bool json = false;
};

// Names of real tensors are far shorter; a damaged file may have one of megabytes.
constexpr std::size_t kNameCharacters = 200;

Table tensor_table(const Conversion& conversion) {
  Table table({{"tensor", "Tensor"},
               {"type", "Type"},
               {"shape", "Shape"},
               {"bytes", "Size"},
               {"same_as", "Written as"}});
  for (const ConvertedTensor& row : conversion.tensors) {
    const std::int64_t size =
        element_count(row.sizes) * static_cast<std::int64_t>(info(row.dtype).size_bytes);
    const bool written = row.same_as.empty();
    table.add_row({shown_name(row.name, kNameCharacters), info(row.dtype).safetensors, row.sizes,
                   written ? bytes(size) : absent,
                   written ? Cell(absent) : Cell(shown_name(row.same_as, kNameCharacters))});
  }
  return table;
}

void convert(const ConvertArguments& a) {
  OutputFolder output(a.output.folder, a.output.options());
  const fs::path model = find_model(a.model);
  if (const std::string doubt = disbelief(model); !doubt.empty())
    print_message("warning: " + doubt);
  const Conversion conversion = convert_weights(model, output.path());
  output.commit();
  if (a.json) {
    const Json result = {{"model", a.model},
                         {"source", conversion.source},
                         {"tensors", to_json(tensor_table(conversion))},
                         {"copied", conversion.copied},
                         {"bytes", conversion.bytes}};
    return print_result("convert", result);
  }
  const RunArguments run;  // of the flags for printing it has --json alone
  print_text(run, "{}\n{} tensors, {}, from {} written to {}; copied: {}\n",
             to_text(tensor_table(conversion), text_style(run)), conversion.tensors.size(),
             human_bytes(static_cast<double>(conversion.bytes)), conversion.source,
             (fs::path(a.output.folder) / "model.safetensors").string(),
             conversion.copied.empty() ? "nothing"
                                       : fmt::format("{}", fmt::join(conversion.copied, ", ")));
}

}  // namespace

Command convert_command() {
  return {"convert", "write a model's weights as safetensors",
          "hone convert old-model -o new-model", [](CLI::App& app) -> std::function<void()> {
            auto a = std::make_shared<ConvertArguments>();
            app.add_option("MODEL", a->model,
                           "folder with weights of any architecture, or a model's name on the hub")
                ->required();
            declare(app, a->output);
            app.add_flag("--json", a->json, "print the result as JSON");
            return [a] { convert(*a); };
          }};
}

}  // namespace hone
