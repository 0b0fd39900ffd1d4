#include "hone/runtime/packed_weight.h"

#include "hone/runtime/activation_name.h"

namespace hone {

const Format& format_of(const Attributes& attributes) { return attributes.get<Format>("format"); }

const Format& input_format_of(const Attributes& attributes) {
  return attributes.get<Format>("input_format");
}

Sizes weight_sizes(const Attributes& attributes) {
  return resolve(attributes.get<Shape>("shape"), {});
}

Arrangement arrangement_of(const Attributes& attributes) {
  return parse_arrangement(attributes.get<std::string>("arrangement"));
}

bool adds_residual(const Attributes& attributes) { return attributes.get<bool>("residual"); }

const Format* output_format_of(const Attributes& attributes) {
  return attributes.find("output_format") != nullptr ? &attributes.get<Format>("output_format")
                                                     : nullptr;
}

std::size_t output_states(const Attributes& attributes) {
  return adds_residual(attributes) ? kPackedResidual + 1 : kPackedResidual;
}

std::size_t linear_states(const Attributes& attributes) {
  const Format* output = output_format_of(attributes);
  return output_states(attributes) + (output != nullptr ? states_of(*output).size() : 0);
}

kernels::Epilogue epilogue_of(const Call& call) {
  return {.bias = call.input(kPackedBias).data<float>(),
          .activation = activation_called(call.attributes.get<std::string>("activation")),
          .residual =
              adds_residual(call.attributes) ? call.input(kPackedResidual).data<float>() : nullptr,
          .residual_stride = weight_sizes(call.attributes)[0]};
}

std::vector<Tensor> states_from(std::span<const Tensor* const> inputs, std::size_t first,
                                const Format& format) {
  std::vector<Tensor> state;
  for (std::size_t i = 0; i < states_of(format).size(); ++i) state.push_back(*inputs[first + i]);
  return state;
}

PackedWeight packed_weight(const Attributes& attributes, std::span<const Tensor* const> inputs,
                           std::size_t first_state, Arrangement arrangement) {
  const Format& format = format_of(attributes);
  const Sizes sizes = weight_sizes(attributes);
  PackedWeight weight{.format = format,
                      .sizes = sizes,
                      .state = states_from(inputs, first_state, format),
                      .layout = packed_layout(format, sizes, arrangement)};
  weight.units = units_of({format, sizes, {}, weight.state});
  return weight;
}

PackedWeight product_weight_of(const Attributes& attributes,
                               std::span<const Tensor* const> inputs) {
  return packed_weight(attributes, inputs, linear_states(attributes), arrangement_of(attributes));
}

std::vector<float> row_scales_of(const PackedWeight& weight, std::span<const Tensor* const> inputs,
                                 float unit) {
  std::vector<float> scales;
  with_rows(weight, inputs, kLinearCodes, [&](const PackedRows& rows) {
    for (std::int64_t row = 0; row < weight.layout.matrix.rows; ++row)
      scales.push_back(rows.scale(row, 0) * unit);
  });
  return scales;
}

std::string_view reads_rows(const CallSite& site) {
  return has_rows(format_of(site.attributes), weight_sizes(site.attributes))
             ? ""
             : "values of the format depend on those of other rows";
}

}  // namespace hone
