#include "hone/cli/formats.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "hone/cli/arguments.h"
#include "hone/cli/print_result.h"
#include "hone/cli/terminal_output.h"
#include "hone/formats/packing.h"
#include "hone/jobs/tensor_file.h"
#include "hone/report/field_table.h"
#include "hone/report/table.h"
#include "hone/runtime/native_formats.h"
#include "hone/study/format_grid.h"

namespace hone {
namespace {

struct FormatsArguments {
  std::string format;
  std::vector<std::string> numbers;
  std::string input, output, figure;
  std::string tensor = "*";
  bool overwrite = false;
  RunArguments run;
};

constexpr std::size_t kListedValues = 64;

// hone formats
void list_formats(const Context& context, const RunArguments& run) {
  FormatsFields fields;
  for (const auto& [name, def] : context.library.formats) {
    const Format format = parse_format(name, context.library.formats);
    FormatRow row{.format = to_string(format),
                  .average_bits = average_bits(format, {768, 768}),
                  .summary = std::string(def.summary)};
    for (const FormatStateDef& state : states_of(format)) row.state.emplace_back(state.name);
    fields.formats.push_back(std::move(row));
  }
  if (run.json) return print_result("formats", to_json(fields));
  print_text(run,
             "{}\nBits: per weight of a 768 x 768 matrix, shared exponents and scales included.\n"
             "`hone formats NAME` shows parameters and values, `hone formats NAME NUMBER` a number "
             "spelled out.\n",
             to_text(headed_table(fields.formats), text_style(run)));
}

std::string range_text(const FormatParameterDef& p) {
  if (!p.words.empty()) return fmt::format("{}", fmt::join(p.words, " | "));
  const std::string numbers = fmt::format("{} … {}", p.minimum, p.maximum);
  return p.default_value == kAuto ? numbers + " | auto" : numbers;
}

std::string default_text(const FormatParameterDef& p) {
  if (!p.words.empty()) return std::string(p.words[static_cast<std::size_t>(p.default_value)]);
  return p.default_value == kAuto ? "auto" : std::to_string(p.default_value);
}

Table parameter_table(const Format& format) {
  Table table({{"parameter", "Parameter"},
               {"default", "Default"},
               {"values", "Values"},
               {"summary", "What it is"}});
  for (const FormatParameterDef& p : format.def->parameters)
    table.add_row({p.name, default_text(p), range_text(p), p.summary});
  return table;
}

std::vector<FormatParameterRow> parameter_rows(const Format& format) {
  std::vector<FormatParameterRow> rows;
  for (const FormatParameterDef& p : format.def->parameters) {
    const bool numeric = p.words.empty();
    const bool given = numeric && p.default_value != kAuto;
    FormatParameterRow& row = rows.emplace_back(
        FormatParameterRow{.parameter = std::string(p.name),
                           .default_value = given ? Json(p.default_value) : Json(default_text(p)),
                           .words = {p.words.begin(), p.words.end()},
                           .summary = std::string(p.summary)});
    if (!numeric) continue;
    row.minimum = p.minimum;
    row.maximum = p.maximum;
  }
  return rows;
}

// Lists ascending values: all of them, or both ends and the middle of a long list.
std::string list_values(const std::vector<float>& values) {
  if (values.size() <= kListedValues) return fmt::format("{}", fmt::join(values, " "));
  const auto part = [&](std::size_t first, std::size_t count) {
    return fmt::format("{}", fmt::join(std::span(values).subspan(first, count), " "));
  };
  const auto middle =
      static_cast<std::size_t>(std::ranges::lower_bound(values, 0.0f) - values.begin());
  const std::size_t from = middle < 4 ? 0 : std::min(middle - 4, values.size() - 9);
  return fmt::format("{} … {} … {}", part(0, 3), part(from, 9), part(values.size() - 3, 3));
}

// Returns why a weight of typical size cannot be packed; "" if it can.
std::string packing_objection(const Format& format) {
  return packing_objection(format, {768, 768});
}

// Returns the format of inputs whose codes are multiplied with the codes of these weights; none if there is no such
// format.
std::optional<std::string> native_input_text(const Format& format, const Context& context) {
  if (!native_unsupported_reason(format).empty()) return std::nullopt;
  return to_string(native_input(format, context.library.formats));
}

std::string native_text(const Format& format, const Context& context) {
  const std::optional<std::string> input = native_input_text(format, context);
  return input ? fmt::format("linear layers multiply codes of weights with inputs in {}", *input)
               : "not supported: weights are simulated, or packed with sums in fp32";
}

// hone formats FORMAT
void show_format(const Format& format, const Context& context, const RunArguments& run) {
  const FormatGrid grid = format_grid(format);
  const std::vector<std::string> kernels = quantizer_kernels(context.library);
  const bool straight = gradient_rule_of(format) == GradientRule::straight_through;
  if (run.json)
    return print_result("formats",
                        to_json(FormatFields{.format = to_string(format),
                                             .summary = std::string(format.def->summary),
                                             .source = std::string(format.def->source),
                                             .parameters = parameter_rows(format),
                                             .average_bits = grid.average_bits,
                                             .values = grid.values,
                                             .unwritten_values = grid.unwritten,
                                             .passes_tiny_values = grid.passes_tiny,
                                             .lowest = grid.lowest,
                                             .highest = grid.highest,
                                             .smallest_step = grid.smallest_step,
                                             .gradient = straight ? "straight through" : "own",
                                             .kernels = kernels,
                                             .packed = packing_objection(format).empty(),
                                             .native_input = native_input_text(format, context),
                                             .exporters = {"huggingface"}}));
  const std::string objection = packing_objection(format);
  print_text(run, "{}: {}\n", to_string(format), format.def->summary);
  if (!format.def->source.empty()) print_text(run, "source: {}\n", format.def->source);
  if (!format.def->parameters.empty())
    print_text(run, "\n{}", to_text(parameter_table(format), text_style(run)));
  print_text(
      run, "\nValues after rounding{}:\nvalues         {}\nrange          {} to {}\n",
      grid.scaled ? ", with the scale of a block, row or tensor whose largest magnitude is 1" : "",
      grid.values.empty() ? "more than 65,536" : list_values(grid.values), grid.lowest,
      grid.highest);
  if (!grid.values.empty())
    print_text(run, "smallest step  {}\ncount          {}\n", grid.smallest_step,
               grid.values.size());
  if (grid.passes_tiny) print_text(run, "unchanged      magnitudes up to 1e-08\n");
  if (!grid.unwritten.empty())
    print_text(run, "never written  {}, although they have codes\n", list_values(grid.unwritten));
  print_text(run,
             "bits           {:.4g} per weight of a 768 x 768 matrix\n"
             "gradient       {}\nkernels        {}\npacked         {}\nnative         {}\n"
             "exporters      Hugging Face folder (weights as rounded values)\n",
             grid.average_bits, straight ? "straight through" : "the format's own rule",
             fmt::join(kernels, ", "),
             objection.empty() ? "yes: `hone pack` stores weights in its codes"
                               : fmt::format("no: {}", objection),
             native_text(format, context));
}

float parse_number(const std::string& text) {
  char* end = nullptr;
  const float value = std::strtof(text.c_str(), &end);
  // strtof also returns infinity for a number that is too large.
  const bool too_large = std::isinf(value) && text.find_first_of("0123456789") != std::string::npos;
  user_check(!text.empty() && *end == '\0' && !too_large, "'{}' is no number a float can hold",
             text);
  return value;
}

std::string number_text(float value) {
  return std::isnan(value) ? "nan" : fmt::format("{}", value);  // of either sign, without the sign
}

// JSON has no infinity and no NaN.
Json json_number(float value) {
  return std::isfinite(value) ? Json(value) : Json(number_text(value));
}

// Returns the difference of the value from the number; none for a NaN.
std::optional<double> error_of(const QuantizedNumber& s) {
  if (s.quantized == s.value) return 0;
  const double error = static_cast<double>(s.quantized) - s.value;
  return std::isnan(error) ? std::nullopt : std::optional(error);
}

QuantizedNumbersFields quantized_fields(const QuantizedNumbers& quantized, const Format& format) {
  QuantizedNumbersFields fields{
      .format = to_string(format), .sharing = quantized.sharing, .calibrated = quantized.state};
  for (const QuantizedNumber& s : quantized.numbers) {
    QuantizedNumberRow& row =
        fields.numbers.emplace_back(QuantizedNumberRow{.number = json_number(s.value),
                                                       .becomes = json_number(s.quantized),
                                                       .saturates = s.saturates,
                                                       .error = error_of(s),
                                                       .code = s.code,
                                                       .parts = s.parts});
    if (!s.shared.empty()) row.shared = s.shared;
  }
  return fields;
}

// hone formats FORMAT NUMBER...
void print_quantized_numbers(const Format& format, const std::vector<std::string>& given,
                             const RunArguments& run) {
  std::vector<float> values;
  for (const std::string& text : given) values.push_back(parse_number(text));
  const QuantizedNumbers quantized = quantize_numbers(format, values);
  if (run.json) return print_result("formats", to_json(quantized_fields(quantized, format)));
  Table table({{"number", "Number"},
               {"becomes", "Becomes"},
               {"error", "Error"},
               {"code", "Code"},
               {"shared", "Shared"},
               {"parts", "Parts"}});
  for (std::size_t i = 0; i < given.size(); ++i) {
    const QuantizedNumber& s = quantized.numbers[i];
    const std::optional<double> error = error_of(s);
    table.add_row({given[i],
                   fmt::format("{}{}", number_text(s.quantized), s.saturates ? " (saturates)" : ""),
                   error ? Cell(fmt::format("{:.3g}", *error)) : Cell(absent), s.code,
                   s.shared.empty() ? Cell(absent) : Cell(s.shared),
                   fmt::format("{}", fmt::join(s.parts, ", "))});
  }
  print_text(run, "{}, {}:\n", to_string(format), quantized.sharing);
  for (const auto& [name, state] : quantized.state)
    print_text(run, "calibrated on them: {} {:.6g}\n", name, fmt::join(state, " "));
  print_text(run, "\n{}", to_text(table, text_style(run)));
}

// hone formats FORMAT --input FILE [--output FILE] [--figure STEM]
void quantize_tensors(const FormatsArguments& a, const Format& format, Context& context) {
  if (!a.output.empty()) check_output_file(a.output, a.overwrite);
  for (const char* extension : {".svg", ".png", ".tsv", ".gp"})
    if (!a.figure.empty()) check_output_file(a.figure + extension, a.overwrite);
  const std::vector<QuantizedTensor> tensors =
      quantize_file(a.input, a.output, a.tensor, format, context);
  if (!a.figure.empty()) draw_histogram(a.input, tensors[0].name, format, a.figure, context);
  QuantizedTensorsFields fields{.format = to_string(format)};
  Table table({{"tensor", "Tensor"},
               {"shape", "Shape"},
               {"average_bits", "Bits per weight"},
               {"snr_db", "SNR (dB)"},
               {"clipped", "Clipped"},
               {"flushed", "To zero"}});
  for (const QuantizedTensor& t : tensors) {
    const QuantizedTensorRow row{.tensor = t.name,
                                 .shape = {t.sizes.begin(), t.sizes.end()},
                                 .average_bits = t.average_bits,
                                 .snr_db = t.noise.snr_db(),
                                 .clipped = t.noise.clipped_share(),
                                 .flushed = t.noise.flushed_share()};
    table.add_row({row.tensor, t.sizes, bits(row.average_bits), real(row.snr_db, 1),
                   percent(row.clipped, 2), percent(row.flushed, 2)});
    fields.tensors.push_back(row);
  }
  if (a.run.json) return print_result("formats", to_json(fields));
  print_text(a.run, to_text(table, text_style(a.run)));
}

// Rejects flags that would have no effect.
void check_use(const FormatsArguments& a) {
  const auto refuse = [&](bool given, const char* flag) {
    if (given && a.input.empty())
      throw UsageError(fmt::format("hone formats: {} does nothing without --input", flag));
  };
  refuse(!a.figure.empty(), "--figure");
  refuse(a.tensor != "*", "--tensor");
  refuse(!a.output.empty(), "--output");
  if (!a.numbers.empty() && !a.input.empty())
    throw UsageError("hone formats: numbers are quantized on their own, without a file");
}

void formats(FormatsArguments& a) {
  check_use(a);
  Context context = make_context(a.run);
  if (a.format.empty()) {
    if (!a.input.empty()) throw UsageError("hone formats: give a FORMAT");
    return list_formats(context, a.run);
  }
  const Format format =
      value_of_flag("FORMAT", [&] { return parse_format(a.format, context.library.formats); });
  if (!a.input.empty()) return quantize_tensors(a, format, context);
  if (!a.numbers.empty()) return print_quantized_numbers(format, a.numbers, a.run);
  show_format(format, context, a.run);
}

}  // namespace

const Fields& fields_of(const FormatRow*) {
  using F = FormatRow;
  static const Fields fields = describe<F>(
      "format_row", "A number format.",
      field<&F::format>("format", "The format with its default parameters.", "Format"),
      field<&F::average_bits>("average_bits", Unit::bits,
                              "Per weight of a 768 x 768 matrix, shared scales included.",
                              "Bits per weight"),
      field<&F::state>("state",
                       "Tensors stored with the weights: calibrated ranges, learned "
                       "scales.",
                       "State"),
      field<&F::summary>("summary", "What it is.", "What it is"));
  return fields;
}

const Fields& fields_of(const FormatsFields*) {
  static const Fields fields =
      describe<FormatsFields>("formats", "Number formats, explained.",
                              field<&FormatsFields::formats>("formats", "All formats."));
  return fields;
}

const Fields& fields_of(const FormatParameterRow*) {
  using P = FormatParameterRow;
  static const Fields fields = describe<P>(
      "format_parameter", "A parameter of a number format.",
      field<&P::parameter>("parameter", "Its name."),
      field<&P::default_value>("default", "An integer, or a name: one of `words`, or \"auto\"."),
      field<&P::minimum>("minimum", "Smallest value; null: its values are names."),
      field<&P::maximum>("maximum", "Largest value; null: its values are names."),
      field<&P::words>("words", "Its possible names; empty: values are integers."),
      field<&P::summary>("summary", "What it is."));
  return fields;
}

const Fields& fields_of(const FormatFields*) {
  using F = FormatFields;
  static const Fields fields = describe<F>(
      "formats", "One format.", field<&F::format>("format", "The format with its parameters."),
      field<&F::summary>("summary", "What it is."),
      field<&F::source>("source", "The publication or library that defines it."),
      field<&F::parameters>("parameters", "Its parameters."),
      field<&F::average_bits>("average_bits", Unit::bits,
                              "Per weight of a 768 x 768 matrix, shared scales included."),
      field<&F::values>("values",
                        "All values, for a block, row or tensor whose largest magnitude is 1; "
                        "empty: more than 65,536."),
      field<&F::unwritten_values>("unwritten_values",
                                  "Values that have a code but that rounding never returns."),
      field<&F::passes_tiny_values>("passes_tiny_values",
                                    "Whether magnitudes up to 1e-8 stay unchanged, as in MASE."),
      field<&F::lowest>("lowest", "The lowest value."),
      field<&F::highest>("highest", "The highest value."),
      field<&F::smallest_step>("smallest_step", "Between neighbours; 0: unknown."),
      field<&F::gradient>("gradient",
                          "Its gradient in training: straight through, or its own rule."),
      field<&F::kernels>("kernels", "Kernels that compute it, the fastest first."),
      field<&F::packed>("packed", "`hone pack` stores weights in its codes."),
      field<&F::native_input>("native_input",
                              "Format of inputs with which linear layers multiply codes; null: "
                              "none."),
      field<&F::exporters>("exporters", "File formats of models with it."));
  return fields;
}

const Fields& fields_of(const QuantizedNumberRow*) {
  using S = QuantizedNumberRow;
  static const Fields fields = describe<S>(
      "spelled_number", "A number in a format, with its code.",
      field<&S::number>("number",
                        "As given, as a float stores it; \"inf\", \"-inf\" or \"nan\" as text."),
      field<&S::becomes>("becomes", "Its value in the format, likewise."),
      field<&S::saturates>("saturates",
                           "Whether the number is outside the range and becomes its end."),
      field<&S::error>("error", "The value minus the number; null: infinite, or of a NaN."),
      field<&S::code>("code", "Its bits, with spaces between the fields."),
      field<&S::shared>("shared",
                        "Bits of the exponent or scale it shares with others; null: none."),
      field<&S::parts>("parts", "Meanings of the fields of the code."));
  return fields;
}

const Fields& fields_of(const QuantizedNumbersFields*) {
  using S = QuantizedNumbersFields;
  static const Fields fields = describe<S>(
      "formats", "Numbers in a format, with their codes.",
      field<&S::format>("format", "The format with its parameters."),
      field<&S::sharing>("sharing", "Whether they share a block or a scale."),
      field<&S::calibrated>("calibrated", "Values that were calibrated on them, by name."),
      field<&S::numbers>("numbers", "The numbers in their order."));
  return fields;
}

const Fields& fields_of(const QuantizedTensorRow*) {
  using Q = QuantizedTensorRow;
  static const Fields fields = describe<Q>(
      "quantized_tensor", "A tensor in a format.", field<&Q::tensor>("tensor", "Its name."),
      field<&Q::shape>("shape", "Its sizes."),
      field<&Q::average_bits>("average_bits", Unit::bits, "Per value, shared scales included."),
      field<&Q::snr_db>("snr_db", Unit::decibels,
                        "Signal-to-noise ratio; null: no error, or all values are zero.")
          .or_null(),
      field<&Q::clipped>("clipped", Unit::share, "Values beyond the range; null: no values.")
          .or_null(),
      field<&Q::flushed>("flushed", Unit::share, "Values that become zero; null: no values.")
          .or_null());
  return fields;
}

const Fields& fields_of(const QuantizedTensorsFields*) {
  using Q = QuantizedTensorsFields;
  static const Fields fields =
      describe<Q>("formats", "The tensors of a file in a format.",
                  field<&Q::format>("format", "The format with its parameters."),
                  field<&Q::tensors>("tensors", "The tensors of the file."));
  return fields;
}

namespace {

Options options_of(const FormatsArguments*) {
  using A = FormatsArguments;
  return {
      argument<&A::format>("FORMAT", "format to explain, such as 'mxint(bits=8)'")
          .takes(kFormatValue),
      argument<&A::numbers>("NUMBER", "numbers to encode in it"),
      option<&A::input>("input", "safetensors file to quantize").takes(kReadFileValue),
      option<&A::tensor>("tensor", "tensors of --input, as a glob").shown("GLOB"),
      option<&A::output>("output,o", "safetensors file for the quantized tensors")
          .takes(kWrittenFileValue)
          .under(Heading::output),
      figure_option<&A::figure>("draw a histogram of the first tensor with the format's values"),
      overwrite_option<&A::overwrite>("replace the files of --output and --figure"),
      group<&A::run>(host_options())};
}

}  // namespace

Command formats_command() {
  return {.name = "formats",
          .summary = "Explain number formats; quantize tensor files",
          .example = "hone formats 'mxint(bits=8)' 0.3",
          .run = runs<FormatsArguments, formats>(),
          .stage = {.allowed = false}};
}

}  // namespace hone
