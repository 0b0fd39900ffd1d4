#include "hone/frontends/huggingface/module_builder.h"

#include "hone/base/random.h"
#include "hone/frontends/huggingface/activation.h"

namespace hone {
Value ModuleBuilder::parameter(const std::string& name, Shape shape, ParameterRole role) {
  return graph_.add_parameter(name, {DType::f32, std::move(shape)}, role, /*trainable=*/true);
}

Value ModuleBuilder::weight(const std::string& path, Shape shape) {
  return parameter(path + ".weight", std::move(shape), ParameterRole::weight);
}

Value ModuleBuilder::bias(const std::string& path, Dim size) {
  return parameter(path + ".bias", {size}, ParameterRole::bias);
}

Value ModuleBuilder::linear(Value x, const std::string& path, std::int64_t outputs) {
  const Value matrix = weight(path, {outputs, x.type().dim(-1)});
  return graph_.add("linear", {x, matrix, bias(path, outputs)}, {}, path);
}

Value ModuleBuilder::layer_norm(Value x, const std::string& path, double eps) {
  const Dim size = x.type().dim(-1);
  const Value gamma = parameter(path + ".weight", {size}, ParameterRole::gain);
  return graph_.add("layer_norm", {x, gamma, bias(path, size)}, {{"eps", eps}}, path);
}

Value ModuleBuilder::convolution(Value x, const std::string& path, std::int64_t outputs,
                                 std::int64_t kernel, std::int64_t stride, std::int64_t padding) {
  const Value filters = weight(path, {outputs, x.type().dim(1), kernel, kernel});
  return graph_.add("conv2d", {x, filters}, {{"stride", stride}, {"padding", padding}}, path);
}

Value ModuleBuilder::batch_norm(Value x, const std::string& path) {
  const Dim channels = x.type().dim(1);
  const Value gamma = parameter(path + ".weight", {channels}, ParameterRole::gain);
  const Value beta = bias(path, channels);
  const auto running = [&](const char* name) {
    return graph_.add_parameter(path + name, {DType::f32, {channels}}, ParameterRole::buffer,
                                /*trainable=*/false);
  };
  const Value mean = running(".running_mean");
  return graph_.add("batch_norm", {x, gamma, beta, mean, running(".running_var")}, {}, path);
}

Value ModuleBuilder::dropout(Value x, const std::string& path, double p, Shape limits) {
  if (p == 0) return x;
  if (!random_key_) random_key_ = graph_.add_input("random_key", {DType::i64, {}});
  const auto stream = static_cast<std::int64_t>(stream_of(path) >> 1);  // attributes are signed
  return graph_.add("dropout", {x, random_key_},
                    {{"p", p}, {"stream", stream}, {"limits", std::move(limits)}}, path);
}

Value ModuleBuilder::activation(Value x, const std::string& path, std::string_view name) {
  const Activation* function = find_activation(name);
  HONE_ASSERT(function != nullptr, "activation '{}'", name);
  return graph_.add(function->op, {x}, function->attributes, path);
}

Value ModuleBuilder::reshape(Value x, const std::string& path, Shape shape) {
  return graph_.add("reshape", {x}, {{"shape", std::move(shape)}}, path);
}

Value ModuleBuilder::transpose(Value x, const std::string& path, Shape axes) {
  return graph_.add("transpose", {x}, {{"axes", std::move(axes)}}, path);
}

}  // namespace hone
