#include "hone/runtime/native_formats.h"

#include <fmt/format.h>

#include "hone/base/error.h"
#include "hone/kernels/int8_product.h"
#include "hone/runtime/packed_weight.h"

namespace hone {
namespace {

// ---- formats

bool is_symmetric_int(const Format& format) {
  return format.def->name == "int" && format["bits"] <= 8 && format["group"] == 0 &&
         format.is("range", "symmetric") && format.is("mode", "fixed");
}

// With one scale for all values, known in advance.
bool is_calibrated_int(const Format& format) {
  return is_symmetric_int(format) && !format.is("scale", "dynamic") && format.is("per", "tensor");
}

bool has_blocks_along_rows(const Format& format, std::int64_t rank) {
  return format.is("mode", "fixed") && (format["axis"] == -1 || format["axis"] == rank - 1);
}

bool is_block_of_sums(std::int64_t block) {
  return block % 16 == 0 && block <= kernels::kMaxInt8Block;
}

// Two or three values around 0.
bool is_signs(const Format& format) {
  return (format.def->name == "binary" || format.def->name == "ternary") &&
         format.is("mode", "fixed");
}

bool is_binary(const Format& format) { return format.def->name == "binary" && is_signs(format); }

bool is_bfloat16(const Format& format) { return format.def->name == "bf16"; }

bool is_mxint_along_rows(const Format& format, std::int64_t rank) {
  return format.def->name == "mxint" && format["bits"] <= 8 &&
         has_blocks_along_rows(format, rank) && is_block_of_sums(format["block"]);
}

// Returns the columns of a block, for integers in blocks along rows with powers of two or float16 as scales; else 0.
std::int64_t integer_block(const Format& weight) {
  const std::string_view name = weight.def->name;
  std::int64_t block = 0;
  if (name == "int") block = weight["group"];
  if ((name == "mxint" && weight["bits"] <= 8) || (name == "mxfp" && weight.is("element", "e2m1")))
    block = has_blocks_along_rows(weight, 2) ? weight["block"] : 0;
  return is_block_of_sums(block) ? block : 0;
}

}  // namespace

bool is_int_of_rows(const Format& format) {
  return is_symmetric_int(format) && (!format.is("scale", "dynamic") || format.is("per", "token"));
}

// ---- nodes

namespace {

// Returns whether weights have a scale per row or one for all, and inputs are rounded to `int` with a scale per token
// or one for all.
bool fits_per_row(const CallSite& site) {
  const Format &weight = format_of(site.attributes), &input = input_format_of(site.attributes);
  return (is_symmetric_int(weight) || is_signs(weight)) && is_int_of_rows(input);
}

// Returns whether weights and inputs have blocks of one size.
bool fits_per_block(const CallSite& site) {
  const Format &weight = format_of(site.attributes), &input = input_format_of(site.attributes);
  return is_mxint_along_rows(input, site.inputs[0].rank()) &&
         integer_block(weight) == input["block"];
}

}  // namespace

std::string_view sums_of_codes(const CallSite& site) {
  if (site.inputs[0].dtype != DType::u8) return "inputs are not codes";
  if (weight_sizes(site.attributes)[1] > kernels::kMaxInt8Columns)
    return "more columns than an integer sum can hold";
  const Format* output = output_format_of(site.attributes);
  if (output != nullptr && !is_calibrated_int(*output))
    return "results are rounded directly to int with one scale known in advance";
  return fits_per_row(site) || fits_per_block(site)
             ? ""
             : "no product of integers for these formats of weight and input";
}

std::string_view are_binary(const CallSite& site) {
  if (site.inputs[0].dtype != DType::f32) return "inputs are codes";
  return is_binary(format_of(site.attributes)) && is_binary(input_format_of(site.attributes))
             ? ""
             : "weight and input are not both signs";
}

std::string_view are_bfloat16(const CallSite& site) {
  if (site.inputs[0].dtype != DType::f32) return "inputs are codes";
  return is_bfloat16(format_of(site.attributes)) && is_bfloat16(input_format_of(site.attributes))
             ? ""
             : "weight and input are not both bfloat16";
}

std::string_view has_fast_codes(const CallSite& site) {
  const Format& format = format_of(site.attributes);
  const std::int64_t rank = site.inputs[0].rank();
  const bool fits = is_int_of_rows(format) || is_mxint_along_rows(format, rank);
  return fits && site.inputs[0].dim(-1).size <= kernels::kMaxInt8Columns
             ? ""
             : "products do not read codes of the format as bytes of rows";
}

// ---- inputs for weights

std::string native_unsupported_reason(const Format& weight, InputScales scales) {
  const bool calibrated = scales == InputScales::calibrated;
  if (is_symmetric_int(weight) || is_signs(weight)) return "";
  if (!is_bfloat16(weight) && integer_block(weight) == 0)
    return fmt::format(
        "native computation does not support weights in {}; it supports int(bits=2 to 8), also in "
        "groups of 16 to 256, binary, ternary, bf16, mxint(bits=2 to 8) in blocks of 16 to 256, "
        "and mxfp(element=e2m1)",
        to_string(weight));
  if (!calibrated) return "";
  return fmt::format(
      "inputs of products with weights in {} {}; omit `static`, or use int weights "
      "without groups",
      to_string(weight),
      is_bfloat16(weight) ? "have no scales"
                          : "compute the scales of their blocks from their own values");
}

Format native_input(const Format& weight, const FormatTable& formats, InputScales scales) {
  const std::string objection = native_unsupported_reason(weight, scales);
  user_check(native_unsupported_reason(weight).empty(),
             "{}. Use one of these, or store the weights in few bits with inputs in fp32: "
             "`hone quantize --weight_format '{}'`, then `hone pack`",
             objection, to_string(weight));
  user_check(objection.empty(), "{}", objection);
  if (is_bfloat16(weight)) return weight;
  const bool calibrated = scales == InputScales::calibrated;
  if (is_symmetric_int(weight) || is_signs(weight))
    return parse_format(calibrated ? "int(bits=8,scale=static)" : "int(bits=8,per=token)", formats);
  return parse_format(fmt::format("mxint(bits=8,block={})", integer_block(weight)), formats);
}

}  // namespace hone
