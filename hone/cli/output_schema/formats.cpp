#include "hone/cli/formats.h"
#include "hone/cli/output_schema/output_fields.h"
#include "hone/jobs/plan.h"

// Number formats, what they make of models and who takes which.
namespace hone {
namespace {

constexpr Field kOperand = {"operand", "input|weight|bias|output", "of the layer"};
constexpr Field kSnr = {"snr_db", "dB?",
                        "signal-to-noise ratio; null: nothing is lost, or all is zero"};
constexpr Field kClipped = {"clipped", "share?", "values beyond the range; null without values"};
constexpr Field kFlushed = {"flushed", "share?", "values that become zero; null without values"};
constexpr std::string_view kQuantized = "unless it is fp32";

}  // namespace

std::vector<SchemaDocument> documents_of_formats() {
  return {
      {"formats",
       "Number formats, explained.",
       {form_of<FormatsFields>("without arguments"), form_of<FormatFields>("FORMAT"),
        form_of<SpelledNumbersFields>("FORMAT NUMBER"),
        form_of<QuantizedTensorsFields>("FORMAT --input")}},
      {"compare-formats",
       "A model in several number formats.",
       {{"",
         {kResult,
          kSubject,
          {"formats", "format_choice[]", "the model as it is, then every choice"},
          {"chosen", "text?",
           "of those that keep the accuracy the one that needs the fewest bits; null: none does"},
          {"", "choice"},
          {"layers", "format_layer[]", "every layer in every choice"}}}}},
      {"suggest",
       "Better parameters of a number format, layer by layer.",
       {{"",
         {kResult,
          kSubject,
          {"suggestions", "suggestion[]", "every operand"},
          {"models", "measured_model[]",
           "the model as it is, with the format given, with the suggestions"},
          {"", "choice"},
          {"recipe", "text", "the suggestions as a recipe (TOML)"}}}}},
      document_of<PlanFields>(),
  };
}

std::vector<Fragment> fragments_of_formats() {
  return {
      {"diagnosis",
       "Where accuracy is lost.",
       {{"operands", "operand[]", "what every quantized operand loses alone, the noisiest first"},
        {"with_better_parameters", "tried_comparison?",
         "all better parameters together, by rounding alone, against the parent, where choices "
         "are made; null: none are better, or there is no such part"},
        {"with_noisiest_in_full_precision", "tried_comparison?",
         "the same of the plan that leaves the noisiest quarter of the operands in full precision; "
         "null: better parameters were tried, there is no such part, or nothing else is quantized"},
        {"recipe", "text?",
         "a recipe (TOML): the better parameters, or where there are none, the noisiest quarter of "
         "the operands in full precision; null: nothing else is quantized"},
        {"command", "text", "a command that quantizes with it",
         "where something else is quantized"}}},
      fragment_of<OperandResult>(),
      fragment_of<FormatVerdictsResult>(),
      fragment_of<LayersInFormat>(),
      fragment_of<OperandVerdictResult>(),
      fragment_of<FormatRow>(),
      fragment_of<FormatParameterRow>(),
      fragment_of<SpelledNumberRow>(),
      fragment_of<QuantizedTensorRow>(),
      {"format_choice",
       "A choice of formats for all linears of a model, tried.",
       {{"format", "text", "the choice: FORMAT, or WEIGHTS/INPUTS"},
        {"", "figures"},
        {"comparison", "comparison", "against the model as it is", kQuantized},
        {"packed_bytes", "bytes", "of all parameters, if they were packed", kQuantized},
        {"weight_snr_db", "dB?",
         "mean over the layers, each alone; null: no layer has it quantized, or nothing is lost",
         kQuantized},
        {"input_snr_db", "dB?", "the same of what the layers read", kQuantized},
        {"output_snr_db", "dB?", "the same of what the layers give", kQuantized}}},
      {"format_layer",
       "One layer in one choice of formats.",
       {kLayer,
        {"format", "text", "the choice"},
        {"weight_snr_db", "dB?", "of its weights; null: not quantized, or nothing is lost"},
        {"input_snr_db", "dB?", "of what it reads"},
        {"output_snr_db", "dB?", "of what it gives"}}},
      {"suggestion",
       "Better parameters for one operand of a layer.",
       {kLayer,
        kOperand,
        {"before", "text", "the format given"},
        {"before_snr_db", "dB?",
         "its signal-to-noise ratio; null: nothing is lost, or all is zero"},
        {"after", "text", "the format found"},
        {"after_snr_db", "dB?", "its signal-to-noise ratio"},
        kClipped,
        kFlushed,
        {"smallest_step", "number", "the smallest magnitude that is not zero; 0: there is none"},
        {"standard_deviation", "number?", "of the values"}}},
      fragment_of<PlannedOperand>(),
      {"spelled_element",
       "An element of MXINT by the rule of mase-cuda, of 4 bits too. Of bfloat16 the bits of sign, "
       "exponent and "
       "fraction are set apart.",
       {{"element", "integer", "its place in the array"},
        {"code", "text", "its bits, in two's complement"},
        {"mantissa", "integer", "the number they stand for, m"},
        {"scale", "integer", "of its group, from 0 to 255"},
        {"sign", "integer", "1: m is negative"},
        {"exponent", "text", "the bits of the scale"},
        {"fraction", "text", "what of |m| lies below the unit, as the fraction of a bfloat16"},
        {"unit", "integer", "the bit of |m| for the unit, |m| & 0x40 (of 4 bits 0x4)"},
        {"out", "text", "the bfloat16 with sign, exponent and fraction"},
        {"bias", "text", "the bfloat16 with sign and exponent alone"},
        {"branch", "out|out - bias", "without the unit the bias is subtracted"},
        {"bfloat16", "text", "the result"},
        {"value", "number", "the result: m times a power of two"}}},
  };
}

}  // namespace hone
